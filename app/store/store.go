package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/seal"
)

// ErrNotFound is returned when a row does not exist in the project asked for.
// Unhandled, it answers NOT_FOUND: another project's row looks like none.
var ErrNotFound error = models.NewError(models.CodeNotFound, "There is no such object in this project.")

// Config says how to reach PostgreSQL.
type Config struct {
	URL string // postgres://…
	// MaxConns is the size of this process's pool. Servers × MaxConns plus
	// workers × MaxConns must stay below the server's max_connections.
	MaxConns int
	// Application is shown in pg_stat_activity.
	Application string
}

// sessionSettings bound what a lost host, a stuck client or a forgotten
// transaction can hold: without them an advisory lock, and with it an
// idempotency key, could stay taken for ever (contract §3: free within 35
// seconds, of which one is for PostgreSQL to notice).
var sessionSettings = map[string]string{
	"timezone":                            "UTC",
	"synchronous_commit":                  "on",
	"client_connection_check_interval":    "1s",
	"idle_in_transaction_session_timeout": "34s",
	"statement_timeout":                   "30s",
	"lock_timeout":                        "10s",
	"tcp_keepalives_idle":                 "10",
	"tcp_keepalives_interval":             "5",
	"tcp_keepalives_count":                "3",
}

// Store answers questions about the database. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	gorm  *gorm.DB
	box   *seal.Box
	cfg   Config
	known atomic.Pointer[knowledge] // nil: nothing
}

// Open connects to PostgreSQL and checks that it answers. The box encrypts
// secrets at rest.
func Open(ctx context.Context, cfg Config, box *seal.Box) (*Store, error) {
	s := &Store{box: box, cfg: cfg}
	db, err := openPool(cfg, s.learnFrom)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("reach PostgreSQL: %w", err), db.Close())
	}
	g, err := gorm.Open(postgres.New(postgres.Config{Conn: db}), &gorm.Config{
		SkipDefaultTransaction: true,
		QueryFields:            true, // no SELECT *: a new column must not break a cached plan
		DisableAutomaticPing:   true,
		NowFunc:                clock.System{}.Now,
		// Parameters can be secrets or personal data: they never reach a log.
		Logger: logger.NewSlogLogger(slog.Default(), logger.Config{
			SlowThreshold: time.Second, LogLevel: logger.Warn, IgnoreRecordNotFoundError: true, ParameterizedQueries: true,
		}),
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare GORM: %w", err), db.Close())
	}
	s.db, s.gorm = db, g
	return s, nil
}

// openPool opens a pool whose every new connection runs connected first.
func openPool(cfg Config, connected func(context.Context, *pgx.Conn) error) (*sql.DB, error) {
	conn, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("parse the database URL: %w", err)
	}
	for name, value := range sessionSettings {
		conn.RuntimeParams[name] = value
	}
	conn.RuntimeParams["application_name"] = cfg.Application
	conn.ConnectTimeout = 5 * time.Second
	db := stdlib.OpenDB(*conn, stdlib.OptionAfterConnect(connected), stdlib.OptionResetSession(intact))
	db.SetMaxOpenConns(cfg.MaxConns)
	db.SetMaxIdleConns(cfg.MaxConns)
	db.SetConnMaxLifetime(30 * time.Minute)
	return db, nil
}

// intact keeps a connection that the server has ended from being used again: a
// transaction sent on it whole would leave its outcome unknown.
func intact(_ context.Context, c *pgx.Conn) error {
	if broken(c.PgConn().Conn()) {
		return driver.ErrBadConn
	}
	return nil
}

// OpenUnbounded opens a pool whose sessions have the server's own settings
// instead of the platform's bounds, for migrations.
func OpenUnbounded(url string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("parse the database URL: %w", err)
	}
	return stdlib.OpenDB(*config), nil
}

// DB is the process's one pool, for libraries that need it (migrations, the
// session store).
func (s *Store) DB() *sql.DB { return s.db }

// Ping asks PostgreSQL for an answer.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return fmt.Errorf("ping PostgreSQL: %w", err)
	}
	return nil
}

// Close closes the pool. A connection that had broken before is closed enough.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the pool: %w", err)
	}
	return nil
}

// read returns a GORM handle for one query.
func (s *Store) read(ctx context.Context) *gorm.DB { return s.gorm.WithContext(ctx) }

// backgroundTimeout bounds a question that nobody else has bounded: when
// PostgreSQL's host vanishes, the kernel would wait for a quarter of an hour.
const backgroundTimeout = 20 * time.Second

// withConn runs fn on one native connection of the pool, outside a transaction.
func (s *Store) withConn(ctx context.Context, fn func(*pgx.Conn) error) error {
	if _, bounded := ctx.Deadline(); !bounded {
		return s.withinTimeout(ctx, fn)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take a connection: %w", err)
	}
	defer func() { _ = conn.Close() }() // hands it back; nothing to report
	return native(conn, fn)
}

// withinTimeout closes the connection when the time is over, which ends
// whatever waits for it.
func (s *Store) withinTimeout(ctx context.Context, fn func(*pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	return s.withConn(ctx, func(c *pgx.Conn) error {
		stop := context.AfterFunc(ctx, func() { _ = c.PgConn().Conn().Close() })
		defer stop()
		return fn(c)
	})
}

// native gives fn the pgx connection under a database/sql one.
func native(conn *sql.Conn, fn func(*pgx.Conn) error) error {
	return conn.Raw(func(driver any) error {
		return fn(driver.(*stdlib.Conn).Conn()) //nolint:forcetypeassert // openPool uses no other driver
	})
}

func notFound(what string) error {
	return fmt.Errorf("%s: %w", what, ErrNotFound)
}

// one maps GORM's "record not found" to ErrNotFound and translates the rest.
func one(err error, what string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound):
		return notFound(what)
	default:
		return fmt.Errorf("read %s: %w", what, translate(err))
	}
}

// secretOwner binds a sealed value to the row it stands in.
func secretOwner(table string, project models.ProjectID, id string) string {
	return table + "/" + string(project) + "/" + id
}
