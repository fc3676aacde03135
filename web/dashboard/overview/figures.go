package overview

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/deliveries"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// listed is how many rows the short lists have.
const listed = 5

// figure is one number in large.
type figure struct {
	Name, Value string
	Note        string // what it was before, or of what it is
	Link        ui.Link
}

func figures(v *ui.Visit, k known) []figure {
	w := wordsIn(v.Locale.Language)
	total := k.at.Sum(k.rollups).Total
	requests, errors := parts.CountRequests(k.requests, k.at.Since(), k.at.End())
	requestsBefore, errorsBefore := parts.CountRequests(k.requests, k.at.Before(), k.at.Since())
	return []figure{
		{
			Name: w.DeliveredFigure, Value: v.Locale.Percent(total.Successes, total.Attempts),
			Note: fmt.Sprintf(w.OfAttemptsF, v.Locale.Number(total.Attempts), v.Locale.Percent(k.before.Successes, k.before.Attempts), k.at.In(v)),
			Link: ui.Link{Name: w.SeeDeliveries, Address: deliveries.Path},
		},
		{
			Name: w.WaitingFigure, Value: parts.Capped(v, k.now.Waiting, store.MaxAttention), Note: w.WaitingNote,
			Link: ui.Link{Name: w.SeeDeliveries, Address: deliveries.Path + "?status=failed"},
		},
		{
			Name: w.DeadFigure, Value: parts.Capped(v, k.now.DeadLetters, store.MaxAttention), Note: w.DeadNote,
			Link: ui.Link{Name: w.SeeDeadLetters, Address: deliveries.PathDeadLetters},
		},
		{
			Name: w.ErrorsFigure, Value: v.Locale.Percent(errors, requests),
			Note: fmt.Sprintf(w.OfRequestsF, v.Locale.Number(requests), v.Locale.Percent(errorsBefore, requestsBefore), k.at.In(v)),
			Link: ui.Link{Name: w.SeeUsage, Address: ui.Root + "/" + ui.NavUsage},
		},
		limitFigure(v, k),
	}
}

// limitFigure is how near the busiest key came to the rate limit in the last hour.
func limitFigure(v *ui.Visit, k known) figure {
	w := wordsIn(v.Locale.Language)
	limit := int64(k.plan.Limits.APIRatePerMinute)
	peak, _ := parts.Peak(k.minutes)
	return figure{
		Name: w.LimitFigure, Value: v.Locale.Percent(peak.Admitted, limit),
		Note: fmt.Sprintf(w.OfLimitF, v.Locale.Number(peak.Admitted), v.Locale.Number(limit)),
		Link: ui.Link{Name: w.SeeUsage, Address: ui.Root + "/" + ui.NavUsage},
	}
}

// failing are the endpoints with the most failures.
func failing(v *ui.Visit, k known) ui.Table {
	w := wordsIn(v.Locale.Language)
	table := ui.Table{Caption: w.TopFailing, Columns: append(ui.Columns(w.Endpoint, w.MostCommon, w.History), ui.Column{Name: w.FailedShare, Number: true}), None: w.NoneFailing}
	sums := k.at.ByEndpoint(k.rollups)
	failures := func(id string) int64 { return sums[id].Total.Attempts - sums[id].Total.Successes }
	worst := slices.Clone(k.endpoints)
	slices.SortStableFunc(worst, func(a, b models.WebhookEndpoint) int { return cmp.Compare(failures(b.ID), failures(a.ID)) })
	for _, e := range worst[:min(len(worst), listed)] {
		if failures(e.ID) == 0 {
			break
		}
		total := sums[e.ID].Total
		class, _ := ranked(total.Failures)
		table.Rows = append(table.Rows, []ui.Cell{
			{Text: ui.HostOf(e.URL), Address: ui.Root + "/" + ui.NavEndpoints + "/" + e.ID},
			{Text: deliveries.ClassName(v.Locale.Language, class[0])}, {Spark: parts.Spark(v, sums[e.ID])},
			{Text: v.Locale.Percent(failures(e.ID), total.Attempts), Note: v.Locale.Number(failures(e.ID))},
		})
	}
	return table
}

// causes are the most common reasons of failures.
func causes(v *ui.Visit, k known) ui.Table {
	w := wordsIn(v.Locale.Language)
	table := ui.Table{Caption: w.TopCauses, Columns: append(ui.Columns(w.Cause), ui.Column{Name: w.Times, Number: true}), None: w.NoneFailing}
	total := k.at.Sum(k.rollups).Total
	classes, all := ranked(total.Failures)
	for _, class := range classes[:min(len(classes), listed)] {
		n := total.Failures[class]
		table.Rows = append(table.Rows, []ui.Cell{
			{
				Text: deliveries.ClassName(v.Locale.Language, class), Address: deliveries.Path + "?class=" + string(class),
				Share: ui.NewShare(n, all, ui.ColourFailed),
			},
			{Text: v.Locale.Number(n), Note: v.Locale.Percent(n, all)},
		})
	}
	return table
}

// ranked are the classes of failures, the most common first, and how many there
// are of all.
func ranked(failures map[models.ErrorClass]int64) (classes []models.ErrorClass, all int64) {
	for class, n := range failures {
		classes = append(classes, class)
		all += n
	}
	slices.SortFunc(classes, func(a, b models.ErrorClass) int {
		return cmp.Or(cmp.Compare(failures[b], failures[a]), cmp.Compare(a, b))
	})
	return classes, all
}
