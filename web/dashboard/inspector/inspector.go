// Package inspector is the dashboard's pages about the inspector: a project's
// bins, what they captured with what the signatures are worth, what they answer,
// and the copies of deliveries that people send there.
package inspector

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the list's address.
const Path = ui.Root + "/" + ui.NavInspector

const pathRequests = Path + "/requests/"

// Queries is what these pages ask of the store.
type Queries interface {
	Bins(ctx context.Context, project models.ProjectID) ([]models.Bin, error)
	Bin(ctx context.Context, project models.ProjectID, id string) (*models.Bin, error)
	// CapturedRequests lists a bin's requests before a Seq (0: from the newest),
	// newest first, without their bodies.
	CapturedRequests(ctx context.Context, bin *models.Bin, before int64, limit int) ([]models.CapturedRequest, error)
	CapturedRequest(ctx context.Context, project models.ProjectID, id string) (*models.CapturedRequest, error)

	parts.Writer
}

// Section is the pages about the inspector. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	bins    *inspector.Desk
	desk    parts.Desk
}

// New parses the templates. bins is where bins are made and copies sent.
func New(queries Queries, bins *inspector.Desk, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("inspector: %w", err)
	}
	return &Section{queries: queries, views: views, bins: bins, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                                   s.list,
		"POST " + Path:                                  s.create,
		"GET " + Path + "/bins/{id}":                    s.show,
		"GET " + Path + "/bins/{id}/live":               s.live,
		"POST " + Path + "/bins/{id}/script":            s.setScript,
		"POST " + Path + "/bins/{id}/answers":           s.setAnswers,
		"POST " + Path + "/bins/{id}/clear":             s.clear,
		"GET " + pathRequests + "{id}":                  s.showRequest,
		"POST " + ui.Root + "/deliveries/{id}/redirect": s.redirect,
	}
}

// listView is the project's bins and the form for another.
type listView struct {
	ui.Shell

	Texts *words
	Head  ui.Head
	Bins  ui.Table
	Form  ui.FormView
}

func (s *Section) list(v *ui.Visit) (ui.Reply, error) { return s.binsPage(v, http.StatusOK, nil) }

// binsPage shows the bins, and what was wrong with the form; refused may be nil.
func (s *Section) binsPage(v *ui.Visit, status int, refused error) (ui.Reply, error) {
	bins, err := s.queries.Bins(v.Context(), v.Member.Project.ID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the bins: %w", err)
	}
	texts := wordsIn(v.Locale.Language)
	view := listView{Shell: v.Shell(texts.Title, ui.NavInspector), Texts: texts, Head: ui.Head{Title: texts.Title, Lead: texts.Lead}}
	view.Here = Path
	view.Bins = ui.Table{Caption: texts.Title, None: texts.NoBins, Columns: ui.Columns(texts.Name, texts.URL, texts.Last, texts.Expires)}
	for _, bin := range bins {
		view.Bins.Rows = append(view.Bins.Rows, []ui.Cell{
			{Text: binName(texts, &bin), Address: Path + "/bins/" + bin.ID}, {Text: s.bins.URL(bin.ID), Code: true},
			{At: v.Locale.When(bin.LastAt)}, parts.Moment(v.Locale.Time(bin.ExpiresAt)),
		})
	}
	view.Form = ui.FormView{Action: Path, Once: v.Once(), Submit: texts.New, Fields: []ui.Field{{Name: "name", Label: texts.Name, Kind: "text", Hint: texts.NameHint, Needed: true, Value: ui.Visible(v.PostForm.Get("name"))}}}
	if faults, ok := parts.Faults(refused); ok {
		view.Form.Blame(v.Locale, texts.Wrong, faults)
	} else if refused != nil {
		view.Form.Problem.Title = texts.TooMany
	}
	return s.views.Render("bins", status, view)
}

func binName(texts *words, bin *models.Bin) string {
	if bin.Default {
		return texts.Default
	}
	return ui.Visible(bin.Name)
}

// create makes a bin and leads to it.
func (s *Section) create(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	made, err := s.desk.Do(v, parts.Deed{Action: "inspector_bin.created"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		bin, err := s.bins.Create(ctx, tx, form.Get("name"))
		if err != nil {
			return "", err //nolint:wrapcheck // the desk says what was done
		}
		return bin.ID, nil
	})
	if _, faulty := parts.Faults(err); faulty || errors.Is(err, store.ErrTooManyBins) {
		return s.binsPage(v, http.StatusUnprocessableEntity, err)
	}
	if err != nil {
		return ui.Reply{}, err
	}
	return ui.Redirect(Path + "/bins/" + made), nil
}

// binView is one bin with what it captured.
type binView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	URL      string
	Base     string
	Script   ui.FormView // a ready-made one
	Own      ui.FormView // one of the reader's own
	OwnOpen  bool
	Endpoint string // where the form is that makes it an endpoint; empty: it has no address
	Requests ui.Table
	Live     string // the address of the part that follows
	Ways     ui.PagesView
}

func (s *Section) show(v *ui.Visit) (ui.Reply, error) { return s.binPage(v, nil, nil) }

