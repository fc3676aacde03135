package dashtest

import (
	"encoding/json"
	"math"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// historyDays is how far back [Site.History] goes: two of the longest ranges.
const historyDays = 28

// NewEndpoint makes an active endpoint in the site's project.
func (s *Site) NewEndpoint(url, description string) *models.WebhookEndpoint {
	s.t.Helper()
	at := clock.System{}.Now()
	e := &models.WebhookEndpoint{
		ProjectID: s.Project.ID, ID: models.NewID(models.PrefixEndpoint, at), URL: url, Description: description, Version: 1,
		EventTypes: []string{"contact.*", "message.delivered"}, Status: models.EndpointActive, MaxInFlight: models.DefaultMaxInFlight,
		Secrets: []models.EndpointSecret{{Value: "whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZA=="}},
		Headers: map[string]string{"Authorization": "a secret value"}, CreatedAt: at, UpdatedAt: at, StatusSince: at,
	}
	s.Write(s.Project.ID, func(tx *store.Tx) error { return tx.CreateEndpoint(e) })
	return e
}

// History plants four weeks of hourly sums: attempts of the endpoints, of which
// the first had a bad night two days ago and the last fails a little all the time,
// and API requests of a key, which came near its limit a few minutes ago.
func (s *Site) History(key string, endpoints ...*models.WebhookEndpoint) {
	s.t.Helper()
	now := clock.System{}.Now().UTC()
	last := now.Truncate(time.Hour)
	for hour := last.AddDate(0, 0, -historyDays); !hour.After(last); hour = hour.Add(time.Hour) {
		load := 60 + 50*math.Sin(float64(hour.Hour()-8)*math.Pi/12)
		for i, e := range endpoints {
			s.plantHour(e.ID, hour, int64(load)/int64(i+1)+3, failuresAt(i, len(endpoints), int(last.Sub(hour).Hours())))
		}
		s.Exec(`INSERT INTO request_rollups VALUES ($1, $2, $3, $4, $5, $6, $7)`, string(s.Project.ID), hour,
			int64(load)*9, int64(load)/8, int64(load)/5, hour.Day()%3, hour.Hour()/22)
	}
	s.Exec(`UPDATE webhook_rollup_state SET until = $1`, last.Add(time.Hour))
	require.NoError(s.t, s.Store.KeepPartitions(s.t.Context()))
	for ago := range 60 {
		s.Exec(`INSERT INTO request_minutes VALUES ($1, $2, $3, $4, $5)`, string(s.Project.ID), key, now.Truncate(time.Minute).Add(-time.Duration(ago)*time.Minute),
			900+int64(1100*math.Exp(-float64((ago-7)*(ago-7))/20)), max(0, 12-3*(ago-7)*(ago-7)))
	}
}

// failuresAt is the part of an endpoint's attempts that failed, so many hours ago,
// by class.
func failuresAt(i, endpoints, ago int) map[models.ErrorClass]float64 {
	switch {
	case i == 0 && ago > 40 && ago < 49: // the bad night
		return map[models.ErrorClass]float64{models.ErrorHTTP5xx: 0.5, models.ErrorReadTimeout: 0.35}
	case i == endpoints-1 && endpoints > 1:
		return map[models.ErrorClass]float64{models.ErrorHTTP4xx: 0.12, models.ErrorTLSExpired: 0.04}
	}
	return map[models.ErrorClass]float64{models.ErrorHTTP5xx: 0.004}
}

// plantHour writes the sums of one hour.
func (s *Site) plantHour(endpoint string, hour time.Time, attempts int64, parts map[models.ErrorClass]float64) {
	failures, failed := map[models.ErrorClass]int64{}, int64(0)
	slow := 0 // buckets further up
	for class, part := range parts {
		if n := int64(part * float64(attempts)); n > 0 {
			failures[class] = n
			failed += n
		}
		if class == models.ErrorReadTimeout {
			slow = 3
		}
	}
	latencies := map[int]int64{7 + slow: attempts / 2, 8 + slow: attempts / 4, 9 + slow: attempts/4 - attempts/20, 11 + slow: attempts / 20}
	var answered int64
	for _, n := range latencies {
		answered += n
	}
	s.Exec(`INSERT INTO webhook_rollups VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, string(s.Project.ID), endpoint, hour,
		attempts, attempts-failed, encode(s, failures), answered, answered*180, encode(s, latencies))
}

func encode(s *Site, value any) string {
	text, err := json.Marshal(value)
	require.NoError(s.t, err)
	return string(text)
}
