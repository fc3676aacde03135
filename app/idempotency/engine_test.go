package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// bundle is a project of its own with an engine.
type bundle struct {
	project models.ProjectID
	store   *store.Store
	engine  *idempotency.Engine
	hints   atomic.Int64
	// unseen: its operations say that they only write.
	unseen bool
}

// bothWays runs a test of operations whose key is looked up first, and of ones
// that are tried in one round trip.
func bothWays(t *testing.T, test func(*testing.T, *bundle)) {
	t.Helper()
	for name, unseen := range map[string]bool{"looked up first": false, "unseen": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.unseen = unseen
			test(t, b)
		})
	}
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return setupAt(t, testenv.DatabaseURL(t))
}

func setupAt(t *testing.T, databaseURL string) *bundle {
	t.Helper()
	b := &bundle{store: openStore(t, databaseURL)}
	b.engine = newEngine(b.store, &b.hints)
	now := clock.System{}.Now()
	b.project = models.ProjectID(models.NewID(models.PrefixProject, now))
	_, err := b.store.Write(t.Context(), b.project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{
			Name: "Test", Mode: models.ModeLive, PlanID: "business", APIVersion: models.CurrentAPIVersion, CreatedAt: now,
		})
		return tx.CreateEndpoint(&models.WebhookEndpoint{
			ID: models.NewID(models.PrefixEndpoint, now), URL: "https://example.com", EventTypes: []string{"contact.*"},
			Status: models.EndpointActive, MaxInFlight: 10, CreatedAt: now,
		})
	})
	require.NoError(t, err)
	return b
}

func openStore(t *testing.T, databaseURL string) *store.Store {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: databaseURL, MaxConns: 10, Application: "test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newEngine(s *store.Store, hints *atomic.Int64) *idempotency.Engine {
	return newEngineWith(s, nil, hints)
}

func newEngineWith(s *store.Store, cache *idempotency.Cache, hints *atomic.Int64) *idempotency.Engine {
	render := func(err *models.Error, requestID string) models.Answer {
		return models.Answer{Status: err.Status(), Body: []byte(string(err.Code) + " " + requestID)}
	}
	hint := func(lanes []store.Lane) { hints.Add(int64(len(lanes))) }
	return idempotency.NewEngine(s, cache, render, hint, slog.New(slog.DiscardHandler))
}

func (b *bundle) operation(key, body string) idempotency.Operation {
	target, _ := url.Parse("/contacts")
	fingerprint := idempotency.NewFingerprint(http.MethodPost, target, "application/json")
	fingerprint.Write([]byte(body))
	return idempotency.Operation{
		Project: b.project, Key: key, Method: http.MethodPost, Path: "/contacts",
		Fingerprint: fingerprint.Sum(nil), RequestID: models.NewID(models.PrefixRequest, clock.System{}.Now()), TTL: time.Hour, WriteOnly: b.unseen,
	}
}

// create is an execution that writes a contact and its event.
func (b *bundle) create(externalID string) idempotency.Execution {
	return func(_ context.Context, tx *store.Tx) (models.Answer, error) {
		now := clock.System{}.Now()
		contact := &models.Contact{
			ID: models.NewID(models.PrefixContact, now), ExternalID: &externalID, Tags: []string{},
			Identities: map[string]string{}, Attributes: []byte("{}"), CreatedAt: now, UpdatedAt: now,
		}
		if err := tx.CreateContact(contact); err != nil {
			return models.Answer{}, err
		}
		event := &models.Event{
			ProjectID: b.project, ID: models.NewID(models.PrefixEvent, now), Type: models.EventContactCreated,
			Source: models.SourcePlatform, APIVersion: models.CurrentAPIVersion, CreatedAt: now,
		}
		if err := event.SetData([]byte(`{}`), models.Subject{}); err != nil {
			return models.Answer{}, err
		}
		tx.AppendEvent(event)
		return models.Answer{
			Status: http.StatusCreated, Header: http.Header{"Location": {"/contacts/" + contact.ID}}, Body: []byte(contact.ID),
		}, nil
	}
}

// effects counts what the project's operations left in the database.
type effects struct{ Contacts, Events, Deliveries, Keys int }

func (b *bundle) effects(t *testing.T) effects {
	t.Helper()
	var e effects
	err := b.store.DB().QueryRowContext(t.Context(), `
		SELECT (SELECT count(*) FROM contacts WHERE project_id = $1), (SELECT count(*) FROM events WHERE project_id = $1),
		       (SELECT count(*) FROM webhook_deliveries WHERE project_id = $1), (SELECT count(*) FROM idempotency_keys WHERE project_id = $1)`,
		string(b.project)).Scan(&e.Contacts, &e.Events, &e.Deliveries, &e.Keys)
	require.NoError(t, err)
	return e
}

