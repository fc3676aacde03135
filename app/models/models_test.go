package models_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

func TestAPIKeyChecksumCatchesATypo(t *testing.T) {
	t.Parallel()
	key, err := models.NewAPIKeySecret(models.ModeTest)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(key, "btx_test_"))
	require.True(t, models.WellFormedAPIKey(key))
	for i := range key {
		mistyped := key[:i] + "x" + key[i+1:]
		if mistyped != key {
			require.False(t, models.WellFormedAPIKey(mistyped), "a typo at %d", i)
		}
	}
	for _, bad := range []string{"", "btx_", "btx_live_", key + "a", key[:len(key)-1], "btx_prod_" + key[9:], strings.ToUpper(key)} {
		require.False(t, models.WellFormedAPIKey(bad), bad)
	}
}

func FuzzWellFormedAPIKey(f *testing.F) {
	f.Add("btx_live_0000000000000000000000000000000000000000")
	f.Fuzz(func(_ *testing.T, key string) { models.WellFormedAPIKey(key) }) // must not panic
}

func TestIDsSortByTimeAndAreChecked(t *testing.T) {
	t.Parallel()
	early := models.NewID(models.PrefixEvent, time.UnixMilli(1000))
	late := models.NewID(models.PrefixEvent, time.UnixMilli(1001))
	require.Less(t, early, late)
	require.True(t, models.ValidID(models.PrefixEvent, early))
	for _, bad := range []string{"", "evt_", "ctc_" + early[4:], early + "0", "evt_" + strings.Repeat("I", 26), strings.ToLower(early)} {
		require.False(t, models.ValidID(models.PrefixEvent, bad), bad)
	}
}

func TestSubscriptionsToMatchEveryLevel(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, []string{"a.b.c", "*", "a.*", "a.b.*"}, models.SubscriptionsTo("a.b.c"))
}

func TestSubscriptionForm(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"*", "contact.*", "a.b.*", "a.b.c.d.*", "contact.created"} {
		require.True(t, models.ValidSubscription(good), good)
	}
	for _, bad := range []string{"", "contact", ".*", "*.created", "contact.*.x", "a.b.c.d.e.*", "a*", "Contact.*", strings.Repeat("a", 99) + ".*"} {
		require.False(t, models.ValidSubscription(bad), bad)
	}
}

func TestEventTypeForm(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"payment.succeeded", "a.b", "a1_.2.3.4.5", "a." + strings.Repeat("b", 98)} {
		require.True(t, models.ValidEventType(good), good)
	}
	for _, bad := range []string{"", "payment", "Payment.x", "1a.b", "a..b", "a.b.c.d.e.f", "a.b-", ".a", "a.", "a." + strings.Repeat("b", 99)} {
		require.False(t, models.ValidEventType(bad), bad)
	}
}

