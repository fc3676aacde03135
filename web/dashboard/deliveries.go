package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	rowsPerPage = 50
	// maxTrail is over how many pages "Newer" leads back one by one; beyond it
	// leads to the newest.
	maxTrail = 40

	// The list's parameters.
	paramBefore = "before" // the last attempt of the page before
	paramTrail  = "trail"  // the "before" of the pages passed, without their prefix
	paramOpen   = "open"   // the attempt whose row is unfolded
)

// listView is the page of attempts.
type listView struct {
	shell
	AsOf         *sentence
	Notices      []noticeView
	Rows         []rowView
	Newer, Older string // empty: there is none
	Newest       string // the first page's address
	Example      string // the request to send when there is nothing yet
}

// rowView is one attempt in the list.
type rowView struct {
	Words     *messages
	ID        string
	Outcome   outcomeView
	EventType string
	Host      string
	Number    int
	Manual    bool
	Started   instant
	Took      string
	Name      string      // of the control that unfolds the row
	Toggle    string      // where that control leads without the script
	Fragment  string      // where the script gets the details
	Detail    *detailView // nil: the row is folded
}

// place is where in the list a reader is.
type place struct {
	before string
	trail  []string
}

// listAttempts is the page of attempts, newest first.
func (d *Dashboard) listAttempts(r *http.Request, m member) (reply, error) {
	at := placeOf(r.URL.Query())
	rows, more, err := d.attemptsOf(r, m.Project.ID, at)
	if err != nil {
		return reply{}, err
	}
	now := d.clock.Now()
	view := listView{
		shell: d.shell(d.words.List.Title, &m), AsOf: d.words.at(d.words.List.AsOf, now),
		Newer: at.newer(), Newest: pathDeliveries, Example: d.exampleRequest(m.Project.Mode, now),
	}
	if view.Notices, err = d.notices(r, m.Project.ID); err != nil {
		return reply{}, err
	}
	if more {
		view.Older = at.older(rows[len(rows)-1].ID)
	}
	for _, attempt := range rows {
		row, err := d.row(r, m.Project.ID, attempt, at)
		if err != nil {
			return reply{}, err
		}
		view.Rows = append(view.Rows, row)
	}
	return d.views.render("deliveries", http.StatusOK, view)
}

// attemptsOf returns a page's rows and whether there are older ones.
func (d *Dashboard) attemptsOf(r *http.Request, project models.ProjectID, at place) ([]models.WebhookAttempt, bool, error) {
	rows, err := d.queries.WebhookAttempts(r.Context(), project, store.Page{Before: at.before, Limit: rowsPerPage + 1})
	if err != nil {
		return nil, false, fmt.Errorf("list the attempts: %w", err)
	}
	if len(rows) > rowsPerPage {
		return rows[:rowsPerPage], true, nil
	}
	return rows, false, nil
}

// row makes one row, unfolded if the address asks for it.
func (d *Dashboard) row(r *http.Request, project models.ProjectID, a models.WebhookAttempt, at place) (rowView, error) {
	row := rowView{
		Words: d.words, ID: a.ID, Outcome: d.words.outcome(a), EventType: visible(a.EventType), Host: hostOf(a.URL),
		Number: a.Number, Manual: a.Manual, Started: d.words.instant(a.StartedAt), Took: d.words.duration(a.Timing.DurationMs),
		Name: fmt.Sprintf(d.words.List.DetailsOfF, a.ID), Toggle: pathAttempts + a.ID, Fragment: pathAttempts + a.ID + "/detail",
	}
	if r.URL.Query().Get(paramOpen) != a.ID {
		return row, nil
	}
	detail, err := d.detail(r, project, a.ID)
	switch {
	case errors.Is(err, store.ErrNotFound): // dropped a moment ago: the row stays folded
		return row, nil
	case err != nil:
		return rowView{}, err
	}
	row.Toggle, row.Detail = at.address(), detail
	return row, nil
}

// placeOf reads the place from the address; what is not an attempt's id is
// taken as the newest page.
func placeOf(query url.Values) place {
	before := query.Get(paramBefore)
	if !models.ValidID(models.PrefixAttempt, before) {
		return place{}
	}
	at := place{before: before}
	for _, step := range strings.Split(query.Get(paramTrail), ".") {
		if models.ValidID(models.PrefixAttempt, models.PrefixAttempt+step) && len(at.trail) < maxTrail {
			at.trail = append(at.trail, step)
		}
	}
	return at
}

// address is the place's own.
func (p place) address() string {
	if p.before == "" {
		return pathDeliveries
	}
	query := url.Values{paramBefore: {p.before}}
	if len(p.trail) > 0 {
		query.Set(paramTrail, strings.Join(p.trail, "."))
	}
	return pathDeliveries + "?" + query.Encode()
}

// older is the address of the page after the one whose last row is given.
func (p place) older(last string) string {
	next := place{before: last, trail: p.trail}
	if p.before != "" {
		next.trail = append(slices.Clone(p.trail), strings.TrimPrefix(p.before, models.PrefixAttempt))
	}
	next.trail = next.trail[max(len(next.trail)-maxTrail, 0):]
	return next.address()
}

// newer is the address of the page before this one, empty on the newest.
func (p place) newer() string {
	if p.before == "" {
		return ""
	}
	last := len(p.trail) - 1
	if last < 0 {
		return pathDeliveries
	}
	return place{before: models.PrefixAttempt + p.trail[last], trail: p.trail[:last]}.address()
}

// exampleRequest is a line that works when pasted into a shell with the
// project's key. Its idempotency key is new each time the page is shown.
func (d *Dashboard) exampleRequest(mode models.Mode, now time.Time) string {
	return fmt.Sprintf(`BOTIX_API_KEY='btx_%s_…'
curl -X POST '%s/contacts' \
  -H "Authorization: Bearer $BOTIX_API_KEY" \
  -H 'Idempotency-Key: %s' \
  -H 'Content-Type: application/json' \
  -d '{"name": "Ada Lovelace", "email": "ada@example.com"}'`, mode, d.publicURL, models.NewID("", now))
}
