package dashboard

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/postgresstore"
	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/actions"
	bins "github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/web/dashboard/contacts"
	"github.com/botix-pro/platform/web/dashboard/deliveries"
	"github.com/botix-pro/platform/web/dashboard/endpoints"
	"github.com/botix-pro/platform/web/dashboard/inspector"
	"github.com/botix-pro/platform/web/dashboard/jobs"
	"github.com/botix-pro/platform/web/dashboard/keys"
	"github.com/botix-pro/platform/web/dashboard/messages"
	"github.com/botix-pro/platform/web/dashboard/overview"
	"github.com/botix-pro/platform/web/dashboard/requests"
	"github.com/botix-pro/platform/web/dashboard/scenarios"
	"github.com/botix-pro/platform/web/dashboard/usage"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// The dashboard's own addresses; each section knows its own.
const (
	pathRoot        = ui.Root
	pathSignIn      = pathRoot + "/sign-in"
	pathSignOut     = pathRoot + "/sign-out"
	pathPreferences = pathRoot + "/preferences"
	pathProject     = pathRoot + "/project"
	pathFind        = pathRoot + "/find"
	pathAccount     = pathRoot + "/account"
	pathMembers     = pathRoot + "/members"
	pathInvitation  = pathRoot + "/invitation/"
	// pathHome is where a reader is led who asks for nothing in particular.
	pathHome = overview.Path
)

// sessionSweepInterval is how often expired sessions are deleted.
const sessionSweepInterval = 5 * time.Minute

// Queries is what the dashboard asks of the store: its own questions and those
// of each section. What does not exist, or belongs to another project, is
// [store.ErrNotFound].
type Queries interface {
	// UserByEmail takes the address in lower case.
	UserByEmail(ctx context.Context, email string) (*models.User, error)
	// Memberships lists the projects the user is in, by name, for a session that
	// began at the given time; none when it is over.
	Memberships(ctx context.Context, userID string, since time.Time) ([]models.Membership, error)
	// SessionEnded reports whether a session that began then is over.
	SessionEnded(ctx context.Context, userID string, since time.Time) (bool, error)
	// SetPassword ends the user's sessions that began before the given time.
	SetPassword(ctx context.Context, userID, hash string, since time.Time) error
	// People lists a project's members, by address.
	People(ctx context.Context, project models.ProjectID) ([]models.Person, error)
	// Invitations lists those that can still be accepted.
	Invitations(ctx context.Context, project models.ProjectID) ([]models.Invitation, error)
	// InvitationByToken takes the token's SHA-256.
	InvitationByToken(ctx context.Context, hash []byte) (*models.Invitation, error)
	// AcceptInvitation makes the person a member, once; fresh makes their account.
	AcceptInvitation(ctx context.Context, i models.Invitation, u models.User, fresh bool) error
	// WithdrawInvitation takes one back.
	WithdrawInvitation(ctx context.Context, project models.ProjectID, id string) error
	// AuditEntries lists what people did, newest first; subject may be empty.
	AuditEntries(ctx context.Context, project models.ProjectID, subject string, page store.Page) ([]models.AuditEntry, error)
	// Write commits what fn queues, in one transaction.
	Write(ctx context.Context, project models.ProjectID, fn func(*store.Tx) error) ([]store.Lane, error)
	// Attention counts what waits for a person in a project.
	Attention(ctx context.Context, project models.ProjectID) (store.Attention, error)

	overview.Queries
	usage.Queries
	deliveries.Queries
	keys.Queries
	endpoints.Queries
	inspector.Queries
	contacts.Queries
	messages.Queries
	jobs.Queries
	requests.Queries
	scenarios.Queries
}

// Config is what the dashboard needs. All fields but Secure are
// required.
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
	// Inspector is where bins are made and copies of deliveries go.
	Inspector *bins.Desk
	// Hint announces lanes that have something due after a page has changed a
	// delivery. It never blocks; a lost hint costs a second.
	Hint func([]store.Lane)
	// URLs judges addresses that members give, before they are saved.
	URLs actions.URLChecker
}

// Dashboard answers everything under /developers. It is safe for concurrent use.
type Dashboard struct {
	queries   Queries
	publicURL string // without a last slash
	log       *slog.Logger
	clock     clock.Clock
	secure    bool

	views    *ui.Views
	assets   *ui.Assets
	sessions *scs.SessionManager
	gate     *gate
	handler  http.Handler
	stop     func()
}

