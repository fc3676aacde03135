package webhooks

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	// recordWithin is how long an outcome waits for others to be recorded with
	// it in one transaction.
	recordWithin = 3 * time.Millisecond
	recordBatch  = 100
	// recordPatience is how long an outcome is tried to be recorded while
	// PostgreSQL is away: as long as the claim may hold.
	recordPatience = 45 * time.Second
	recordPause    = 250 * time.Millisecond
	recordTimeout  = 10 * time.Second
)

// recorder writes outcomes down, many in one transaction.
type recorder struct {
	store *store.Store
	log   *slog.Logger
	queue chan pending
}

// pending is an outcome, and whom to tell that it is written.
type pending struct {
	outcome store.Outcome
	judged  time.Time // when the outcome was known
	done    func()
}

func newRecorder(s *store.Store, log *slog.Logger) *recorder {
	return &recorder{store: s, log: log, queue: make(chan pending, recordBatch)}
}

// record hands an outcome over. done is called once it is written, or given up
// on: then the claim's lease runs out and the send counts as lost, but nothing
// else does.
func (r *recorder) record(outcome store.Outcome, done func()) {
	r.queue <- pending{outcome: outcome, judged: monotonic(), done: done}
}

// run writes batches until stop is closed, which must be after the last record.
func (r *recorder) run(stop <-chan struct{}) {
	for {
		select {
		case first := <-r.queue:
			go r.write(r.gather(first))
		case <-stop:
			return
		}
	}
}

// gather collects what arrives within a few milliseconds of the first.
func (r *recorder) gather(first pending) []pending {
	batch := []pending{first}
	timer := time.NewTimer(recordWithin)
	defer timer.Stop()
	for len(batch) < recordBatch {
		select {
		case next := <-r.queue:
			batch = append(batch, next)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

func (r *recorder) write(batch []pending) {
	defer func() {
		for _, p := range batch {
			p.done()
		}
	}()
	if err := r.try(batch); err == nil {
		return
	}
	// One outcome that cannot be written must not take the others with it.
	for _, p := range batch {
		r.insist(p)
	}
}

// try records a batch. Delays count from when the outcome was known, however
// long it took to get here.
func (r *recorder) try(batch []pending) error {
	outcomes := make([]store.Outcome, len(batch))
	for i, p := range batch {
		outcomes[i] = p.outcome
		outcomes[i].DueIn = max(p.outcome.DueIn-monotonic().Sub(p.judged), 0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	return r.store.RecordOutcomes(ctx, outcomes)
}

// insist tries one outcome for as long as that can help.
func (r *recorder) insist(p pending) {
	deadline := time.NewTimer(recordPatience)
	defer deadline.Stop()
	for {
		err := r.try([]pending{p})
		if err == nil {
			return
		}
		r.log.Error("an attempt could not be recorded", "delivery", p.outcome.Attempt.DeliveryID, "error", err)
		if !store.IsUnavailable(err) {
			return
		}
		select {
		case <-deadline.C:
			return
		case <-time.After(recordPause):
		}
	}
}

// attemptRow is the attempt as it is kept.
func attemptRow(c store.Claimed, o Outcome, started time.Time) models.WebhookAttempt {
	row := models.WebhookAttempt{
		ProjectID: c.ProjectID, ID: c.AttemptID, DeliveryID: c.ID, EndpointID: c.EndpointID, EventID: c.EventID,
		EventType: c.EventType, Number: c.Number, Step: c.Step, Manual: c.Manual, URL: c.URL, Error: o.Error, ResponseHeaders: headerJSON(o.ResponseHeaders),
		ResponseBody: o.ResponseBody, ResponseTruncated: o.ResponseTruncated, Timing: o.Timing.Model(), StartedAt: started,
	}
	if o.StatusCode != 0 {
		row.StatusCode = &o.StatusCode
	}
	if o.ErrorClass != "" {
		row.ErrorClass = &o.ErrorClass
	}
	return row
}

// headerJSON encodes headers, whose texts are valid UTF-8 already.
func headerJSON(header http.Header) []byte {
	if header == nil {
		header = http.Header{}
	}
	encoded, err := json.Marshal(header)
	if err != nil {
		return []byte("{}") // strings and lists of them always encode
	}
	return encoded
}
