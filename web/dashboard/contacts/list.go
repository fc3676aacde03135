package contacts

import (
	"fmt"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// list is the page of contacts, newest first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	w := wordsIn(v)
	at := parts.At(v, []parts.Filter{
		{Name: "email", Label: w.Email, Kind: "search"}, {Name: "phone", Label: w.Phone, Kind: "search"},
		{Name: "external_id", Label: w.ExternalID, Kind: "search"}, {Name: "tag", Label: w.Tag, Kind: "search"},
		{Name: "updated_since", Label: w.UpdatedSince, Kind: "datetime-local"},
	}, func(id string) bool { return models.ValidID(models.PrefixContact, id) })
	filter := store.ContactFilter{
		Email: at.Value("email"), Phone: at.Value("phone"), ExternalID: at.Value("external_id"), Tag: at.Value("tag"),
		UpdatedSince: at.Since("updated_since"),
	}
	view := ui.ListView{Shell: v.Shell(w.Title, ui.NavContacts), Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}}
	view.Head = ui.Head{Title: w.Title, Lead: w.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.EmptyTitle, Text: w.EmptyText, Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}}
	var rows []models.Contact
	var more bool
	if !at.Faulty() {
		found, err := s.queries.Contacts(v.Context(), v.Member.Project.ID, filter, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
		if err != nil {
			return ui.Reply{}, fmt.Errorf("list the contacts: %w", err)
		}
		rows, more = parts.Cut(found)
	}
	view.Table = table(v, rows)
	at.Fill(&view, more, lastID(rows))
	return s.views.Page("list", view)
}

func lastID(rows []models.Contact) string {
	if len(rows) == 0 {
		return ""
	}
	return rows[len(rows)-1].ID
}

func table(v *ui.Visit, rows []models.Contact) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := ui.Table{Caption: w.Title, Columns: ui.Columns(shared.Contact, w.Name, w.Email, w.Phone, w.ExternalID, w.Tags, shared.Updated)}
	for _, c := range rows {
		list.Rows = append(list.Rows, []ui.Cell{
			ui.IDCell(parts.PathContacts, c.ID), parts.Optional(c.Name), parts.Optional(c.Email), parts.Optional(c.Phone),
			parts.Optional(c.ExternalID), {Text: parts.Excerpt(strings.Join(c.Tags, ", "))}, parts.Moment(v.Locale.Time(c.UpdatedAt)),
		})
	}
	return list
}