// binPage shows a bin, with what was typed for its answers and what is wrong with
// that; both may be nil.
func (s *Section) binPage(v *ui.Visit, typed url.Values, wrong []models.FieldError) (ui.Reply, error) {
	view, err := s.binView(v)
	if err != nil {
		return ui.Reply{}, err
	}
	status := http.StatusOK
	if wrong != nil {
		view.Own.Fields, view.OwnOpen, status = answerFields(view.Texts, typed), true, http.StatusUnprocessableEntity
		view.Own.Blame(v.Locale, parts.WordsOf(v).NotValid, wrong)
	}
	return s.views.Render("bin", status, view)
}

// live is the part of the page that follows what comes in.
func (s *Section) live(v *ui.Visit) (ui.Reply, error) {
	view, err := s.binView(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("bin", "captured", view)
}

func (s *Section) binView(v *ui.Visit) (view binView, err error) {
	bin, err := s.queries.Bin(v.Context(), v.Member.Project.ID, v.PathValue("id"))
	if err != nil {
		return view, fmt.Errorf("read the bin: %w", err)
	}
	at := ui.PagerOf(v.URL, nil, isSeq)
	before, _ := strconv.ParseInt(at.Before, 10, 64)
	found, err := s.queries.CapturedRequests(v.Context(), bin, before, parts.RowsPerPage+1)
	if err != nil {
		return view, fmt.Errorf("list what was captured: %w", err)
	}
	rows, more := parts.Cut(found)
	texts := wordsIn(v.Locale.Language)
	view = binView{
		Shell: v.Shell(binName(texts, bin), ui.NavInspector), Texts: texts, URL: s.bins.URL(bin.ID), Base: Path + "/bins/" + bin.ID,
		Head: ui.Head{
			Crumb: &ui.Link{Name: texts.Title, Address: Path}, Title: binName(texts, bin),
			Lead: v.Locale.Count(models.CapturedKept, texts.KeptF),
		},
		Script: recipeForm(v, bin), Own: answerForm(v, bin), OwnOpen: recipeOf(bin.Script) == "", Requests: table(v, rows), Ways: ui.PagesView{Words: ui.WordsIn(v.Locale.Language), Newer: at.Newer()},
	}
	if view.URL != "" {
		view.Endpoint = ui.Root + "/endpoints/new?" + url.Values{"url": {view.URL}}.Encode()
	}
	if at.Before == "" {
		view.Live = view.Base + "/live"
	}
	if more {
		view.Ways.Older = at.Older(strconv.FormatInt(rows[len(rows)-1].Seq, 10))
	}
	return view, nil
}

func isSeq(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n > 0
}

func table(v *ui.Visit, rows []models.CapturedRequest) ui.Table {
	texts := wordsIn(v.Locale.Language)
	list := ui.Table{Caption: texts.Requests, None: texts.NoRequests, Columns: ui.Columns(texts.Request, texts.Path, texts.Source, texts.Body, texts.Answer, texts.At)}
	for _, c := range rows {
		source := ui.Cell{Text: texts.External}
		if c.Source == models.SourceRedirect {
			source = ui.Cell{Pill: &ui.Pill{Kind: ui.PillInspector, Word: texts.Copy}}
		}
		list.Rows = append(list.Rows, []ui.Cell{
			{Text: ui.Visible(c.Method), Code: true, Address: pathRequests + c.ID}, {Text: parts.Excerpt(c.Path), Code: true}, source,
			{Text: v.Locale.Size(c.BodyBytes)}, {Text: answer(texts, &c)}, parts.Moment(v.Locale.Time(c.ReceivedAt)),
		})
	}
	return list
}

func answer(texts *words, c *models.CapturedRequest) string {
	if c.Answer != nil && c.AnswerOutcome == models.AnswerGiven {
		return strconv.Itoa(c.Answer.Status)
	}
	return ui.Word(texts.Outcomes, c.AnswerOutcome)
}

func (s *Section) clear(v *ui.Visit) (ui.Reply, error) {
	return s.do(v, parts.Deed{Action: "inspector_bin.cleared"}, wordsIn(v.Locale.Language).Cleared,
		func(ctx context.Context, tx *store.Tx, id string) error { return tx.ClearBin(ctx, id) })
}

// do does a deed to the bin of the path and leads back to it.
func (s *Section) do(v *ui.Visit, deed parts.Deed, notice string, fn func(ctx context.Context, tx *store.Tx, id string) error) (ui.Reply, error) {
	id := v.PathValue("id")
	if _, err := s.queries.Bin(v.Context(), v.Member.Project.ID, id); err != nil {
		return ui.Reply{}, fmt.Errorf("read the bin: %w", err)
	}
	_, err := s.desk.Do(v, deed, func(ctx context.Context, tx *store.Tx) (string, error) { return id, fn(ctx, tx, id) })
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/bins/" + id)
	reply.Notice = notice
	return reply, nil
}

// redirect sends a copy of a delivery to the project's default bin, as POST
// /webhook-deliveries/{id}/redirect does, and leads to it.
func (s *Section) redirect(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixDelivery)
	if err != nil {
		return ui.Reply{}, err
	}
	if _, err = v.Form(); err != nil {
		return ui.Reply{}, err
	}
	captured, err := s.desk.Do(v, parts.Deed{Action: "webhook_delivery.redirected", Detail: id}, func(ctx context.Context, tx *store.Tx) (string, error) {
		made, err := s.bins.Redirect(ctx, tx, id, nil)
		if err != nil {
			return "", err //nolint:wrapcheck // the desk says what was done
		}
		return made.ID, nil
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(pathRequests + captured)
	reply.Notice = wordsIn(v.Locale.Language).Redirected
	return reply, nil
}