// New parses the templates and starts the deletion of expired sessions, which
// [Dashboard.Close] ends.
func New(cfg Config) (*Dashboard, error) {
	if cfg.Queries == nil || cfg.DB == nil || cfg.Log == nil || cfg.Clock == nil || cfg.PublicURL == "" || cfg.Hint == nil || cfg.URLs == nil {
		return nil, errors.New("the dashboard needs Queries, DB, Log, Clock, PublicURL, Hint and URLs")
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
		queries: cfg.Queries, publicURL: strings.TrimSuffix(cfg.PublicURL, "/"), log: cfg.Log, clock: cfg.Clock, secure: cfg.Secure,
		sessions: newSessions(cfg.Secure), stop: func() {},
	}
	var err error
	if d.assets, err = ui.LoadAssets(pathRoot); err != nil {
		return nil, err
	}
	if d.views, err = ui.ParseViews(templateFiles); err != nil {
		return nil, err
	}
	if d.gate, err = newGate(cfg.Queries, cfg.Clock); err != nil {
		return nil, err
	}
	sections, err := newSections(cfg)
	if err != nil {
		return nil, err
	}
	d.handler = d.protect(d.routes(sections))
	return d, nil
}

// newSections are the groups of pages behind the sign-in.
func newSections(cfg Config) ([]ui.Section, error) {
	publicURL := strings.TrimSuffix(cfg.PublicURL, "/")
	first, err := overview.New(cfg.Queries, publicURL)
	if err != nil {
		return nil, err
	}
	spent, err := usage.New(cfg.Queries)
	if err != nil {
		return nil, err
	}
	attempts, err := deliveries.New(cfg.Queries, publicURL, cfg.Hint)
	if err != nil {
		return nil, err
	}
	apiKeys, err := keys.New(cfg.Queries, publicURL)
	if err != nil {
		return nil, err
	}
	people, err := contacts.New(cfg.Queries, cfg.Hint)
	if err != nil {
		return nil, err
	}
	sent, err := messages.New(cfg.Queries, cfg.Hint)
	if err != nil {
		return nil, err
	}
	work, err := jobs.New(cfg.Queries, cfg.Hint)
	if err != nil {
		return nil, err
	}
	flows, err := scenarios.New(cfg.Queries, cfg.URLs, cfg.Hint)
	if err != nil {
		return nil, err
	}
	receivers, err := endpoints.New(cfg.Queries, cfg.URLs, cfg.Hint)
	if err != nil {
		return nil, err
	}
	captured, err := inspector.New(cfg.Queries, cfg.Inspector, cfg.Hint)
	if err != nil {
		return nil, err
	}
	calls, err := requests.New(cfg.Queries, cfg.Hint)
	if err != nil {
		return nil, err
	}
	return []ui.Section{first, spent, calls, attempts, receivers, captured, apiKeys, people, sent, work, flows}, nil
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
func (d *Dashboard) routes(sections []ui.Section) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+d.assets.Prefix()+"{name}", d.assets)
	pages := map[string]ui.Page{
		"GET " + pathRoot:          toHome,
		"GET " + pathRoot + "/{$}": toHome,
		"GET " + pathSignIn:        d.signInPage,
		"POST " + pathSignIn:       d.signIn,
		"POST " + pathSignOut:      d.signOut,
		"POST " + pathPreferences:  d.setPreferences,
		"POST " + pathProject:      d.forMember(d.switchProject),
		"GET " + pathFind:          d.forMember(find),

		"GET " + pathAccount:                                 d.forMember(d.accountPage),
		"POST " + pathAccount + "/password":                  d.forMember(d.changePassword),
		"GET " + pathMembers:                                 d.forMember(d.membersPage),
		"POST " + pathMembers:                                d.forMember(forOwner(d.addMember)),
		"POST " + pathMembers + "/{id}/remove":               d.forMember(forOwner(d.removeMember)),
		"POST " + pathMembers + "/invitations/{id}/withdraw": d.forMember(forOwner(d.withdrawInvitation)),
		"GET " + pathInvitation + "{token}":                  d.invitationPage,
		"POST " + pathInvitation + "{token}":                 d.acceptInvitation,
	}
	for _, section := range sections {
		for pattern, page := range section.Pages() {
			pages[pattern] = d.forMember(page)
		}
	}
	for pattern, page := range pages {
		mux.Handle(pattern, d.withSession(page))
	}
	mux.Handle("/", d.withoutSession(func(*ui.Visit) (ui.Reply, error) { return ui.Reply{}, store.ErrNotFound }))
	return mux
}

func toHome(*ui.Visit) (ui.Reply, error) { return ui.Redirect(pathHome), nil }
