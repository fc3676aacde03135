package requests

import (
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// step is what one physical request was to its operation.
type step string

const (
	stepExecuted   step = "executed"
	stepRefused    step = "refused" // it was executed, and its refusal is stored
	stepReplayed   step = "replayed"
	stepInProgress step = "in_progress"
	stepReused     step = "reused"
	stepExpired    step = "expired"
	stepEarly      step = "early"       // turned away before its key was looked at
	stepRolledBack step = "rolled_back" // not valid: the key stays free
	stepFailed     step = "failed"      // a fault of ours
	stepRead       step = "read"
)

// stepOf tells what a request was. executing is the id of the one that executed
// the operation, empty where that is not known.
func stepOf(r models.RequestRecord, executing string) step {
	switch r.Code { //nolint:exhaustive // those about the key; the rest go by their status
	case models.CodeIdempotencyKeyRunning:
		return stepInProgress
	case models.CodeIdempotencyKeyReuse:
		return stepReused
	case models.CodeIdempotencyKeyExpired:
		return stepExpired
	}
	switch {
	case r.Replayed:
		return stepReplayed
	case r.RequestID == executing && r.Status >= 400:
		return stepRefused
	case r.Status >= 500:
		return stepFailed
	case r.Status == 401 || r.Status == 403 || r.Status == 429:
		return stepEarly
	case r.Status == 400 || r.Status == 408 || r.Status == 413 || r.Status == 415 || r.Status == 422:
		return stepRolledBack
	case r.Status >= 400 && r.IdempotencyKey != nil:
		return stepRefused
	case r.Status >= 400:
		return stepEarly
	case r.Method == "GET":
		return stepRead
	}
	return stepExecuted
}

// timeline is every physical request with a key, in the order in which they came.
func timeline(v *ui.Visit, op *actions.Operation, names map[string]string) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := ui.Table{Caption: w.Timeline, Columns: append(ui.Columns(w.Came, w.What, w.Answer, w.Key), ui.Column{Name: shared.Took, Number: true}, ui.Column{Name: w.Request})}
	executing := ""
	if op.Record != nil {
		executing = op.Record.RequestID
	}
	for i, r := range op.Requests {
		came := parts.Moment(v.Locale.Time(r.At))
		if i > 0 {
			came.Note = fmt.Sprintf(w.LaterF, gap(v.Locale, r.At.Sub(op.Requests[i-1].At)))
		}
		took := ui.Cell{}
		if r.Route != "" { // only the log knows
			took.Text = v.Locale.Duration(int64(r.DurationMs))
		}
		list.Rows = append(list.Rows, []ui.Cell{
			came, {Text: w.Steps[stepOf(r, executing)]}, answerCell(w, r), keyCell(names, r.KeyID), took, ui.IDCell(parts.PathRequests, r.RequestID),
		})
	}
	return list
}

// gap is the time between two requests.
func gap(l ui.Locale, between time.Duration) string {
	if between < time.Minute {
		return l.Duration(max(between, 0).Milliseconds())
	}
	return l.Span(between)
}
