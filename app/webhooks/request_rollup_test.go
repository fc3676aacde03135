package webhooks_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
)

// Batches come from several servers at once, in any order, and again after a
// commit that was not answered: each request counts once, and nobody waits in a
// circle.
func TestRequestsCountOnceHoweverOftenTheirBatchComes(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	now := clock.System{}.Now().UTC()
	batch := func(server int) []models.RequestRecord {
		var records []models.RequestRecord
		for i := range 60 {
			at := now.Add(-time.Duration((i*server)%50) * time.Minute)
			records = append(records, models.RequestRecord{
				ProjectID: e.project, RequestID: models.NewID(models.PrefixRequest, at), KeyID: []string{"key_1", "key_2"}[i%2], Method: "GET",
				Route: "/contacts", Status: []int{200, 201, 404, 429, 503}[i%5], Replayed: i%10 == 1, At: at,
			})
		}
		return records
	}
	var wg sync.WaitGroup
	for server := range 4 {
		records := batch(server + 1)
		for range 3 {
			wg.Go(func() { require.NoError(t, e.store.RecordRequests(t.Context(), records)) })
		}
	}
	wg.Wait()
	require.Equal(t, 240, e.count("request_log"))
	require.Equal(t, e.text(`SELECT string_agg(concat_ws(' ', h, ok, again, refused, limited, failed), E'\n' ORDER BY h) FROM (
		SELECT date_trunc('hour', at) AS h, count(*) FILTER (WHERE status < 400 AND NOT replayed) AS ok, count(*) FILTER (WHERE replayed) AS again,
		       count(*) FILTER (WHERE status = 404 AND NOT replayed) AS refused, count(*) FILTER (WHERE status = 429 AND NOT replayed) AS limited,
		       count(*) FILTER (WHERE status = 503 AND NOT replayed) AS failed FROM request_log GROUP BY 1) AS l`),
		e.text(`SELECT string_agg(concat_ws(' ', hour, succeeded, replayed, refused, limited, failed), E'\n' ORDER BY hour) FROM request_rollups`))
	require.Equal(t, e.text(`SELECT string_agg(concat_ws(' ', m, key_id, ok, limited), E'\n' ORDER BY m, key_id) FROM (
		SELECT date_trunc('minute', at) AS m, key_id, count(*) FILTER (WHERE status <> 429) AS ok, count(*) FILTER (WHERE status = 429) AS limited
		FROM request_log GROUP BY 1, 2) AS l`),
		e.text(`SELECT string_agg(concat_ws(' ', minute, key_id, admitted, limited), E'\n' ORDER BY minute, key_id) FROM request_minutes`))
}

func TestOldSumsOfRequestsAreDropped(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.sql(`INSERT INTO request_rollups SELECT $1, date_trunc('hour', now()) - make_interval(days => d), 1, 0, 0, 0, 0 FROM unnest(ARRAY[20, 399, 401]) d`, string(e.project))
	dropped, err := e.store.DropRollups(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, dropped)
	require.Equal(t, 2, e.count("request_rollups"), "kept for 400 days")
}
