package deliveries

import (
	"context"
	"errors"
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

// maxGroups is how many groups stand on the page; a project with more has them
// behind one another as they are retried.
const maxGroups = 200

// maxRate is the highest throttle of a recovery, in deliveries a second.
const maxRate = 1000

// groupsView is the dead letters by endpoint and cause.
type groupsView struct {
	ui.Shell

	Texts  *words
	Head   ui.Head
	Groups []groupView
	Empty  ui.Empty
}

// groupView is what one endpoint did not take for one cause.
type groupView struct {
	Title   string // the cause in words
	Cause   string
	Host    string
	Count   string
	Span    string
	Advice  string
	First   ui.Instant
	Last    ui.Instant
	List    string     // the address of its dead letters
	Recover ui.Confirm // the button that retries them all
}

// deadLetters is the page of groups, the largest first.
func (s *Section) deadLetters(v *ui.Visit) (ui.Reply, error) {
	groups, err := s.queries.DeadLetterGroups(v.Context(), v.Member.Project.ID, nil, models.DeadLetterGroup{}, maxGroups)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("group the dead letters: %w", err)
	}
	endpoints, err := s.endpoints(v)
	if err != nil {
		return ui.Reply{}, err
	}
	slices.SortStableFunc(groups, func(a, b models.DeadLetterGroup) int { return b.Count - a.Count })
	texts := wordsIn(v.Locale.Language)
	view := groupsView{Shell: v.Shell(texts.Dead.Title, ui.NavDeadLetters), Texts: texts}
	view.Head = ui.Head{Title: texts.Dead.Title, Lead: texts.Dead.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: PathDeadLetters}}
	view.Empty = ui.Empty{Title: texts.Dead.EmptyTitle, Text: texts.Dead.EmptyText, Actions: []ui.Link{{Name: texts.Attempt.Back, Address: Path}}}
	for _, g := range groups {
		view.Groups = append(view.Groups, group(v, g, endpoints))
	}
	return s.views.Page("deadletters", view)
}

func group(v *ui.Visit, g models.DeadLetterGroup, endpoints []models.WebhookEndpoint) groupView {
	texts := wordsIn(v.Locale.Language)
	query := "?" + url.Values{"endpoint": {g.EndpointID}, "cause": {string(g.Cause)}}.Encode()
	return groupView{
		Title: causeTitle(texts, g.Cause), Cause: ui.Visible(string(g.Cause)), Host: hostOf(endpoints, g.EndpointID),
		Count: v.Locale.Count(int64(g.Count), texts.Dead.CountF), Advice: advice(texts, g.Cause),
		First: v.Locale.Time(g.First), Last: v.Locale.Time(g.Last), List: PathDeadLetters + "/list" + query,
		Recover: recoverForm(v, g.EndpointID, g.Cause, g.Count),
	}
}

func hostOf(endpoints []models.WebhookEndpoint, id string) string {
	for _, e := range endpoints {
		if e.ID == id {
			return ui.HostOf(e.URL)
		}
	}
	return id
}

// causeTitle is a cause in words: an HTTP status is its own.
func causeTitle(texts *words, cause models.DeadLetterCause) string {
	if status, ok := strings.CutPrefix(string(cause), "http_"); ok {
		return fmt.Sprintf(texts.Dead.AnsweredF, ui.Visible(status))
	}
	return ui.Word(texts.Dead.Causes, cause)
}

// advice is what to do about a cause.
func advice(texts *words, cause models.DeadLetterCause) string {
	for _, known := range []models.DeadLetterCause{cause, "http"} {
		if text, ok := texts.Dead.Advice[known]; ok {
			return text
		}
	}
	return ""
}

// recoverForm asks before a group is retried.
func recoverForm(v *ui.Visit, endpoint string, cause models.DeadLetterCause, count int) ui.Confirm {
	texts := wordsIn(v.Locale.Language).Dead
	query := "?" + url.Values{"endpoint": {endpoint}, "cause": {string(cause)}}.Encode()
	group := endpoint + "-" + string(cause)
	return ui.Confirm{
		ID: "recover-" + group, Open: v.Locale.Count(int64(count), texts.RetryAllF), Address: PathDeadLetters + "/retry" + query,
		Title: v.Locale.Count(int64(count), texts.QuestionF), Text: texts.Question,
		Form: ui.FormView{
			Action: PathDeadLetters + "/retry" + query, Once: v.Once(), Submit: v.Locale.Count(int64(count), texts.RetryAllF),
			Back:   &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: PathDeadLetters},
			Fields: []ui.Field{{Name: "rate", ID: "rate-" + group, Label: texts.Rate, Kind: "number", Hint: fmt.Sprintf(texts.RateHintF, maxRate)}},
		},
	}
}

// askView is the question on a page of its own.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

// chosenGroup is the group that an address names.
func chosenGroup(v *ui.Visit) (endpoint string, cause models.DeadLetterCause, err error) {
	endpoint, cause = v.URL.Query().Get("endpoint"), models.DeadLetterCause(v.URL.Query().Get("cause"))
	if !models.ValidID(models.PrefixEndpoint, endpoint) || !parts.Asked(string(cause)) {
		return "", "", store.ErrNotFound
	}
	return endpoint, cause, nil
}

// askRecovery is the question on a page of its own, with the count as it is now.
func (s *Section) askRecovery(v *ui.Visit) (ui.Reply, error) {
	return s.ask(v, http.StatusOK, "")
}

