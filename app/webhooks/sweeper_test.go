package webhooks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

// A worker takes back by itself what another one lost, and sends it.
func TestWorkerSendsWhatALostWorkerHeld(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	e.claim()
	e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '1 second'`)
	e.sql(`UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL`)
	e.worker()
	require.Equal(t, []int64{1, 2}, e.eventually(event, models.DeliveryDelivered).Numbers)
}
