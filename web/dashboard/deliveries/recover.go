package deliveries

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

const (
	paramDelivery = "delivery" // a chosen one; many
	fieldRate     = "rate"
	maxRate       = 1000 // a second, contract §5
)

// recoverView is the question before many deliveries are sent again, on a page
// of its own or in a dialog.
type recoverView struct {
	ui.Shell

	Texts *words
	Head  ui.Head
	Plan  planView
}

// planView is what would be done, in numbers.
type planView struct {
	Texts   *words
	Title   string
	About   []string // the filters in words
	Lines   []string
	Nothing bool   // there is nothing to send
	Hint    string // what to do then; may be empty
	Form    ui.FormView
	Chosen  []string // the deliveries that were chosen
}

// wanted is what a reader wants sent again.
type wanted struct {
	recovery models.Recovery
	chosen   []string // not empty: these instead
	about    []string
	address  string // of the same question
}

// askRecover is the question before many deliveries are sent again.
func (s *Section) askRecover(v *ui.Visit) (ui.Reply, error) {
	want, err := s.wanted(v, v.URL.Query())
	if err != nil {
		return ui.Reply{}, err
	}
	return s.askAgain(v, want, "", "")
}

// askAgain shows the question, with what was wrong with the rate if something
// was.
func (s *Section) askAgain(v *ui.Visit, want wanted, rate, fault string) (ui.Reply, error) {
	plan, err := s.plan(v, want)
	if err != nil {
		return ui.Reply{}, err
	}
	w := wordsIn(v.Locale.Language)
	view := recoverView{Shell: v.Shell(w.Recover.Title, ui.NavDeliveries), Texts: w, Plan: readerOf(v).plan(want, plan, rate)}
	view.Plan.Form.Once = v.Once()
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Attempt.Back, Address: Path}, Title: w.Recover.Title}
	status := http.StatusOK
	if fault != "" {
		status = http.StatusUnprocessableEntity
		view.Plan.Form.Blame(v.Locale, parts.WordsOf(v).NotValid, []models.FieldError{{Pointer: "/" + fieldRate, Code: models.FieldRange, Detail: fault}})
	}
	if v.Partial() {
		reply, err := s.views.Fragment("recover", "plan", view.Plan)
		reply.Status = status
		return reply, err
	}
	return s.views.Render("recover", status, view)
}

func (s *Section) plan(v *ui.Visit, want wanted) (store.RecoveryPlan, error) {
	if want.chosen != nil {
		plan, err := s.queries.PlanSelection(v.Context(), v.Member.Project.ID, want.chosen)
		if err != nil {
			return plan, fmt.Errorf("plan a selection: %w", err)
		}
		return plan, nil
	}
	plan, err := s.queries.PlanRecovery(v.Context(), v.Member.Project.ID, want.recovery)
	if err != nil {
		return plan, fmt.Errorf("plan a recovery: %w", err)
	}
	return plan, nil
}

// wanted reads what is wanted from the address; form holds the deliveries that
// were chosen.
func (s *Section) wanted(v *ui.Visit, form url.Values) (wanted, error) {
	if form.Has(paramDelivery) || v.URL.Query().Has("selection") {
		chosen := slices.Compact(slices.Sorted(slices.Values(form[paramDelivery])))
		for _, id := range chosen {
			if !models.ValidID(models.PrefixDelivery, id) {
				return wanted{}, store.ErrNotFound
			}
		}
		if len(chosen) > models.MaxSelection {
			return wanted{}, ui.Refusal{Status: http.StatusUnprocessableEntity, Title: wordsIn(v.Locale.Language).Recover.Title, Text: wordsIn(v.Locale.Language).Recover.TooMany}
		}
		return wanted{chosen: append([]string{}, chosen...), address: pathRecover + "?selection="}, nil
	}
	endpoints, err := s.queries.EndpointNames(v.Context(), v.Member.Project.ID)
	if err != nil {
		return wanted{}, fmt.Errorf("list the endpoints: %w", err)
	}
	at := s.search(v, endpoints)
	want := wanted{about: at.about(v), address: at.under(pathRecover, nil)}
	if at.Faulty() || at.Nothing || at.Filter.Delivered || at.ByID() {
		return wanted{}, store.ErrNotFound
	}
	f := at.Filter
	want.recovery = models.Recovery{
		EndpointID: f.EndpointID, Everywhere: f.EndpointID == "", Since: f.Since, Until: f.Until, EventType: f.EventType, Waiting: true,
	}
	if at.Value(paramClass) != nil || at.Value(paramHTTP) != nil || text(at.Value(paramStatus)) == outcomeLost {
		want.recovery.ErrorClasses = f.Classes
	}
	if cause := v.URL.Query().Get(paramCause); v.URL.Query().Has(paramCause) && f.EndpointID != "" {
		if !parts.Asked(cause) {
			return wanted{}, store.ErrNotFound
		}
		known := models.DeadLetterCause(cause)
		want.recovery.Cause, want.recovery.Waiting = &known, false
		want.address = at.under(pathRecover, url.Values{paramCause: {cause}})
		want.about = append(want.about, readerOf(v).cause(known))
	}
	return want, nil
}

