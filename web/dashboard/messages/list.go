package messages

import (
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// list is the page of messages, newest first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	w, shared := wordsIn(v), parts.WordsOf(v)
	at := parts.At(v, []parts.Filter{
		{Name: "status", Label: shared.Status, Kind: ui.FieldSelect, Options: ui.Choices(models.MessageStatuses(), shared.MessageStates, "")},
		{Name: "channel", Label: shared.Channel, Kind: ui.FieldSelect, Options: ui.Choices(models.Channels(), shared.Channels, "")},
		{Name: "contact", Label: shared.Contact, Kind: "search"},
		{Name: "since", Label: w.Since, Kind: "datetime-local"},
	}, func(id string) bool { return models.ValidID(models.PrefixMessage, id) })
	filter := store.MessageFilter{
		Span: store.Span{Since: at.Since("since")}, Status: at.Chosen("status"), Channel: at.Chosen("channel"), ContactID: at.Value("contact"),
	}
	view := ui.ListView{Shell: v.Shell(w.Title, ui.NavMessages), Tabs: tabs(v, false), Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}}
	view.Head = ui.Head{Title: w.Title, Lead: w.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.EmptyTitle, Text: w.EmptyText, Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}}
	var rows []models.Message
	var more bool
	if !at.Faulty() {
		found, err := s.queries.Messages(v.Context(), v.Member.Project.ID, filter, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
		if err != nil {
			return ui.Reply{}, fmt.Errorf("list the messages: %w", err)
		}
		rows, more = parts.Cut(found)
	}
	view.Table = parts.Messages(v, rows)
	last := ""
	if more {
		last = rows[len(rows)-1].ID
	}
	at.Fill(&view, more, last)
	return s.views.Page("list", view)
}
