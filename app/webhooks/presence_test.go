package webhooks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// present starts the mark of a worker; it ends with the test.
func (e *engine) present() *store.Presence {
	e.t.Helper()
	p, err := e.store.NewPresence()
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, p.Close()) })
	e.confirm(p)
	return p
}

func (e *engine) confirm(p *store.Presence) {
	e.t.Helper()
	held, err := p.Confirm(e.t.Context())
	require.NoError(e.t, err)
	require.True(e.t, held)
}

// claimAs claims one due delivery as that worker.
func (e *engine) claimAs(p *store.Presence) store.Claimed {
	e.t.Helper()
	lane := store.Lane{ProjectID: e.project, EndpointID: e.endpoint}
	holder := p.ID.NewToken()
	mine, err := e.store.AcquireLane(e.t.Context(), lane, holder, time.Minute)
	require.NoError(e.t, err)
	require.True(e.t, mine)
	list, _, err := e.store.ClaimDue(e.t.Context(), store.ClaimRequest{
		Lane: lane, Holder: holder, Token: p.ID.NewToken(), Max: 1, Lease: time.Minute, LaneLease: time.Minute,
	})
	require.NoError(e.t, err)
	require.Len(e.t, list, 1)
	return list[0]
}

func (e *engine) absent() []store.WorkerID {
	e.t.Helper()
	list, err := e.store.AbsentWorkers(e.t.Context())
	require.NoError(e.t, err)
	return list
}

// A worker whose process is gone: what it held is sent by another within seconds,
// and its lane is drained. One that is there and says nothing, since it is frozen,
// keeps what it has for its whole lease.
func TestWhatAGoneWorkerHeldIsSentWithinSeconds(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	frozen, dying := e.present(), e.present()
	kept := e.publish()
	require.Equal(t, kept, e.claimAs(frozen).EventID)
	e.sql(`UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL`)
	lost := e.publish()
	require.Equal(t, lost, e.claimAs(dying).EventID)
	require.Empty(t, e.absent())
	require.NoError(t, dying.Close())
	require.Eventually(t, func() bool { return len(e.absent()) == 1 && e.absent()[0] == dying.ID }, soon, 10*time.Millisecond)

	e.worker()
	d := e.eventually(lost, models.DeliveryDelivered)
	require.Equal(t, []string{"worker_lost", ""}, d.Classes)
	require.Equal(t, 1, d.Step)
	require.Equal(t, models.DeliveryInFlight, e.delivery(kept).Status)
}

// PostgreSQL ended the session of a worker that lives: it is there again at its
// next word, and nothing of it is taken back.
func TestWorkerThatLosesItsSessionIsPresentAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	alive := e.present()
	event := e.publish()
	e.claimAs(alive)
	e.sql(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	require.Eventually(t, func() bool { return len(e.absent()) == 1 }, soon, 10*time.Millisecond)
	require.Eventually(t, func() bool { held, err := alive.Confirm(t.Context()); return err == nil && held }, soon, 10*time.Millisecond)
	require.Empty(t, e.absent())
	e.confirm(alive)
	count, err := e.store.TakeBack(t.Context(), time.Minute, e.absent(), 5, 10)
	require.NoError(t, err)
	require.Zero(t, count)
	require.Equal(t, models.DeliveryInFlight, e.delivery(event).Status)
}

// A claim of nobody's, made while its worker could not prove its presence, ends
// with its lease only.
func TestClaimsOfNobodyAreNeverAbsent(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.publish()
	e.claimAs(&store.Presence{})
	require.Empty(t, e.absent())
}