func (s *Section) ask(v *ui.Visit, status int, problem string) (ui.Reply, error) {
	endpoint, cause, err := chosenGroup(v)
	if err != nil {
		return ui.Reply{}, err
	}
	groups, err := s.queries.DeadLetterGroups(v.Context(), v.Member.Project.ID, &endpoint, models.DeadLetterGroup{}, maxGroups)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("count the dead letters: %w", err)
	}
	at := slices.IndexFunc(groups, func(g models.DeadLetterGroup) bool { return g.EndpointID == endpoint && g.Cause == cause })
	if at < 0 {
		return ui.Reply{}, store.ErrNotFound
	}
	confirm := recoverForm(v, endpoint, cause, groups[at].Count)
	if problem != "" {
		confirm.Form.Blame(v.Locale, problem, []models.FieldError{{Pointer: "/rate", Detail: problem}})
		confirm.Form.Fields[0].Error, confirm.Form.Fields[0].Value = problem, ui.Visible(v.PostForm.Get("rate"))
	}
	return s.views.Render("confirm", status, askView{
		Shell: v.Shell(confirm.Title, ui.NavDeadLetters), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: wordsIn(v.Locale.Language).Dead.Title, Address: PathDeadLetters}, Title: confirm.Title},
	})
}

// recover starts the job that sends a group again, as POST /recoveries does, and
// leads to its page: how far it is, and the button that stops it.
func (s *Section) recover(v *ui.Visit) (ui.Reply, error) {
	endpoint, cause, err := chosenGroup(v)
	if err != nil {
		return ui.Reply{}, err
	}
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	recovery := models.Recovery{EndpointID: endpoint, Cause: &cause}
	if text := strings.TrimSpace(form.Get("rate")); text != "" {
		rate, err := strconv.Atoi(text)
		if err != nil || rate < 1 || rate > maxRate {
			return s.ask(v, http.StatusUnprocessableEntity, fmt.Sprintf(wordsIn(v.Locale.Language).Dead.RateWrongF, maxRate))
		}
		recovery.RatePerSecond = &rate
	}
	return s.startRecovery(v, recovery)
}

func (s *Section) startRecovery(v *ui.Visit, recovery models.Recovery) (ui.Reply, error) {
	var started *models.Job
	made, err := s.desk.Do(v, parts.Deed{Action: "recovery.started", Detail: string(*recovery.Cause)}, func(ctx context.Context, tx *store.Tx) (string, error) {
		job, err := tx.StartRecovery(ctx, recovery, models.Job{APIVersion: v.Member.Project.APIVersion})
		if err != nil {
			return "", err
		}
		started = job
		return job.ID, nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return ui.Reply{}, store.ErrNotFound
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	answer := ui.Redirect(ui.Root + parts.PathJobs + made)
	if started != nil {
		answer.Notice = v.Locale.Count(int64(started.Total), wordsIn(v.Locale.Language).Dead.StartedF)
	}
	return answer, nil
}

// deadLettersOf lists the dead letters of a group, newest first.
func (s *Section) deadLettersOf(v *ui.Visit) (ui.Reply, error) {
	endpoint, cause, err := chosenGroup(v)
	if err != nil {
		return ui.Reply{}, err
	}
	texts, reader := wordsIn(v.Locale.Language), readerOf(v)
	at := ui.PagerOf(v.URL, []string{"endpoint", "cause"}, func(id string) bool { return models.ValidID(models.PrefixDeadLetter, id) })
	text := string(cause)
	found, err := s.queries.DeadLetters(v.Context(), v.Member.Project.ID, store.DeadLetterFilter{EndpointID: &endpoint, Cause: &text},
		store.Page{Before: at.Before, Limit: rowsPerPage + 1})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the dead letters: %w", err)
	}
	rows, more := parts.Cut(found)
	view := ui.ListView{Shell: v.Shell(causeTitle(texts, cause), ui.NavDeadLetters)}
	view.Head = ui.Head{
		Crumb: &ui.Link{Name: texts.Dead.Title, Address: PathDeadLetters}, Title: causeTitle(texts, cause), ID: endpoint, Lead: advice(texts, cause),
	}
	view.Empty = ui.Empty{Title: texts.Dead.EmptyTitle, Text: texts.Dead.EmptyText}
	view.Table = reader.letters(rows)
	view.Ways = ui.PagesView{Words: view.Words, Newer: at.Newer()}
	if more {
		view.Ways.Older = at.Older(rows[len(rows)-1].ID)
	}
	return s.views.Page("list", view)
}

func (m reader) letters(rows []models.DeadLetter) ui.Table {
	table := ui.Table{Caption: m.words.Dead.Title, Columns: ui.Columns(
		m.words.Attempt.DeliveryID, m.words.List.EventType, m.words.Dead.GivenUp, m.words.Dead.KeptUntil, m.words.Attempt.EventID)}
	for _, letter := range rows {
		table.Rows = append(table.Rows, []ui.Cell{
			ui.IDCell("/deliveries/", letter.DeliveryID), {Text: ui.Visible(letter.EventType), Code: true},
			parts.Moment(m.Time(letter.CreatedAt)), parts.Moment(m.Time(letter.ExpiresAt)), {Text: letter.EventID, Code: true},
		})
	}
	return table
}
