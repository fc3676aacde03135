package dashboard

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/postgresstore"
	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// The dashboard's addresses (contract §8).
const (
	pathRoot       = "/developers"
	pathSignIn     = pathRoot + "/sign-in"
	pathSignOut    = pathRoot + "/sign-out"
	pathDeliveries = pathRoot + "/deliveries"
	pathAttempts   = pathRoot + "/attempts/"
	pathNotices    = pathRoot + "/notices/"
)

// sessionSweepInterval is how often expired sessions are deleted.
const sessionSweepInterval = 5 * time.Minute

// Queries is what the dashboard asks of the store. What does not exist, or
// belongs to another project, is [store.ErrNotFound].
type Queries interface {
	// UserByEmail takes the address in lower case.
	UserByEmail(ctx context.Context, email string) (*models.User, error)
	// ProjectOfUser returns the project the user sees.
	ProjectOfUser(ctx context.Context, userID string) (*models.Project, error)
	// WebhookAttempts lists a project's attempts of the last 14 days, newest first.
	WebhookAttempts(ctx context.Context, project models.ProjectID, page store.Page) ([]models.WebhookAttempt, error)
	// WebhookAttempt returns one attempt with its delivery and event.
	WebhookAttempt(ctx context.Context, project models.ProjectID, id string) (
		*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error)
	// Notices lists what a project's members were told and nobody has dismissed,
	// newest first.
	Notices(ctx context.Context, project models.ProjectID, limit int) ([]models.Notice, error)
	// DismissNotice takes a notice away.
	DismissNotice(ctx context.Context, project models.ProjectID, id string) error
}

// Config is what the dashboard needs. All fields but Secure are required.
type Config struct {
	Queries Queries
	DB      *sql.DB // holds the table "sessions"
	Log     *slog.Logger
	Clock   clock.Clock
	// PublicURL is the API's base URL, shown in the example request.
	PublicURL string
	// Secure says that PublicURL is https: the session cookie is then sent over
	// https only.
	Secure bool
}

// Dashboard answers everything under /developers. It is safe for concurrent use.
type Dashboard struct {
	queries   Queries
	log       *slog.Logger
	clock     clock.Clock
	publicURL string
	secure    bool

	words    *messages
	views    *templates
	assets   *assets
	sessions *scs.SessionManager
	gate     *gate
	handler  http.Handler
	stop     func()
}

// New parses the templates and starts the deletion of expired sessions, which
// [Dashboard.Close] ends.
func New(cfg Config) (*Dashboard, error) {
	if cfg.Queries == nil || cfg.DB == nil || cfg.Log == nil || cfg.Clock == nil || cfg.PublicURL == "" {
		return nil, errors.New("the dashboard needs Queries, DB, Log, Clock and PublicURL")
	}
	d, err := assemble(cfg)
	if err != nil {
		return nil, err
	}
	kept := postgresstore.NewWithConfig(cfg.DB, postgresstore.Config{CleanUpInterval: sessionSweepInterval})
	d.sessions.Store = kept
	d.stop = sync.OnceFunc(kept.StopCleanup)
	return d, nil
}

// assemble makes a dashboard whose sessions are in memory until told otherwise.
func assemble(cfg Config) (*Dashboard, error) {
	d := &Dashboard{
		queries: cfg.Queries, log: cfg.Log, clock: cfg.Clock, secure: cfg.Secure,
		publicURL: strings.TrimSuffix(cfg.PublicURL, "/"),
		words:     &english, sessions: newSessions(cfg.Secure), stop: func() {},
	}
	var err error
	if d.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	if d.views, err = parseTemplates(); err != nil {
		return nil, err
	}
	if d.gate, err = newGate(cfg.Queries, cfg.Clock); err != nil {
		return nil, err
	}
	d.handler = d.protect(d.routes())
	return d, nil
}

// Close stops the deletion of expired sessions. It may be called again.
func (d *Dashboard) Close() { d.stop() }

// Register mounts the dashboard. The client's address comes from Echo, which
// knows the trusted proxies (echo.Echo.IPExtractor); the request's id is read
// from the answer's X-Request-Id, which a middleware before it has set.
func (d *Dashboard) Register(e *echo.Echo) {
	serve := func(c echo.Context) error {
		r := c.Request()
		r = r.WithContext(context.WithValue(r.Context(), clientAddressKey{}, c.RealIP()))
		d.handler.ServeHTTP(c.Response(), r)
		return nil
	}
	e.Any(pathRoot, serve)
	e.Any(pathRoot+"/*", serve)
}

// routes maps paths to pages. Whatever is not listed, a wrong method included,
// is the 404 page.
func (d *Dashboard) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+d.assets.prefix+"{name}", d.assets)
	for pattern, page := range map[string]handler{
		"GET " + pathRoot:                      toDeliveries,
		"GET " + pathRoot + "/{$}":             toDeliveries,
		"GET " + pathSignIn:                    d.signInPage,
		"POST " + pathSignIn:                   d.signIn,
		"POST " + pathSignOut:                  d.signOut,
		"GET " + pathDeliveries:                d.forMember(d.listAttempts),
		"GET " + pathAttempts + "{id}":         d.forMember(d.showAttempt),
		"GET " + pathAttempts + "{id}/detail":  d.forMember(d.attemptFragment),
		"POST " + pathNotices + "{id}/dismiss": d.forMember(d.dismissNotice),
	} {
		mux.Handle(pattern, d.withSession(page))
	}
	mux.Handle("/", d.withoutSession(func(*http.Request) (reply, error) { return reply{}, store.ErrNotFound }))
	return mux
}

func toDeliveries(*http.Request) (reply, error) { return redirect(pathDeliveries), nil }