func codeOf(t *testing.T, err error) models.Code {
	t.Helper()
	var known *models.Error
	require.ErrorAs(t, err, &known)
	return known.Code
}

func TestRepeatIsReplayedByteForByte(t *testing.T) {
	t.Parallel()
	bothWays(t, repeatIsReplayedByteForByte)
}

func repeatIsReplayedByteForByte(t *testing.T, b *bundle) {
	t.Helper()
	first := b.operation("k", "body")
	done, err := b.engine.Run(t.Context(), first, b.create("a"))
	require.NoError(t, err)
	require.False(t, done.Replayed)

	again, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("b"))
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, done.Answer, again.Answer)
	require.Equal(t, first.RequestID, again.FirstRequestID)
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
	require.EqualValues(t, 1, b.hints.Load(), "the endpoint is hinted once, after the commit")
}

func TestConcurrentRequestsWithOneKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	bothWays(t, concurrentRequestsWithOneKeyHaveOneEffect)
}

func concurrentRequestsWithOneKeyHaveOneEffect(t *testing.T, b *bundle) {
	t.Helper()
	other := newEngine(openStore(t, testenv.DatabaseURL(t)), &b.hints) // a second server
	var wg sync.WaitGroup
	var created, replayed, running atomic.Int64
	for i := range 50 {
		engine := []*idempotency.Engine{b.engine, other}[i%2]
		wg.Go(func() {
			result, err := engine.Run(context.Background(), b.operation("k", "body"), b.create("a"))
			switch {
			case err != nil && models.AsError(err).Code == models.CodeIdempotencyKeyRunning:
				running.Add(1)
			case err == nil && result.Replayed:
				replayed.Add(1)
			case err == nil:
				created.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, created.Load())
	require.EqualValues(t, 49, replayed.Load()+running.Load())
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
}

func TestRunningOperationRefusesAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	started, release := make(chan struct{}), make(chan struct{})
	finished := make(chan error, 1)
	go func() {
		_, err := b.engine.Run(context.Background(), b.operation("k", "body"), func(ctx context.Context, tx *store.Tx) (models.Answer, error) {
			close(started)
			<-release
			return b.create("a")(ctx, tx)
		})
		finished <- err
	}()
	<-started
	_, err := b.engine.Run(t.Context(), b.operation("k", "another body"), b.create("b"))
	require.Equal(t, models.CodeIdempotencyKeyRunning, codeOf(t, err))
	require.Equal(t, 5*time.Second, models.AsError(err).RetryAfter)
	require.Equal(t, models.OutcomeUnknown, models.AsError(err).Applied())
	close(release)
	require.NoError(t, <-finished)
}

func TestKeyBelongsToItsRequest(t *testing.T) {
	t.Parallel()
	bothWays(t, keyBelongsToItsRequest)
}

func keyBelongsToItsRequest(t *testing.T, b *bundle) {
	t.Helper()
	_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.NoError(t, err)
	_, err = b.engine.Run(t.Context(), b.operation("k", "other"), b.create("b"))
	require.Equal(t, models.CodeIdempotencyKeyReuse, codeOf(t, err))
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
}

func TestKeysOfTwoProjectsNeverMeet(t *testing.T) {
	t.Parallel()
	a, b := setup(t), setup(t)
	for _, x := range []*bundle{a, b} {
		result, err := x.engine.Run(t.Context(), x.operation("k", "body"), x.create("a"))
		require.NoError(t, err)
		require.False(t, result.Replayed)
	}
}

// A business refusal found by a constraint at the commit leaves no trace of the
// operation but its answer, and replays as that answer.
func TestBusinessRefusalIsStoredAlone(t *testing.T) {
	t.Parallel()
	bothWays(t, businessRefusalIsStoredAlone)
}

func businessRefusalIsStoredAlone(t *testing.T, b *bundle) {
	t.Helper()
	_, err := b.engine.Run(t.Context(), b.operation("k1", "body"), b.create("taken"))
	require.NoError(t, err)

	refused, err := b.engine.Run(t.Context(), b.operation("k2", "body"), b.create("taken"))
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, refused.Answer.Status)
	require.Contains(t, string(refused.Answer.Body), models.CodeContactExists)
	require.Equal(t, effects{Contacts: 1, Events: 1, Deliveries: 1, Keys: 2}, b.effects(t))

	again, err := b.engine.Run(t.Context(), b.operation("k2", "body"), b.create("free"))
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, refused.Answer.Body, again.Answer.Body)
	require.Equal(t, effects{Contacts: 1, Events: 1, Deliveries: 1, Keys: 2}, b.effects(t))
}

func TestWhatIsNotStoredLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	failures := map[string]struct {
		fail func() error
		code models.Code
	}{
		"validation": {func() error { return models.Invalid() }, models.CodeValidationFailed},
		"fault":      {func() error { return errors.New("boom") }, models.CodeInternalError},
		"panic":      {func() error { panic("boom") }, models.CodeInternalError},
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, b *bundle) {
				_, err := b.engine.Run(t.Context(), b.operation("k", "body"), func(ctx context.Context, tx *store.Tx) (models.Answer, error) {
					_, _ = b.create("a")(ctx, tx)
					return models.Answer{}, failure.fail()
				})
				require.Equal(t, failure.code, codeOf(t, err))
				require.Equal(t, effects{}, b.effects(t))

				_, err = b.engine.Run(t.Context(), b.operation("k", "corrected"), b.create("a"))
				require.NoError(t, err)
			})
		})
	}
}

func TestExpiredKeyNeverExecutesUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	bothWays(t, expiredKeyNeverExecutesUntilItIsForgotten)
}

func expiredKeyNeverExecutesUntilItIsForgotten(t *testing.T, b *bundle) {
	t.Helper()
	_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.NoError(t, err)

	b.age(t, "1 second")
	_, err = b.engine.Run(t.Context(), b.operation("k", "body"), b.create("b"))
	require.Equal(t, models.CodeIdempotencyKeyExpired, codeOf(t, err))
	require.Equal(t, models.Applied, models.AsError(err).Applied())
	require.Contains(t, models.AsError(err).Detail, "/contacts/ctc_")
	_, err = b.engine.Run(t.Context(), b.operation("k", "other"), b.create("b"))
	require.Equal(t, models.CodeIdempotencyKeyReuse, codeOf(t, err))

	b.age(t, "7 days 1 second")
	result, err := b.engine.Run(t.Context(), b.operation("k", "other"), b.create("b"))
	require.NoError(t, err)
	require.False(t, result.Replayed)
	require.Equal(t, effects{2, 2, 2, 1}, b.effects(t))
}

// A key whose tombstone's time is over is free for whatever comes of it, a stored
// refusal included, whether or not the purge has been there.
func TestForgottenKeyTakesARefusal(t *testing.T) {
	t.Parallel()
	refusals := map[string]func(*bundle) idempotency.Execution{
		"returned": func(*bundle) idempotency.Execution {
			return func(context.Context, *store.Tx) (models.Answer, error) {
				return models.Answer{}, models.NewError(models.CodeNotFound, "gone")
			}
		},
		"by a constraint": func(b *bundle) idempotency.Execution { return b.create("taken") },
	}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, b *bundle) {
				_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("taken"))
				require.NoError(t, err)
				b.age(t, "7 days 1 second")
				refused, err := b.engine.Run(t.Context(), b.operation("k", "other"), refusal(b))
				require.NoError(t, err)
				require.GreaterOrEqual(t, refused.Answer.Status, 400)
				again, err := b.engine.Run(t.Context(), b.operation("k", "other"), refusal(b))
				require.NoError(t, err)
				require.True(t, again.Replayed)
			})
		})
	}
}

// When the key could not even be looked up, an earlier try may have been applied.
func TestUnreachableDatabaseSpeaksOfThisRequestOnly(t *testing.T) {
	t.Parallel()
	postgres := testenv.PrivatePostgres(t)
	b := setupAt(t, postgres.URL(localstack.DefaultDatabase))
	b.unseen = true // unlike one that looks first, it has only one round trip to notice
	require.NoError(t, postgres.Kill())
	_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err))
	require.True(t, models.AsError(err).Early)
}

// What an execution waits for in the database may not come in time, or the
// database go away under it: that is no fault in the request's way of being
// carried out, and the caller is told when to try again.
func TestDatabaseThatFailsAnExecutionIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held, done := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		_, _ = b.store.Write(t.Context(), b.project, func(tx *store.Tx) error {
			_, err := tx.LockContactByExternalID(t.Context(), "wanted")
			close(held)
			<-done
			return err
		})
	})
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := b.engine.Run(ctx, b.operation("k", "x"), func(ctx context.Context, tx *store.Tx) (models.Answer, error) {
		_, err := tx.LockContactByExternalID(ctx, "wanted")
		return models.Answer{}, err
	})
	close(done)
	holder.Wait()
	require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err))
	known := models.AsError(err)
	require.Equal(t, models.NotApplied, known.Applied())
	require.Positive(t, known.RetryAfter)
	require.Eventually(t, func() bool { // the session ends when it notices that nobody listens
		_, err = b.engine.Run(t.Context(), b.operation("k", "x"), b.create("wanted"))
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "the key is free")
}

// age makes the project's keys expire the given time ago.
func (b *bundle) age(t *testing.T, ago string) {
	t.Helper()
	_, err := b.store.DB().ExecContext(t.Context(),
		`UPDATE idempotency_keys SET expires_at = now() - $2::interval WHERE project_id = $1`, string(b.project), ago)
	require.NoError(t, err)
}