// about are the filters in words.
func (f *search) about(v *ui.Visit) []string {
	list := ui.ListView{Shell: ui.Shell{Words: ui.WordsIn(v.Locale.Language)}}
	f.Fill(&list, false, "")
	names := make([]string, len(list.Chips.Chips))
	for i, chip := range list.Chips.Chips {
		names[i] = chip.Name
	}
	return names
}

func (m reader) plan(want wanted, plan store.RecoveryPlan, rate string) planView {
	w := m.words.Recover
	sent := plan.Sent()
	view := planView{Texts: m.words, About: want.about, Nothing: sent == 0, Chosen: want.chosen}
	view.Title = m.Count(sent, w.TitleF)
	if plan.More {
		view.Title = fmt.Sprintf(w.MoreTitleF, m.Number(store.MaxPlanned))
	}
	if sent == 0 {
		view.Title = w.Nothing
		if want.chosen != nil && len(want.chosen) == 0 {
			view.Hint = w.NoneChosen
		}
	} else {
		view.Lines = append(view.Lines, m.Count(int64(plan.Endpoints), w.EndpointsF))
	}
	count := func(n int64, forms ui.Forms) {
		if n > 0 {
			view.Lines = append(view.Lines, m.Count(n, forms))
		}
	}
	count(plan.ByStatus[models.DeliveryDeadLetter], w.DeadF)
	count(plan.ByStatus[models.DeliveryHeld], w.HeldF)
	count(plan.ByStatus[models.DeliveryWaiting], w.WaitingF)
	count(plan.ByStatus[models.DeliveryDelivered], w.DeliveredF)
	count(plan.Queued, w.QueuedF)
	count(plan.Expired, w.ExpiredF)
	count(plan.Inactive, w.InactiveF)
	view.Form = ui.FormView{Action: want.address, Submit: m.Count(sent, w.SubmitF)}
	if plan.More {
		view.Form.Submit = w.SubmitAll
	}
	if want.chosen == nil {
		view.Form.Fields = []ui.Field{{Name: fieldRate, Label: w.Rate, Kind: "number", Value: rate, Hint: w.RateHint}}
	}
	return view
}

// recoverMatching starts the job that sends again what was asked about.
func (s *Section) recoverMatching(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, fmt.Errorf("recover: %w", err)
	}
	want, err := s.wanted(v, form)
	if err != nil {
		return ui.Reply{}, err
	}
	w := wordsIn(v.Locale.Language)
	if want.chosen != nil && len(want.chosen) == 0 {
		return s.askAgain(v, want, "", "")
	}
	rate := strings.TrimSpace(form.Get(fieldRate))
	if rate != "" {
		n, err := strconv.Atoi(rate)
		if err != nil || n < 1 || n > maxRate {
			return s.askAgain(v, want, rate, fmt.Sprintf(w.Recover.RateFaultF, maxRate))
		}
		want.recovery.RatePerSecond = &n
	}
	if want.chosen != nil {
		want.recovery = models.Recovery{DeliveryIDs: want.chosen}
	}
	made, job, err := s.startRecovery(v, want.recovery)
	if err != nil {
		return ui.Reply{}, err
	}
	reply := ui.Redirect(pathJobs + made)
	if job != nil {
		reply.Notice = v.Locale.Count(int64(job.Total), w.Recover.StartedF)
	}
	return reply, nil
}

// startRecovery queues the job, and returns its id; job is nil where the same form
// made it before. Deliveries that are none of the project's are not found, like
// any that do not exist.
func (s *Section) startRecovery(v *ui.Visit, r models.Recovery) (made string, job *models.Job, err error) {
	made, err = s.desk.Do(v, parts.Deed{Action: "recovery.started", Detail: r.EndpointID}, func(ctx context.Context, tx *store.Tx) (string, error) {
		if len(r.DeliveryIDs) > 0 {
			locked, err := tx.LockDeliveries(ctx, r.DeliveryIDs)
			if err != nil {
				return "", err //nolint:wrapcheck // the desk says what was done
			}
			if len(locked) != len(r.DeliveryIDs) {
				return "", store.ErrNotFound
			}
		}
		started, err := tx.StartRecovery(ctx, r, models.Job{APIVersion: v.Member.Project.APIVersion})
		if err != nil {
			return "", err //nolint:wrapcheck // as above
		}
		job = started
		return job.ID, nil
	})
	if err != nil {
		return "", nil, parts.Refused(v, err) //nolint:wrapcheck // it is a page
	}
	return made, job, nil
}
