package parts

import (
	"net/url"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// The paths below [ui.Root] of what has a page of its own.
const (
	PathContacts  = "/contacts/"
	PathMessages  = "/messages/"
	PathScenarios = "/scenarios/"
	PathRuns      = "/runs/"
	PathJobs      = "/jobs/"
	PathRequests  = "/requests/"
	PathEndpoints = "/deliveries?endpoint=" // what was sent to an endpoint
)

// PageOf is the address of the page about an id, empty where it is of nothing that
// has one.
func PageOf(id string) string {
	for prefix, path := range map[string]string{
		models.PrefixAttempt: "/attempts/", models.PrefixDelivery: "/deliveries/", models.PrefixEvent: "/deliveries?id=",
		models.PrefixRequest: PathRequests, models.PrefixEndpoint: "/endpoints/", models.PrefixContact: PathContacts,
		models.PrefixMessage: PathMessages, models.PrefixScenario: PathScenarios, models.PrefixRun: PathRuns, models.PrefixJob: PathJobs,
		models.PrefixCaptured: "/inspector/requests/",
	} {
		if models.ValidID(prefix, id) {
			return ui.Root + path + id
		}
	}
	return ""
}

// OperationAddress is the page about an Idempotency-Key. The key stands in the
// query: as a part of the path, browsers take ".." for the way up.
func OperationAddress(key string) string {
	return ui.Root + "/operations?" + url.Values{"key": {key}}.Encode()
}

// How much of a list stands on one page, and on another thing's page.
const (
	RowsPerPage = 50
	RowsBeside  = 10
)

// maxExcerpt is how much of a text stands in a table, in characters.
const maxExcerpt = 80

// Excerpt is the beginning of a text from outside, on one line.
func Excerpt(text string) string {
	return ui.Shorten(ui.Visible(strings.Join(strings.Fields(text), " ")), maxExcerpt)
}

// Optional is a text from outside that may be missing, as a cell.
func Optional(text *string) ui.Cell {
	if text == nil {
		return ui.Cell{}
	}
	return ui.Cell{Text: Excerpt(*text)}
}

// Moment is a time as a cell.
func Moment(at ui.Instant) ui.Cell { return ui.Cell{At: &at} }

// Messages are messages as rows.
func Messages(v *ui.Visit, list []models.Message) ui.Table {
	w := WordsOf(v)
	table := ui.Table{Caption: w.Messages, None: w.NoMessages, Columns: ui.Columns(w.Message, w.Status, w.Channel, w.Text, w.Contact, w.Created)}
	for _, m := range list {
		state := ui.Cell{Pill: MessageState(v, m.Status)}
		if m.ErrorCode != nil {
			state.Note = ui.Visible(*m.ErrorCode)
		}
		table.Rows = append(table.Rows, []ui.Cell{
			ui.IDCell(PathMessages, m.ID), state, {Text: ui.Word(w.Channels, m.Channel)}, {Text: Excerpt(m.Text)},
			ui.IDCell(PathContacts, m.ContactID), Moment(v.Locale.Time(m.CreatedAt)),
		})
	}
	return table
}

// Runs are runs of scenarios as rows.
func Runs(v *ui.Visit, list []models.ScenarioRun) ui.Table {
	w := WordsOf(v)
	table := ui.Table{Caption: w.Runs, None: w.NoRuns, Columns: append(ui.Columns(w.Run, w.Status, w.Scenario), ui.Column{Name: w.Version, Number: true})}
	table.Columns = append(table.Columns, ui.Columns(w.Contact, w.Created, w.Took)...)
	for _, r := range list {
		state := ui.Cell{Pill: RunState(v, r.Status)}
		if r.ErrorCode != nil {
			state.Note = ui.Visible(*r.ErrorCode)
		}
		table.Rows = append(table.Rows, []ui.Cell{
			ui.IDCell(PathRuns, r.ID), state, ui.IDCell(PathScenarios, r.ScenarioID), {Text: v.Locale.Number(int64(r.ScenarioVersion))},
			ui.IDCell(PathContacts, r.ContactID), Moment(v.Locale.Time(r.CreatedAt)), {Text: RunTook(v, &r)},
		})
	}
	return table
}

// RunTook is how long a run took, or has taken so far; empty before it began.
func RunTook(v *ui.Visit, r *models.ScenarioRun) string {
	if r.StartedAt == nil {
		return ""
	}
	end := v.Now
	if r.FinishedAt != nil {
		end = *r.FinishedAt
	}
	return v.Locale.Span(end.Sub(*r.StartedAt))
}

// Events are events as rows, each with the way to its webhooks.
func Events(v *ui.Visit, list []models.Event) ui.Table {
	w := WordsOf(v)
	table := ui.Table{Caption: w.Events, None: w.NoEvents, Columns: ui.Columns(w.Event, w.Created, w.Deliveries, w.Request)}
	for _, e := range list {
		table.Rows = append(table.Rows, []ui.Cell{
			{Text: ui.Visible(e.Type), Code: true, Note: e.ID}, Moment(v.Locale.Time(e.CreatedAt)),
			{Links: []ui.Link{{Name: w.ShowDeliveries, Address: ui.Root + "/deliveries?" + url.Values{"id": {e.ID}}.Encode()}}},
			ui.IDCell(PathRequests, e.RequestID),
		})
	}
	return table
}
