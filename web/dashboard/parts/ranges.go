package parts

import (
	"fmt"
	"slices"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// ParamRange is the parameter that names a range.
const ParamRange = "range"

// Range is the time that charts are about, in buckets of whole hours. The last
// one is under way.
type Range struct {
	Name  string // "24h", "7d" or "14d"
	Span  time.Duration
	Step  time.Duration
	Times []time.Time // when each bucket begins
	Until time.Time   // now
}

// ranges are those to choose from: enough bars to see a bad night, few enough to
// tell them apart.
func ranges() []Range {
	const day = 24 * time.Hour
	return []Range{
		{Name: "24h", Span: day, Step: time.Hour}, {Name: "7d", Span: 7 * day, Step: 3 * time.Hour},
		{Name: "14d", Span: 14 * day, Step: 6 * time.Hour},
	}
}

// RangeOf is the range that the address asks for, the shortest unless it does.
func RangeOf(v *ui.Visit) Range {
	for _, r := range ranges() {
		if r.Name == v.URL.Query().Get(ParamRange) {
			return r.at(v.Now)
		}
	}
	return ranges()[0].at(v.Now)
}

// Day is the last 24 hours.
func Day(v *ui.Visit) Range { return ranges()[0].at(v.Now) }

func (r Range) at(now time.Time) Range {
	r.Until = now.UTC()
	last := r.Until.Truncate(r.Step)
	for at := last.Add(-r.Span + r.Step); !at.After(last); at = at.Add(r.Step) {
		r.Times = append(r.Times, at)
	}
	return r
}

// Since is when the range begins.
func (r Range) Since() time.Time { return r.Times[0] }

// End is when its last bucket ends.
func (r Range) End() time.Time { return r.Times[len(r.Times)-1].Add(r.Step) }

// Before is the beginning of the range of the same length before this one.
func (r Range) Before() time.Time { return r.Since().Add(-r.Span) }

// bucket is the place of a moment in Times.
func (r Range) bucket(at time.Time) (int, bool) {
	i := int(at.Sub(r.Since()) / r.Step)
	return i, !at.Before(r.Since()) && i < len(r.Times)
}

// In is the range in words.
func (r Range) In(v *ui.Visit) string { return WordsOf(v).Ranges[r.Name] }

// RangeTabs are the ranges to choose from at an address.
func RangeTabs(v *ui.Visit, chosen Range) []ui.Tab {
	var tabs []ui.Tab
	for _, r := range ranges() {
		tabs = append(tabs, ui.Tab{
			Link: ui.Link{Name: r.In(v), Address: v.URL.Path + "?" + ParamRange + "=" + r.Name}, Current: r.Name == chosen.Name,
		})
	}
	return tabs
}

// Sums are hourly sums of attempts put into a range's buckets.
type Sums struct {
	Total   models.Rollup
	Buckets []models.Rollup
}

// Sum puts rollups into buckets, whosever they are.
func (r Range) Sum(rollups []models.Rollup) Sums {
	sums := Sums{Buckets: make([]models.Rollup, len(r.Times))}
	for _, hour := range rollups {
		if i, ok := r.bucket(hour.Hour); ok {
			sums.Buckets[i].Add(hour)
			sums.Total.Add(hour)
		}
	}
	return sums
}

// ByEndpoint puts rollups into buckets, endpoint by endpoint.
func (r Range) ByEndpoint(rollups []models.Rollup) map[string]Sums {
	byEndpoint := map[string][]models.Rollup{}
	for _, hour := range rollups {
		byEndpoint[hour.EndpointID] = append(byEndpoint[hour.EndpointID], hour)
	}
	sums := make(map[string]Sums, len(byEndpoint))
	for id, hours := range byEndpoint {
		sums[id] = r.Sum(hours)
	}
	return sums
}

// Outcomes are a sum's attempts apart: delivered, answered with what is no
// success, and not answered.
func Outcomes(sum models.Rollup) (delivered, refused, unanswered int64) {
	for class, n := range sum.Failures {
		if slices.Contains(answeredClasses, class) {
			refused += n
		} else {
			unanswered += n
		}
	}
	return sum.Successes, refused, unanswered
}

//nolint:gochecknoglobals // a constant table
var answeredClasses = []models.ErrorClass{models.ErrorRedirect, models.ErrorHTTP1xx, models.ErrorHTTP4xx, models.ErrorHTTP5xx}

// Deliveries is the chart of attempts by outcome.
func Deliveries(v *ui.Visit, shell ui.Shell, r Range, sums Sums) ui.Chart {
	w := WordsOf(v)
	n := len(r.Times)
	delivered, refused, unanswered := make([]int64, n), make([]int64, n), make([]int64, n)
	for i, bucket := range sums.Buckets {
		delivered[i], refused[i], unanswered[i] = Outcomes(bucket)
	}
	good, bad, lost := Outcomes(sums.Total)
	total := func(value int64) string { return v.Locale.Number(value) }
	return shell.Chart(ui.Picture{
		ID: "deliveries", Title: w.DeliveriesTitles[r.Name], Found: deliveriesFound(v, r, sums), Kind: ui.ChartBars, Unit: ui.UnitCount,
		Times: r.Times, Step: r.Step, Until: r.Until,
		Series: []ui.Series{
			{Name: w.Unanswered, Colour: ui.ColourRetrying, Values: ui.Counts(unanswered), Total: total(lost)},
			{Name: w.AnsweredBadly, Colour: ui.ColourFailed, Values: ui.Counts(refused), Total: total(bad)},
			{Name: w.Delivered, Colour: ui.ColourDelivered, Values: ui.Counts(delivered), Total: total(good)},
		},
	})
}

// deliveriesFound says how it went, and when it went worst.
func deliveriesFound(v *ui.Visit, r Range, sums Sums) string {
	w := WordsOf(v)
	failed := sums.Total.Attempts - sums.Total.Successes
	switch {
	case sums.Total.Attempts == 0:
		return w.NothingSent
	case failed == 0:
		return v.Locale.Count(sums.Total.Attempts, w.AllDeliveredF)
	}
	worst := 0
	for i, bucket := range sums.Buckets {
		if lost := bucket.Attempts - bucket.Successes; lost > sums.Buckets[worst].Attempts-sums.Buckets[worst].Successes {
			worst = i
		}
	}
	at := v.Locale.Time(r.Times[worst])
	bucket := sums.Buckets[worst]
	return fmt.Sprintf(w.WorstF, v.Locale.Number(failed), v.Locale.Number(sums.Total.Attempts), at.Text,
		v.Locale.Percent(bucket.Attempts-bucket.Successes, bucket.Attempts))
}

// Latency is the chart of the time to acknowledge.
func Latency(v *ui.Visit, shell ui.Shell, r Range, sums Sums) ui.Chart {
	w := WordsOf(v)
	half, most := make([]*int64, len(r.Times)), make([]*int64, len(r.Times))
	for i, bucket := range sums.Buckets {
		if bucket.Answered > 0 {
			half[i], most[i] = new(int64(bucket.Quantile(0.5))), new(int64(bucket.Quantile(0.95)))
		}
	}
	found := w.NothingAnswered
	if sums.Total.Answered > 0 {
		found = fmt.Sprintf(w.LatencyF, v.Locale.Duration(int64(sums.Total.Quantile(0.5))), v.Locale.Duration(int64(sums.Total.Quantile(0.95))))
	}
	return shell.Chart(ui.Picture{
		ID: "latency", Title: w.LatencyTitle, Found: found, Kind: ui.ChartLines, Unit: ui.UnitMilliseconds,
		Times: r.Times, Step: r.Step, Until: r.Until,
		Series: []ui.Series{
			{Name: "p95", Colour: ui.ColourRetrying, Values: most}, {Name: "p50", Colour: ui.ColourAccent, Values: half},
		},
	})
}

// Spark is a range's attempts as small bars.
func Spark(v *ui.Visit, sums Sums) *ui.Spark {
	good, bad := make([]int64, len(sums.Buckets)), make([]int64, len(sums.Buckets))
	for i, bucket := range sums.Buckets {
		good[i], bad[i] = bucket.Successes, bucket.Attempts-bucket.Successes
	}
	return ui.NewSpark(fmt.Sprintf(WordsOf(v).SparkF, v.Locale.Number(sums.Total.Successes), v.Locale.Number(sums.Total.Attempts)), good, bad)
}