func TestLargeEventTravelsWithoutItsData(t *testing.T) {
	t.Parallel()
	build := func(size int) *models.Event {
		e := &models.Event{ID: "evt_1", Type: "a.b", APIVersion: models.CurrentAPIVersion, ProjectID: "prj_1", CreatedAt: time.Unix(0, 0)}
		data, err := json.Marshal(strings.Repeat("x", size))
		require.NoError(t, err)
		require.NoError(t, e.SetData(data, models.Subject{ID: "ctc_1", Object: "contact"}))
		return e
	}
	fits := build(1000)
	largest := 1000 + models.MaxEventBody - len(fits.Body)
	require.Len(t, build(largest).Body, models.MaxEventBody)
	require.Nil(t, build(largest).Data)

	over := build(largest + 1)
	require.Less(t, len(over.Body), 1000)
	require.NotNil(t, over.Data, "GET /events/{id} keeps the full data")
	var body struct {
		CreatedAt string `json:"created_at"`
		Data      struct {
			ID, Object, URL string
			Truncated       bool
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(over.Body, &body))
	require.Equal(t, "1970-01-01T00:00:00.000Z", body.CreatedAt)
	require.True(t, body.Data.Truncated)
	require.Equal(t, "/events/evt_1", body.Data.URL)
}

// The rules of contract §3 about what is stored, over the whole catalogue.
func TestCatalogueKeepsTheContract(t *testing.T) {
	t.Parallel()
	seen := map[models.Code]bool{}
	for _, entry := range models.Catalogue() {
		require.False(t, seen[entry.Code], entry.Code)
		seen[entry.Code] = true
		switch entry.Status {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
			http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
			require.False(t, entry.Stored, "%s must leave the key free", entry.Code)
		}
		if entry.Status >= http.StatusInternalServerError {
			require.False(t, entry.Stored, "%s: 5xx are never stored", entry.Code)
			require.True(t, entry.Retryable, "%s", entry.Code)
		}
		if entry.Stored {
			require.Equal(t, models.NotApplied, entry.Outcome, "%s: a stored 4xx applied nothing", entry.Code)
		}
	}
}

func TestUnknownErrorsAreInternalAndSayNothing(t *testing.T) {
	t.Parallel()
	secret := errors.New("password=hunter2")
	known := models.AsError(fmt.Errorf("query: %w", secret))
	require.Equal(t, models.CodeInternalError, known.Code)
	require.NotContains(t, known.Detail, "hunter2")
	require.ErrorIs(t, known, secret, "the log has the cause")

	conflict := models.NewError(models.CodeContactExists, "taken")
	require.Same(t, conflict, models.AsError(fmt.Errorf("create: %w", conflict)))
}

func TestDeliveryMachine(t *testing.T) {
	t.Parallel()
	for _, from := range models.DeliveryStatuses() {
		require.True(t, from == models.DeliveryDelivered || from.CanBecome(models.DeliveryDelivered), "a late 2xx delivers from %s", from)
		require.False(t, from.CanBecome(from), "%s", from)
		if from.Due() {
			require.True(t, from.CanBecome(models.DeliveryInFlight))
			require.True(t, from.CanBecome(models.DeliveryHeld))
			require.True(t, from.CanBecome(models.DeliveryCancelled))
		} else {
			require.False(t, from.CanBecome(models.DeliveryInFlight), "only what is due is sent; %s is not", from)
		}
	}
	require.False(t, models.DeliveryDelivered.CanBecome(models.DeliveryDeadLetter), "a delivered one is never dead-lettered")
	require.False(t, models.DeliveryCancelled.CanBecome(models.DeliveryPending))
}

func TestPlanLimitsAreChecked(t *testing.T) {
	t.Parallel()
	limits, err := models.ParsePlanLimits([]byte(`{"api_rate_per_minute": 60, "idempotency_ttl_hours": 24, "dead_letter_retention_days": 14}`))
	require.NoError(t, err)
	require.Equal(t, 24*time.Hour, limits.IdempotencyTTL())
	_, err = models.ParsePlanLimits([]byte(`{"api_rate_per_minute": 0, "idempotency_ttl_hours": 73}`))
	for _, name := range []string{"api_rate_per_minute", "idempotency_ttl_hours", "dead_letter_retention_days"} {
		require.ErrorContains(t, err, name)
	}
}

func TestKeyIsUsableUntilItExpiresOrIsRevoked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	later := now.Add(time.Minute)
	require.True(t, models.APIKey{}.Usable(now))
	require.True(t, models.APIKey{ExpiresAt: &later}.Usable(now))
	require.False(t, models.APIKey{ExpiresAt: &now}.Usable(now))
	require.False(t, models.APIKey{RevokedAt: &now}.Usable(now))
}

// Versions are dates, the newest first, and each says what it changed.
func TestChangelogIsInOrder(t *testing.T) {
	t.Parallel()
	require.Equal(t, models.CurrentAPIVersion, models.Changelog()[0].Version)
	before := "9999-12-31"
	for _, entry := range models.Changelog() {
		_, err := time.Parse(time.DateOnly, entry.Version)
		require.NoError(t, err)
		require.Less(t, entry.Version, before)
		require.NotEmpty(t, entry.Changes)
		before = entry.Version
	}
}

func TestQuantilesComeFromTheBuckets(t *testing.T) {
	t.Parallel()
	r := models.Rollup{Answered: 100, Latencies: map[int]int64{0: 50, 3: 45, 17: 5}}
	require.Equal(t, 5, r.Quantile(0.5))
	require.Equal(t, 35, r.Quantile(0.95))
	require.Equal(t, 40000, r.Quantile(0.99), "beyond the last bound is told as that bound")
	require.Zero(t, models.Rollup{}.Quantile(0.5))
}

func TestFirstIDSeparatesEarlierFromLater(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	first := models.FirstID(models.PrefixEvent, at)
	require.Less(t, models.NewID(models.PrefixEvent, at.Add(-time.Millisecond)), first)
	require.LessOrEqual(t, first, models.NewID(models.PrefixEvent, at))
}

// Every run can be cancelled until it is over, only a running one can end by
// itself, and what is over stays; the same for its steps.
func TestRunMachine(t *testing.T) {
	t.Parallel()
	for _, from := range models.RunStatuses() {
		over := slices.Contains([]models.RunStatus{models.RunCompleted, models.RunFailed, models.RunCancelled}, from)
		require.Equal(t, over, from.Over(), from)
		require.Equal(t, !over, from.CanBecome(models.RunCancelled), from)
		for _, end := range []models.RunStatus{models.RunCompleted, models.RunFailed} {
			require.Equal(t, from == models.RunRunning, from.CanBecome(end), "%s to %s", from, end)
		}
	}
	for _, from := range models.RunStepStatuses() {
		begun := from == models.StepRunning || from == models.StepWaiting
		require.Equal(t, begun, from.CanBecome(models.StepCancelled), from)
		require.Equal(t, !begun && from != models.StepPending, from.Over(), from)
	}
	require.False(t, models.ScenarioActive.CanBecome(models.ScenarioDraft), "what was run is no draft any more")
	require.False(t, models.ScenarioDraft.CanBecome(models.ScenarioDraft))
}