// The answer to COMMIT is lost on the way back: the engine finds on another
// connection what the database decided, and says that.
func TestLostCommitIsSettled(t *testing.T) {
	t.Parallel()
	committed := func(t *testing.T, result idempotency.Result, err error) {
		t.Helper()
		require.NoError(t, err)
		require.False(t, result.Replayed, "it is the first answer, not a repeat")
		require.Equal(t, http.StatusCreated, result.Answer.Status)
	}
	rolledBack := func(t *testing.T, _ idempotency.Result, err error) {
		t.Helper()
		require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err))
		require.Equal(t, models.NotApplied, models.AsError(err).Applied())
	}
	tests := map[string]struct {
		deliver bool // whether COMMIT still reaches PostgreSQL
		unseen  bool
		check   func(*testing.T, idempotency.Result, error)
		want    effects
	}{
		"committed":           {true, false, committed, effects{1, 1, 1, 1}},
		"committed, unseen":   {true, true, committed, effects{1, 1, 1, 1}},
		"rolled back":         {false, false, rolledBack, effects{}},
		"rolled back, unseen": {false, true, rolledBack, effects{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := newCommitCutter(t, testenv.DatabaseURL(t), test.deliver)
			b := setupAt(t, proxy.url)
			b.unseen = test.unseen
			_, err := b.engine.Run(t.Context(), b.operation("warm-up", "body"), func(context.Context, *store.Tx) (models.Answer, error) {
				return models.Answer{}, models.Invalid()
			})
			require.Error(t, err)
			proxy.armed.Store(true)
			result, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
			require.True(t, proxy.cut.Load(), "the connection was cut at COMMIT")
			test.check(t, result, err)
			require.Equal(t, test.want, b.effects(t))
		})
	}
}

// What was sent whole may reach PostgreSQL after its connection was given up and
// the operation answered for: it then has no effect that the caller was told it
// does not have.
func TestLostCommitThatArrivesLateHasNoEffect(t *testing.T) {
	t.Parallel()
	proxy := newCommitCutter(t, testenv.DatabaseURL(t), true)
	b := setupAt(t, proxy.url)
	b.unseen = true
	arrive := make(chan struct{})
	proxy.late = arrive
	proxy.armed.Store(true)
	_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err))
	require.Equal(t, models.NotApplied, models.AsError(err).Applied())

	close(arrive)
	require.Eventually(t, proxy.cut.Load, 10*time.Second, time.Millisecond, "PostgreSQL has ended what arrived late")
	require.Equal(t, effects{}, b.effects(t))
}

// commitCutter is a proxy in front of PostgreSQL that, once armed, cuts the
// first connection that sends COMMIT: before or after passing it on, but
// always before its answer.
type commitCutter struct {
	url     string
	target  string
	deliver bool
	late    <-chan struct{} // not nil: it is passed on only then, long after the cut
	armed   atomic.Bool
	cut     atomic.Bool
}

func newCommitCutter(t *testing.T, databaseURL string, deliver bool) *commitCutter {
	t.Helper()
	parsed, err := url.Parse(databaseURL)
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	c := &commitCutter{target: parsed.Host, deliver: deliver}
	parsed.Host = listener.Addr().String()
	c.url = parsed.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	return c
}

func (c *commitCutter) serve(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", c.target)
	if err != nil {
		_ = client.Close()
		return
	}
	defer func() { _ = client.Close() }()
	defer func() { _ = server.Close() }()
	link := &link{client: client, server: server, committed: make(chan struct{})}
	go link.answers()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		// Only the batch that ends in COMMIT names the operation's path.
		last := bytes.Contains(buffer[:n], []byte("/contacts")) && c.armed.CompareAndSwap(true, false)
		link.muted.Store(link.muted.Load() || last)
		if last && !c.deliver {
			c.cut.Store(true)
			return
		}
		if last && c.late != nil {
			_ = client.Close()
			<-c.late
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if last {
			<-link.committed
			c.cut.Store(true)
			return
		}
	}
}

// link carries PostgreSQL's answers back, until it is muted: from then on it
// only looks for the end of what it says to the batch that ends in COMMIT.
type link struct {
	client, server net.Conn
	muted          atomic.Bool
	committed      chan struct{}
}

func (l *link) answers() {
	readyForQuery := []byte{'Z', 0, 0, 0, 5} // PostgreSQL's protocol, message formats
	defer close(l.committed)
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buffer)
		if err != nil || (l.muted.Load() && bytes.Contains(buffer[:n], readyForQuery)) {
			return
		}
		if l.muted.Load() {
			continue
		}
		if _, err := l.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
