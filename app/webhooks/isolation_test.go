package webhooks_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
)

// More endpoints hang than a worker has places for drains: a healthy endpoint's
// delivery goes out all the same.
func TestHungEndpointsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	release, hung := make(chan struct{}), make(chan struct{}, 100)
	e := newEngine(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hung" {
			hung <- struct{}{}
			<-release
		}
	})
	defer close(release)
	e.worker()
	e.hints()
	const endpoints = 20 // the worker has 8 places for hints and 8 for its sweeper
	e.hinter.Hint(e.otherTenant(endpoints, "/hung"))
	for range endpoints {
		<-hung
	}
	event := e.publish()
	began := time.Now()
	e.eventually(event, models.DeliveryDelivered)
	require.Less(t, time.Since(began), 5*time.Second, "not the hung ones' 30 seconds")
}

// otherTenant makes a project with so many endpoints and an event for them all.
func (e *engine) otherTenant(endpoints int, path string) []store.Lane {
	e.t.Helper()
	now := clock.System{}.Now()
	project := models.ProjectID(models.NewID(models.PrefixProject, now))
	lanes, err := e.store.Write(e.t.Context(), project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Other", Mode: models.ModeLive, PlanID: "trial", APIVersion: models.CurrentAPIVersion, CreatedAt: now})
		for range endpoints {
			if err := tx.CreateEndpoint(&models.WebhookEndpoint{
				ID: models.NewID(models.PrefixEndpoint, now), URL: e.receiver.server.URL + path, EventTypes: []string{"*"},
				Status: models.EndpointActive, MaxInFlight: 1, CreatedAt: now,
				Secrets: []models.EndpointSecret{{Value: webhooks.NewSecret().Reveal()}},
			}); err != nil {
				return err
			}
		}
		event := &models.Event{
			ProjectID: project, ID: models.NewID(models.PrefixEvent, now), Type: "order.paid", Source: models.SourceAPI,
			APIVersion: models.CurrentAPIVersion, CreatedAt: now,
		}
		if err := event.SetData([]byte(`{}`), models.Subject{}); err != nil {
			return err
		}
		tx.AppendEvent(event)
		return nil
	})
	require.NoError(e.t, err)
	return lanes
}

// A claim that began while the endpoint was paused, and a resume that commits
// meanwhile: whichever is first, nothing stays held on an active endpoint.
func TestClaimAndResumeExcludeEachOther(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.sql(`UPDATE webhook_endpoints SET status = 'paused'`)
	event := e.publish()
	lane := store.Lane{ProjectID: e.project, EndpointID: e.endpoint}
	holder := uuid.NewString()
	mine, err := e.store.AcquireLane(t.Context(), lane, holder, time.Minute)
	require.NoError(t, err)
	require.True(t, mine)

	// Somebody has the lane's row, so that the claim stands still with its
	// snapshot taken while the resume goes past it.
	knock, err := e.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = knock.ExecContext(t.Context(), `UPDATE webhook_lanes SET again = again`)
	require.NoError(t, err)
	claimed := make(chan error, 1)
	go func() {
		_, _, err := e.store.ClaimDue(context.Background(), store.ClaimRequest{Lane: lane, Holder: holder, Token: uuid.NewString(), Max: 1, Lease: time.Minute, LaneLease: time.Minute})
		claimed <- err
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := e.store.DB().QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT l.granted AND a.datname = current_database())`).Scan(&waiting)
		return err == nil && waiting
	}, soon, 5*time.Millisecond)
	_, err = e.store.Write(t.Context(), e.project, func(tx *store.Tx) error {
		endpoint, err := tx.LockEndpoint(t.Context(), e.endpoint)
		if err != nil {
			return err
		}
		endpoint.Status = models.EndpointActive
		held := models.HeldRelease{EndpointID: e.endpoint, To: models.DeliveryPending}
		return errors.Join(tx.ReleaseAllHeld(t.Context(), held, models.Job{}), tx.UpdateEndpoint(endpoint))
	})
	require.NoError(t, err)
	require.NoError(t, knock.Commit())
	require.NoError(t, <-claimed)
	require.NotEqual(t, models.DeliveryHeld, e.delivery(event).Status)
}
