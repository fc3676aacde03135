package parts

import (
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// LastHour is the beginning of the 60 minutes whose last one is under way.
func LastHour(v *ui.Visit) time.Time {
	return v.Now.UTC().Truncate(time.Minute).Add(-59 * time.Minute)
}

// Peak is the minute in which a key came nearest to its limit, and how many
// requests were refused in all. KeyID is empty where there were no requests.
func Peak(minutes []models.RequestMinute) (peak models.RequestMinute, limited int64) {
	for _, m := range minutes {
		limited += m.Limited
		if peak.KeyID == "" || m.Admitted > peak.Admitted {
			peak = m
		}
	}
	return peak, limited
}

// LimitMeter is how much of the rate limit was used.
func LimitMeter(v *ui.Visit, used, limit int64) ui.Meter {
	w := WordsOf(v)
	return ui.NewMeter(w.RateUse, fmt.Sprintf(w.RateUseF, v.Locale.Number(used), v.Locale.Number(limit)), used, limit)
}

// Minutes is the chart of the last hour: the busiest key of each minute against
// the limit, which is a key's own.
func Minutes(v *ui.Visit, shell ui.Shell, plan models.Plan, keys []models.APIKey, minutes []models.RequestMinute) ui.Chart {
	w := WordsOf(v)
	begin := LastHour(v)
	admitted, limited := make([]int64, 60), make([]int64, 60)
	times := make([]time.Time, 60)
	for i := range times {
		times[i] = begin.Add(time.Duration(i) * time.Minute)
	}
	for _, m := range minutes {
		if i := int(m.Minute.Sub(begin) / time.Minute); i >= 0 && i < len(times) {
			admitted[i] = max(admitted[i], m.Admitted)
			limited[i] += m.Limited
		}
	}
	limit := int64(plan.Limits.APIRatePerMinute)
	found := w.Idle
	if peak, refused := Peak(minutes); peak.KeyID != "" {
		found = fmt.Sprintf(w.BusiestF, v.Locale.Number(peak.Admitted), v.Locale.Number(limit), KeyName(keys, peak.KeyID), v.Locale.Number(refused))
	}
	return shell.Chart(ui.Picture{
		ID: "minutes", Title: w.MinutesTitle, Found: found, Kind: ui.ChartBars, Unit: ui.UnitCount, Times: times, Step: time.Minute, Until: v.Now,
		Limit: ui.Limit{Name: fmt.Sprintf(w.LimitF, v.Locale.Number(limit)), Value: limit},
		Series: []ui.Series{
			{Name: w.Admitted, Colour: ui.ColourAccent, Values: ui.Counts(admitted)},
			{Name: w.LimitedAll, Colour: ui.ColourFailed, Values: ui.Counts(limited)},
		},
	})
}

// PlanOf is the project's plan among all.
func PlanOf(v *ui.Visit, plans []models.Plan) models.Plan {
	for _, plan := range plans {
		if plan.ID == v.Member.Project.PlanID {
			return plan
		}
	}
	return models.Plan{ID: v.Member.Project.PlanID}
}

// KeyName is a key's name, or its id where it is not among the keys.
func KeyName(keys []models.APIKey, id string) string {
	for _, key := range keys {
		if key.ID == id {
			return ui.Visible(key.Name)
		}
	}
	return ui.Visible(id)
}

// Capped is a number that was counted up to a limit only.
func Capped(v *ui.Visit, n, limit int64) string {
	if n >= limit {
		return v.Locale.Number(limit) + "+"
	}
	return v.Locale.Number(n)
}

// CountRequests adds up requests of [since, until) and how many of them were
// answered with an error of whatever kind.
func CountRequests(rollups []models.RequestRollup, since, until time.Time) (requests, errors int64) {
	for _, hour := range rollups {
		if !hour.Hour.Before(since) && hour.Hour.Before(until) {
			requests += hour.Requests()
			errors += hour.Refused + hour.Limited + hour.Failed
		}
	}
	return requests, errors
}

// Requests is the chart of API requests by outcome.
func Requests(v *ui.Visit, shell ui.Shell, r Range, rollups []models.RequestRollup) ui.Chart {
	w := WordsOf(v)
	n := len(r.Times)
	good, again, refused, failed := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	var sum models.RequestRollup
	for _, hour := range rollups {
		i, ok := r.bucket(hour.Hour)
		if !ok {
			continue
		}
		good[i] += hour.Succeeded
		again[i] += hour.Replayed
		refused[i] += hour.Refused + hour.Limited
		failed[i] += hour.Failed
		sum.Succeeded += hour.Succeeded
		sum.Replayed += hour.Replayed
		sum.Refused += hour.Refused + hour.Limited
		sum.Failed += hour.Failed
	}
	found := w.NoRequests
	if sum.Requests() > 0 {
		found = fmt.Sprintf(w.RequestsF, v.Locale.Number(sum.Requests()), v.Locale.Number(sum.Refused), v.Locale.Number(sum.Failed), v.Locale.Number(sum.Replayed))
	}
	return shell.Chart(ui.Picture{
		ID: "requests", Title: w.RequestsTitles[r.Name], Found: found, Kind: ui.ChartBars, Unit: ui.UnitCount, Times: r.Times, Step: r.Step, Until: r.Until,
		Series: []ui.Series{
			{Name: "5xx", Colour: ui.ColourFailed, Values: ui.Counts(failed), Total: v.Locale.Number(sum.Failed)},
			{Name: "4xx", Colour: ui.ColourRetrying, Values: ui.Counts(refused), Total: v.Locale.Number(sum.Refused)},
			{Name: w.Replayed, Colour: ui.ColourNeutral, Values: ui.Counts(again), Total: v.Locale.Number(sum.Replayed)},
			{Name: w.Succeeded, Colour: ui.ColourDelivered, Values: ui.Counts(good), Total: v.Locale.Number(sum.Succeeded)},
		},
	})
}

// Limited is the chart of requests that were refused with 429.
func Limited(v *ui.Visit, shell ui.Shell, r Range, rollups []models.RequestRollup) ui.Chart {
	w := WordsOf(v)
	limited, sum := make([]int64, len(r.Times)), int64(0)
	for _, hour := range rollups {
		if i, ok := r.bucket(hour.Hour); ok {
			limited[i] += hour.Limited
			sum += hour.Limited
		}
	}
	return shell.Chart(ui.Picture{
		ID: "limited", Title: w.LimitedTitle, Found: v.Locale.Count(sum, w.LimitedF), Kind: ui.ChartBars, Unit: ui.UnitCount,
		Times: r.Times, Step: r.Step, Until: r.Until,
		Series: []ui.Series{{Name: "429", Colour: ui.ColourFailed, Values: ui.Counts(limited)}},
	})
}
