package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strings"
	texttemplate "text/template"

	textlanguage "golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/botix-pro/platform/app/models"
)

// The guides and what they show: code that tests run, and pictures.
var (
	//go:embed guides
	guideFiles embed.FS
	//go:embed samples
	sampleFiles embed.FS
)

// units are numbers and what they count, which stay on one line.
var units = regexp.MustCompile(`([0-9]) (min|h|s|KiB|мин|ч|с|КиБ|%)([^\pL]|$)`)

// guideSlugs lists the pages that exist in every language, in their order.
func guideSlugs() []string {
	return []string{"", "quickstart", "idempotency", "retries", "rate-limits", "webhooks"}
}

// guide renders one guide.
func guide(base string, lang language, slug string) (page, error) {
	name := slug
	if slug == "" {
		name = "home"
	}
	source, err := guideFiles.ReadFile("guides/" + string(lang) + "/" + name + ".md")
	if err != nil {
		return page{}, fmt.Errorf("read: %w", err)
	}
	filled, err := fill(base, lang, units.ReplaceAllString(string(source), "$1\u00a0$2$3"))
	if err != nil {
		return page{}, err
	}
	title, rest, _ := strings.Cut(filled, "\n")
	summary, text, _ := strings.Cut(rest, "\n")
	body, toc, err := newMarkdown(lang, true).render([]byte(text))
	if err != nil {
		return page{}, err
	}
	return page{Slug: slug, Title: title, Summary: summary, Body: body, Toc: toc}, nil
}

// fill carries out the functions that a guide calls.
func fill(base string, lang language, source string) (string, error) {
	parsed, err := texttemplate.New("guide").Funcs(guideFunctions(base, lang)).Parse(source)
	if err != nil {
		return "", fmt.Errorf("parse: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("fill in: %w", err)
	}
	return out.String(), nil
}

// guideFunctions are what a guide may call for what it must not copy.
func guideFunctions(base string, lang language) texttemplate.FuncMap {
	words := lang.words()
	return texttemplate.FuncMap{
		"base":   func() string { return base },
		"sample": sample,
		"error":  errorLinks,
		"status": func(code string) (int, error) { e, err := entry(code); return e.Status, err },
		"happened": func(code string) (string, error) {
			e, err := entry(code)
			return words.Happened[string(e.Outcome)], err
		},
		"again":   func(code string) (string, error) { e, err := entry(code); return yesNo(words, e.Retryable), err },
		"plans":   func() string { return plans(lang) },
		"card":    func() (string, error) { return cardHTML(lang) },
		"picture": func() (string, error) { return statePictureSVG(words.State) },
	}
}

// sample is a file of samples/ as a block of code. Go's are kept under another
// name, so that the build leaves them alone.
func sample(name string) (string, error) {
	kept := name
	if path.Ext(name) == ".go" {
		kept += ".txt"
	}
	body, err := sampleFiles.ReadFile("samples/" + kept)
	if err != nil {
		return "", fmt.Errorf("read the sample: %w", err)
	}
	return "```" + strings.TrimPrefix(path.Ext(name), ".") + " " + name + "\n" + string(body) + "```", nil
}

// entry is the catalogue's about a code.
func entry(code string) (models.CatalogueEntry, error) {
	for _, e := range models.Catalogue() {
		if e.Code == models.Code(code) {
			return e, nil
		}
	}
	return models.CatalogueEntry{}, fmt.Errorf("the catalogue has no %q", code)
}

// errorLinks lead to what the page of error codes says about codes.
func errorLinks(codes ...string) (string, error) {
	links := make([]string, 0, len(codes))
	for _, code := range codes {
		e, err := entry(code)
		if err != nil {
			return "", err
		}
		links = append(links, fmt.Sprintf("[`%s`](%s/error-codes#%s)", e.Code, pathRoot, e.Code))
	}
	return strings.Join(links, ", "), nil
}

func yesNo(words *words, yes bool) string {
	if yes {
		return words.Yes
	}
	return words.No
}

// plans is the rows of the table of plans. A test holds them against those that
// the migrations plant.
func plans(lang language) string {
	var rows strings.Builder
	printer := message.NewPrinter(textlanguage.Make(string(lang)))
	for _, p := range Plans() {
		_, _ = printer.Fprintf(&rows, "| %s | %d | %d | %d |\n", p.Name, p.Limits.APIRatePerMinute, p.Limits.IdempotencyTTLHours,
			p.Limits.DeadLetterRetentionDays)
	}
	return strings.TrimSuffix(rows.String(), "\n")
}

// Plans returns the plans that an installation begins with, the smallest first.
func Plans() []models.Plan {
	return []models.Plan{
		{ID: "trial", Name: "Trial", Limits: models.PlanLimits{APIRatePerMinute: 30, IdempotencyTTLHours: 24, DeadLetterRetentionDays: 14}},
		{ID: "start", Name: "Start", Limits: models.PlanLimits{APIRatePerMinute: 60, IdempotencyTTLHours: 24, DeadLetterRetentionDays: 14}},
		{ID: "business", Name: "Business", Limits: models.PlanLimits{APIRatePerMinute: 2000, IdempotencyTTLHours: 24, DeadLetterRetentionDays: 14}},
		{
			ID: "enterprise", Name: "Enterprise",
			Limits: models.PlanLimits{APIRatePerMinute: 10000, IdempotencyTTLHours: 72, DeadLetterRetentionDays: 90, Archive: true},
		},
	}
}

// statePictureSVG is the life of a key with its labels.
func statePictureSVG(labels statePicture) (string, error) {
	parsed, err := template.ParseFS(guideFiles, "guides/state.svg")
	if err != nil {
		return "", fmt.Errorf("parse the picture: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, labels); err != nil {
		return "", fmt.Errorf("draw the picture: %w", err)
	}
	return out.String(), nil
}

// errorCodes is the page that every problem's type URL leads to.
func errorCodes(_ string, lang language) ([]page, error) {
	groups := byStatus(models.Catalogue())
	body, err := execute("error_codes.html", lang, groups)
	toc := make([]heading, 0, len(groups))
	for _, g := range groups {
		toc = append(toc, heading{ID: g.ID(), Text: fmt.Sprintf("%d %s", g.Status, g.Text)})
	}
	return []page{{
		Slug: "error-codes", Title: "Error codes", Foreign: true, Body: body, Toc: toc,
		Summary: "Every error code of the API: when it happens, whether anything was applied, and what to do.",
	}}, err
}

// statusGroup is the codes of one HTTP status.
type statusGroup struct {
	Status  int
	Text    string
	Entries []models.CatalogueEntry
}

// ID is the place of the group on its page.
func (g statusGroup) ID() string { return fmt.Sprintf("status-%d", g.Status) }

// byStatus groups entries that are ordered by status.
func byStatus(entries []models.CatalogueEntry) []statusGroup {
	var groups []statusGroup
	for _, entry := range entries {
		if len(groups) == 0 || groups[len(groups)-1].Status != entry.Status {
			groups = append(groups, statusGroup{Status: entry.Status, Text: http.StatusText(entry.Status)})
		}
		last := &groups[len(groups)-1]
		last.Entries = append(last.Entries, entry)
	}
	return groups
}

// outcome says in words whether anything was applied.
func outcome(o models.Outcome) string {
	switch o {
	case models.Applied:
		return "Yes, as the problem document says."
	case models.OutcomeUnknown:
		return "Not known yet."
	default:
		return "No, unless the problem document says otherwise."
	}
}
