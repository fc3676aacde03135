package deliveries

import (
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// attemptView is one attempt on a page of its own.
type attemptView struct {
	ui.Shell
	Texts  *words
	Head   ui.Head
	Detail *detailView
}

// detailView is everything about one attempt.
type detailView struct {
	Texts     *words
	Words     *ui.Words
	ID        string
	EventType string
	Diagnosis string
	Next      *ui.Sentence // nil: nothing to add
	About     aboutView
	Request   requestView
	Answer    *answerView // nil: none came
	IDs       []ui.IDLine
	Retry     retryView
	Curl      string // the request as a command
}

// aboutView is the attempt itself.
type aboutView struct {
	Outcome  ui.Pill
	Error    string // what exactly went wrong; may be empty
	Number   string
	Delivery string // the delivery's state in words
	Started  ui.Instant
	Took     string
	Next     *ui.Instant // when the next attempt is due; nil: none is planned
	Timing   []timingPart
}

// timingPart is one part of an attempt's duration.
type timingPart struct{ Name, Took string }

// requestView is what was sent.
type requestView struct {
	URL     string
	Headers []ui.HeaderLine
	Payload ui.BodyView
}

// answerView is what came back.
type answerView struct {
	Status  int
	Headers []ui.HeaderLine
	Body    ui.BodyView
}

// showAttempt is one attempt's own page.
func (s *Section) showAttempt(v *ui.Visit) (ui.Reply, error) {
	detail, err := s.detail(v, v.PathValue("id"))
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	return s.views.Page("attempt", attemptView{
		Shell: v.Shell(texts.Attempt.Title, ui.NavDeliveries), Texts: texts, Detail: detail,
		Head: ui.Head{
			Crumb: &ui.Link{Name: texts.Attempt.Back, Address: Path}, Title: texts.Attempt.Title, ID: detail.ID, Lead: detail.EventType,
		},
	})
}

// attemptFragment is what the script puts under a row of the list.
func (s *Section) attemptFragment(v *ui.Visit) (ui.Reply, error) {
	detail, err := s.detail(v, v.PathValue("id"))
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("attempt", "detail", detail)
}

// detail reads an attempt. What cannot be an attempt's id is not asked for.
func (s *Section) detail(v *ui.Visit, id string) (*detailView, error) {
	if !models.ValidID(models.PrefixAttempt, id) {
		return nil, fmt.Errorf("an attempt's id: %w", store.ErrNotFound)
	}
	attempt, delivery, event, err := s.queries.WebhookAttempt(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read the attempt: %w", err)
	}
	return readerOf(v).detail(attempt, delivery, event, v.Now), nil
}

func (m reader) detail(a *models.WebhookAttempt, d *models.WebhookDelivery, e *models.Event, now time.Time) *detailView {
	return &detailView{
		Texts: m.words, Words: m.shared, ID: a.ID, EventType: ui.Visible(a.EventType),
		Diagnosis: m.diagnose(*a), Next: m.next(*a, *d, now),
		About: m.about(a, d), Request: m.request(a, e), Answer: m.answer(a), IDs: m.ids(a, e),
		Retry: m.retryOf(d), Curl: curl(a, e.Body),
	}
}

func (m reader) about(a *models.WebhookAttempt, d *models.WebhookDelivery) aboutView {
	view := aboutView{
		Outcome: m.outcome(*a), Error: ui.Visible(a.Error), Delivery: ui.Word(m.words.Attempt.Deliveries, d.Status),
		Number:  fmt.Sprintf(m.words.Attempt.AutomaticF, a.Number, max(d.AttemptCount, a.Number)),
		Started: m.Time(a.StartedAt), Took: m.milliseconds(a.Timing.DurationMs), Timing: m.timing(a.Timing),
	}
	if a.Manual {
		view.Number = fmt.Sprintf(m.words.Attempt.ManualF, a.Number, max(d.AttemptCount, a.Number))
	}
	if d.Status.Due() && d.NextAttemptAt != nil {
		next := m.Time(*d.NextAttemptAt)
		view.Next = &next
	}
	return view
}

// timing lists the parts of the duration. A part that did not happen (a
// connection used again needs no DNS) is said to be so.
func (m reader) timing(t models.AttemptTiming) []timingPart {
	parts := []timingPart{
		{m.words.Attempt.DNS, m.milliseconds(t.DNSMs)}, {m.words.Attempt.Connect, m.milliseconds(t.ConnectMs)}, {m.words.Attempt.TLS, m.milliseconds(t.TLSMs)},
		{m.words.Attempt.FirstByte, m.milliseconds(t.FirstByteMs)}, {m.words.Attempt.Total, m.milliseconds(t.DurationMs)},
	}
	for i, ms := range []int{t.DNSMs, t.ConnectMs, t.TLSMs, t.FirstByteMs} {
		if ms == 0 {
			parts[i].Took = "–"
		}
	}
	return parts
}

func (m reader) request(a *models.WebhookAttempt, e *models.Event) requestView {
	return requestView{
		URL: ui.Visible(a.URL), Headers: ui.ShowHeaders(a.RequestHeaders),
		Payload: m.content(a.ID+"-payload", m.words.Attempt.Payload, ui.ShowPayload(e.Body)),
	}
}

func (m reader) answer(a *models.WebhookAttempt) *answerView {
	if a.StatusCode == nil {
		return nil
	}
	view := &answerView{
		Status: *a.StatusCode, Headers: ui.ShowHeaders(a.ResponseHeaders),
		Body: m.content(a.ID+"-body", m.words.Attempt.Body, ui.ShowBytes(a.ResponseBody, a.ResponseTruncated)),
	}
	if a.ResponseTruncated {
		view.Body.Note += " " + fmt.Sprintf(m.words.Attempt.CutF, m.bytes(len(a.ResponseBody)))
	}
	return view
}

func (m reader) content(id, name string, c ui.Content) ui.BodyView {
	view := ui.BodyView{ID: id, Name: name, Text: c.Text, Note: fmt.Sprintf(m.words.Attempt.SizeF, m.bytes(c.Size))}
	if c.Hex {
		view.Note += " " + m.words.Attempt.Hex
	}
	return view
}

// ids lists what the attempt is known by. An event that no API request caused
// has no such id.
func (m reader) ids(a *models.WebhookAttempt, e *models.Event) []ui.IDLine {
	texts := m.words.Attempt
	return ui.IDLines(m.shared,
		ui.IDLine{Name: texts.EventID, Value: a.EventID}, ui.IDLine{Name: texts.DeliveryID, Value: a.DeliveryID, Address: Path + "/" + a.DeliveryID},
		ui.IDLine{Name: texts.AttemptID, Value: a.ID, Address: pathAttempts + a.ID}, ui.IDLine{Name: texts.EndpointID, Value: a.EndpointID},
		ui.IDLine{Name: texts.RequestID, Value: a.RequestID}, ui.IDLine{Name: texts.CausingID, Value: e.RequestID})
}
