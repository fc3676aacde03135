package dashboard

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// contentPolicy lets a page load its own files and nothing else: no inline
// script or style, no other host, no frame around it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// foreignPolicy is for bodies that came from outside: they can do nothing, not
// even be framed.
const foreignPolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

const headerRequestID = "X-Request-Id"

// refusal is a 403 with words of its own.
type refusal int

const (
	refusedOrigin    refusal = iota // an unsafe request that another site made
	refusedNoProject                // a user who is no member of any project
	refusedRole                     // a member who asks for what owners do
)

func (e refusal) Error() string { return "refused: reason " + strconv.Itoa(int(e)) }

// protect puts around all pages what holds for each: the headers, an answer to
// a panic, and the refusal of unsafe requests that another origin made.
func (d *Dashboard) protect(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(d.withoutSession(func(*ui.Visit) (ui.Reply, error) {
		return ui.Reply{}, refusedOrigin
	}))
	guarded := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.setHeaders(w.Header())
		defer d.recoverPanic(w, r)
		guarded.ServeHTTP(w, r)
	})
}

// setHeaders forbids every answer to be sniffed, framed, kept, or to name its
// address elsewhere. The referrer stays within the origin rather than being
// dropped altogether: with "no-referrer" a browser sends "Origin: null" with
// forms, and over plain http nothing else tells our own form from a foreign one.
func (d *Dashboard) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if d.secure { // browsers ignore it, with a warning, on plain http
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
}

// recoverPanic answers a fault in our code like any other error.
func (d *Dashboard) recoverPanic(w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(fault) // net/http's own way to drop a connection
	}
	d.write(w, r, d.errorPage(w, r, fmt.Errorf("panic: %v", fault)))
}

// withSession loads the request's session, makes the page, and saves the
// session before anything is written.
func (d *Dashboard) withSession(page ui.Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Cookie, Accept-Language")
		ctx, err := d.sessions.Load(r.Context(), sessionToken(r))
		if err != nil {
			d.write(w, r, d.errorPage(w, r, fmt.Errorf("load the session: %w", err)))
			return
		}
		r = r.WithContext(ctx)
		answer := d.make(w, r, page)
		if err := d.saveSession(w, r); err != nil {
			answer = d.errorPage(w, r, fmt.Errorf("save the session: %w", err))
		}
		d.write(w, r, answer)
	})
}

// withoutSession makes a page that is the same for everybody.
func (d *Dashboard) withoutSession(page ui.Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.write(w, r, d.make(w, r, page)) })
}

func (d *Dashboard) make(w http.ResponseWriter, r *http.Request, page ui.Page) ui.Reply {
	answer, err := page(d.visit(r))
	if err != nil {
		return d.errorPage(w, r, err)
	}
	if answer.Notice != "" {
		d.sessions.Put(r.Context(), sessionNotice, answer.Notice)
	}
	return answer
}

// visit is what a page is told about the request. Whose it is becomes known in
// forMember.
func (d *Dashboard) visit(r *http.Request) *ui.Visit {
	return &ui.Visit{
		Request: r, Now: d.clock.Now(),
		Locale: ui.Locale{Language: ui.LanguageOf(r), Zone: ui.ZoneOf(r)},
		Frame:  ui.Frame{Assets: d.assets.Prefix(), Theme: ui.ThemeOf(r)},
	}
}

// saveSession writes the session and its cookie when there is something to write.
func (d *Dashboard) saveSession(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	switch d.sessions.Status(ctx) {
	case scs.Modified:
		token, expiry, err := d.sessions.Commit(ctx)
		if err != nil {
			return err
		}
		d.sessions.WriteSessionCookie(ctx, w, token, expiry)
	case scs.Destroyed:
		d.sessions.WriteSessionCookie(ctx, w, "", time.Time{}) // expired: the browser drops it
	case scs.Unmodified:
	}
	return nil
}

func (d *Dashboard) write(w http.ResponseWriter, r *http.Request, answer ui.Reply) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	for name, values := range answer.Header {
		h[name] = append(h[name], values...)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "" {
		h.Set("Content-Type", kind)
	}
	if answer.Download {
		h.Set("Content-Security-Policy", foreignPolicy)
	}
	h.Set("Cache-Control", "no-store") // the session library has added a weaker one
	h.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	w.WriteHeader(answer.Status)
	if _, err := w.Write(answer.Body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		d.log.DebugContext(r.Context(), "a page could not be sent", "error", err)
	}
}

// errorView is the page of any error.
type errorView struct {
	ui.Shell
	Texts     *words
	Text      errorText
	RequestID string // empty when the error is not ours
	SignOut   bool   // offer to sign out
}

// errorPage renders an error. Faults of ours are logged here, once.
func (d *Dashboard) errorPage(w http.ResponseWriter, r *http.Request, err error) ui.Reply {
	requestID := w.Header().Get(headerRequestID)
	v := d.visit(r)
	texts := wordsIn(v.Locale.Language)
	status, view := explain(texts, err)
	if status >= http.StatusInternalServerError {
		d.logFault(r, requestID, err)
		view.RequestID = requestID
	}
	view.Shell, view.Texts = v.Shell(view.Text.Title, ""), texts
	answer, renderErr := d.views.Render("error", status, view)
	if renderErr != nil {
		d.log.ErrorContext(r.Context(), "the error page could not be rendered", "request_id", requestID, "error", renderErr)
		return ui.Reply{Status: http.StatusInternalServerError}
	}
	return answer
}

// explain puts an error into an HTTP status and words for the reader.
func explain(texts *words, err error) (status int, view errorView) {
	var (
		refused refusal
		told    ui.Refusal
	)
	switch {
	case errors.As(err, &refused):
		return http.StatusForbidden, errorView{Text: texts.refused(refused), SignOut: refused == refusedNoProject}
	case errors.As(err, &told):
		return told.Status, errorView{Text: errorText{Title: told.Title, Text: told.Text}}
	case errors.Is(err, ui.ErrForm):
		return http.StatusBadRequest, errorView{Text: texts.Errors.BadForm}
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound, errorView{Text: texts.Errors.NotFound}
	default:
		return http.StatusInternalServerError, errorView{Text: texts.Errors.Internal}
	}
}

func (d *Dashboard) logFault(r *http.Request, requestID string, err error) {
	level := slog.LevelError
	if r.Context().Err() != nil { // the browser has left: nobody misses the page
		level = slog.LevelDebug
	}
	d.log.Log(r.Context(), level, "a dashboard page failed", "request_id", requestID, "error", err)
}
