package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// request does an http_request step: intent, request, result. again says that
// the run goes on.
func (e *Engine) request(ctx context.Context, c *claim) (again bool, err error) {
	if !e.calls.take(c.ProjectID) {
		e.giveBack(ctx, c.ClaimedRun, busyPause)
		return false, nil
	}
	defer e.calls.give(c.ProjectID)
	begun := e.cfg.Clock.Now()
	what, err := e.intend(ctx, c)
	if err != nil || what == nil {
		return false, err
	}
	// Frozen since the claim: by the request's end it might be another worker's.
	// It was counted, and is taken up again when the lease ends.
	if e.cfg.Clock.Now().Sub(begun) > e.cfg.Lease-e.cfg.Timeout-recordWithin {
		e.cfg.Log.WarnContext(ctx, "a claim was too old to send a request", "run", c.ID)
		return false, nil
	}
	<-e.slots // others work meanwhile
	got := e.caller.send(ctx, *what)
	e.slots <- struct{}{}
	return e.conclude(ctx, c, got)
}

// intend records that a request is about to be sent, and counts it. nil: there
// is none to send, and the run is over.
func (e *Engine) intend(ctx context.Context, c *claim) (what *call, err error) {
	err = e.write(ctx, c, func(tx *store.Tx) error {
		what = nil
		x, err := e.open(ctx, tx, c)
		if err != nil {
			return err
		}
		if x.contact == nil {
			return x.failDeleted()
		}
		if x.record != nil && x.record.Status == models.StepRunning {
			x.record.MaybeDone = true // a worker was lost with its request under way
		}
		if x.record != nil && x.record.Attempts > len(e.cfg.Retries) {
			return x.giveUp("the worker was lost while the last request was under way")
		}
		what, err = x.compose(c.step().Request)
		var missing missingError
		if errors.As(err, &missing) {
			return x.fail(codeVariableMissing, missing.Error())
		}
		if err != nil {
			return err
		}
		x.begin(models.StepRunning).Attempts++
		tx.SaveRunStep(x.record)
		tx.MoveRun(x.run, &x.lease)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("intend a request: %w", err)
	}
	return what, nil
}

// compose fills the request in. Its key is the run's and the step's, so every
// repeat has the same.
func (x *execution) compose(r *HTTPRequest) (*call, error) {
	known, err := newValues(x.run, x.contact)
	if err != nil {
		return nil, err
	}
	what := &call{method: r.Method, headers: r.Headers, key: x.run.ID + "/" + x.step().ID}
	if what.url, err = known.fillURL(r.URL); err != nil || r.Body == nil {
		return what, err
	}
	what.body, err = known.fillJSON(r.Body)
	return what, err
}

// conclude records what came of a request. The receiver has had it, so it is
// recorded even if PostgreSQL is away for a moment.
func (e *Engine) conclude(ctx context.Context, c *claim, got answer) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	for {
		again, err = e.record(ctx, c, got)
		if err == nil || !store.IsUnavailable(err) {
			return again, err
		}
		select {
		case <-time.After(recordPause):
		case <-ctx.Done():
			return false, err
		}
	}
}

func (e *Engine) record(ctx context.Context, c *claim, got answer) (again bool, err error) {
	var x *execution
	err = e.write(ctx, c, func(tx *store.Tx) error {
		if x, err = e.open(ctx, tx, c); err != nil {
			return err
		}
		return x.result(got, e.cfg.Retries)
	})
	if err != nil {
		return false, fmt.Errorf("record a request: %w", err)
	}
	c.Position = x.run.Position
	return x.run.Status == models.RunRunning, nil
}

// result draws the conclusion from an answer. A contact that was deleted
// meanwhile ends the run at its next step.
func (x *execution) result(got answer, retries []time.Duration) error {
	attempts := x.record.Attempts
	v := judge(got, attempts)
	x.record.MaybeDone = (x.record.MaybeDone || v.maybe) && !v.done
	switch {
	case v.done:
		if err := x.save(got); err != nil {
			return err
		}
		return x.finish(x.step().Next)
	case v.retry && attempts <= len(retries):
		pause := max(retries[attempts-1], got.after)
		return x.wait(&pause)
	default:
		return x.giveUp(v.detail)
	}
}

// giveUp ends the run over its request, and says whether the receiver may have
// done it.
func (x *execution) giveUp(why string) error {
	if x.record.MaybeDone {
		return x.fail(codeRequestUnknown, "The receiver may have done it, or not: "+why+".")
	}
	return x.fail(codeRequestFailed, "The request was not done: "+why+".")
}

// save puts the answer among the run's variables, where the step asks for it.
func (x *execution) save(got answer) error {
	name := x.step().Request.SaveAs
	if name == nil {
		return nil
	}
	all, err := with(x.run.Variables, *name, got)
	if err == nil && len(all) > maxVariables {
		got.body, got.truncated = nil, true
		all, err = with(x.run.Variables, *name, got)
	}
	if err != nil {
		return fmt.Errorf("the variables of run %s: %w", x.run.ID, err)
	}
	x.run.Variables = all
	return nil
}

// maxVariables bounds what a run carries along, in bytes; beyond it only the
// status of an answer is saved.
const maxVariables = 256 << 10

func with(variables []byte, name string, got answer) ([]byte, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(variables, &members); err != nil {
		return nil, err
	}
	value, err := json.Marshal(got.saved())
	if err != nil {
		return nil, err
	}
	members[name] = value
	return json.Marshal(members, json.Deterministic(true))
}
