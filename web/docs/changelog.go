package docs

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/botix-pro/platform/app/models"
)

// pathFeed is the changelog for feed readers (RFC 4287).
const pathFeed = pathRoot + "/changelog.atom"

func changelog(_ string, lang language) ([]page, error) {
	versions := models.Changelog()
	body, err := execute("changelog.html", lang, versions)
	toc := make([]heading, 0, len(versions))
	for _, v := range versions {
		toc = append(toc, heading{ID: v.Version, Text: v.Version})
	}
	return []page{{
		Slug: "changelog", Title: "Changelog", Foreign: true, Body: body, Toc: toc,
		Summary: "Every version of the BOTIX API and what it added, changed, deprecated or removed.",
	}}, err
}

// atom is a feed.
type atom struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Title      string         `xml:"title"`
	ID         string         `xml:"id"`
	Updated    string         `xml:"updated"`
	Link       atomLink       `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomContent    `xml:"content"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomContent struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// atomFeed is the changelog as a feed: an entry a version.
func atomFeed(base string, versions []models.APIVersion) ([]byte, error) {
	feed := atom{
		Title: "BOTIX API changelog", ID: base + pathRoot + "/changelog", Author: "BOTIX Pro",
		Links: []atomLink{{Rel: "self", Href: base + pathFeed}, {Href: base + pathRoot + "/changelog"}},
	}
	for _, v := range versions {
		link := base + pathRoot + "/changelog#" + v.Version
		entry := atomEntry{Title: v.Version, ID: link, Updated: v.Version + "T00:00:00Z", Link: atomLink{Href: link}}
		var lines []string
		for _, change := range v.Changes {
			lines = append(lines, string(change.Kind)+": "+change.Text)
			entry.Categories = append(entry.Categories, atomCategory{Term: string(change.Kind)})
		}
		entry.Content = atomContent{Type: "text", Text: strings.Join(lines, "\n")}
		feed.Entries = append(feed.Entries, entry)
	}
	feed.Updated = feed.Entries[0].Updated
	body, err := xml.MarshalIndent(feed, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the feed: %w", err)
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}
