package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// Codes of the errors with which runs and steps fail.
const (
	codeContactDeleted   = "CONTACT_DELETED"
	codeContactInvalid   = "CONTACT_INVALID"
	codeMessageInvalid   = "MESSAGE_INVALID"
	codeMessageFailed    = "MESSAGE_FAILED"
	codeMessageCancelled = "MESSAGE_CANCELLED"
	codeMessageUnknown   = "MESSAGE_UNKNOWN"
	codeVariableMissing  = "VARIABLE_MISSING"
	codeRequestFailed    = "HTTP_REQUEST_FAILED"
	codeRequestUnknown   = "HTTP_REQUEST_UNKNOWN"
	codeInternal         = "INTERNAL_ERROR"
)

// claim is a run that this engine holds, and where it stands.
type claim struct {
	store.ClaimedRun

	definition *Definition
}

// step is the run's present one.
func (c *claim) step() *Step { return &c.definition.Steps[c.Position] }

// execution is one transaction about a run's present step.
type execution struct {
	*claim

	tx      *store.Tx
	run     *models.ScenarioRun
	contact *models.Contact         // nil: deleted
	record  *models.ScenarioRunStep // of the step; nil until it begins
	lease   time.Duration
}

// open locks the run, which the claim must still hold, and the contact, which
// nobody can delete meanwhile: whoever deletes it later finds the run waiting.
func (e *Engine) open(ctx context.Context, tx *store.Tx, c *claim) (x *execution, err error) {
	x = &execution{claim: c, tx: tx, lease: e.cfg.Lease}
	if x.run, err = tx.LockClaimedRun(ctx, c.ClaimedRun); err != nil {
		return nil, err
	}
	lock := tx.ShareContact
	if change := c.step().Contact; change != nil {
		lock = tx.LockContact
		if _, sets := change.Set["external_id"]; sets { // which, nobody knows before the contact is read
			if err := tx.LockExternalIDs(ctx); err != nil {
				return nil, err
			}
		}
	}
	if x.contact, err = lock(ctx, x.run.ContactID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if x.run.StartedAt == nil {
		now := tx.Now()
		x.run.StartedAt = &now
		if err := tx.AppendRunEvent(x.run, models.EventRunStarted); err != nil {
			return nil, err
		}
	}
	x.record, err = tx.RunStep(ctx, x.run.ID, c.step().ID)
	return x, err
}

// begin is the step's record, made if this is its first transaction.
func (x *execution) begin(status models.RunStepStatus) *models.ScenarioRunStep {
	if x.record == nil {
		x.record = &models.ScenarioRunStep{RunID: x.run.ID, StepID: x.step().ID, StartedAt: x.tx.Now()}
	}
	x.record.Status = status
	return x.record
}

// finish records the step as done and moves the run to the next one, or to its
// end. The run stays ours for another lease.
func (x *execution) finish(next int) error {
	now := x.tx.Now()
	x.begin(models.StepCompleted).FinishedAt = &now
	x.tx.SaveRunStep(x.record)
	x.run.Position, x.run.MessageID = next, nil
	if next < len(x.definition.Steps) {
		x.tx.MoveRun(x.run, &x.lease)
		return nil
	}
	x.run.Status, x.run.FinishedAt = models.RunCompleted, &now
	x.tx.MoveRun(x.run, nil)
	return x.tx.AppendRunEvent(x.run, models.EventRunCompleted)
}

// wait records that the step waits; dueIn nil is for its message alone.
func (x *execution) wait(dueIn *time.Duration) error {
	x.begin(models.StepWaiting)
	x.tx.SaveRunStep(x.record)
	x.run.Status = models.RunWaiting
	x.tx.MoveRun(x.run, dueIn)
	return nil
}

// fail ends the step and the run.
func (x *execution) fail(code, detail string) error {
	now := x.tx.Now()
	record := x.begin(models.StepFailed)
	record.FinishedAt, record.ErrorCode, record.ErrorDetail = &now, &code, &detail
	x.tx.SaveRunStep(record)
	x.run.Status, x.run.FinishedAt, x.run.MessageID = models.RunFailed, &now, nil
	x.run.ErrorCode, x.run.ErrorDetail = &code, &detail
	x.tx.MoveRun(x.run, nil)
	return x.tx.AppendRunEvent(x.run, models.EventRunFailed)
}

func (x *execution) failDeleted() error {
	return x.fail(codeContactDeleted, "The contact was deleted before the run was over.")
}

// fail ends a claimed run in a transaction of its own.
func (e *Engine) fail(ctx context.Context, c *claim, code, detail string) error {
	return e.write(ctx, c, func(tx *store.Tx) error {
		x, err := e.open(ctx, tx, c)
		if err != nil {
			return err
		}
		return x.fail(code, detail)
	})
}

// perform does a step whose effect is in our own database: effect, record and
// the move to the next step are one transaction.
func (e *Engine) perform(ctx context.Context, c *claim) (again bool, err error) {
	var x *execution
	err = e.write(ctx, c, func(tx *store.Tx) error {
		if x, err = e.open(ctx, tx, c); err != nil {
			return err
		}
		if x.contact == nil {
			return x.failDeleted()
		}
		return x.effect(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("step %s: %w", c.step().ID, err)
	}
	c.Position = x.run.Position
	return x.run.Status == models.RunRunning, nil
}

func (x *execution) effect(ctx context.Context) error {
	switch step := x.step(); {
	case step.Wait != nil:
		return x.letPass(step.Wait)
	case step.Condition != nil:
		return x.choose(step.Condition)
	case step.Contact != nil:
		return x.change(step.Contact)
	case step.Emit != nil:
		return x.emit(step.Emit)
	default:
		return x.message(ctx, step.Message)
	}
}

// letPass waits until the time has come, however often it is looked at before.
func (x *execution) letPass(w *Wait) error {
	left := w.ends(x.begin(models.StepWaiting).StartedAt).Sub(x.tx.Now())
	if left <= 0 {
		return x.finish(x.step().Next)
	}
	return x.wait(&left)
}

func (x *execution) choose(c *Condition) error {
	known, err := newValues(x.run, x.contact)
	if err != nil {
		return err
	}
	if c.If.Holds(known.find(c.If.Field)) {
		return x.finish(c.Yes)
	}
	return x.finish(c.No)
}

func (x *execution) change(u *UpdateContact) error {
	before, after := *x.contact, *x.contact
	if err := u.apply(&after); err != nil {
		return err
	}
	if faults := after.Check(); len(faults) > 0 {
		return x.fail(codeContactInvalid, faults[0].Pointer+": "+faults[0].Detail)
	}
	if changed := before.ChangedFields(&after); len(changed) > 0 {
		after.UpdatedAt, after.Version = x.tx.Now(), before.Version+1
		if err := x.tx.UpdateContact(&after); err != nil {
			return err
		}
		data, err := jsonv2.Marshal(models.UpdatedContact{ContactView: after.View(), ChangedFields: changed}, jsonv2.Deterministic(true))
		if err != nil {
			return fmt.Errorf("encode contact %s: %w", after.ID, err)
		}
		about := models.Subject{ID: after.ID, Object: models.ContactObject}
		event, err := x.run.EventAbout(models.EventContactUpdated, about, data, x.tx.Now())
		if err != nil {
			return err
		}
		x.tx.AppendEvent(event)
	}
	return x.finish(x.step().Next)
}

func (x *execution) emit(e *EmitEvent) error {
	known, err := newValues(x.run, x.contact)
	if err != nil {
		return err
	}
	data, err := known.fillJSON(e.Data)
	var missing missingError
	if errors.As(err, &missing) {
		return x.fail(codeVariableMissing, missing.Error())
	}
	if err != nil {
		return err
	}
	event, err := x.run.OwnEvent(e.EventType, data, x.tx.Now())
	if err != nil {
		return err
	}
	x.tx.AppendEvent(event)
	return x.finish(x.step().Next)
}

// message creates the step's message with the record that the run waits for it,
// and, once it has come to an end, draws the conclusion.
func (x *execution) message(ctx context.Context, m *SendMessage) error {
	if x.run.MessageID == nil {
		return x.send(m)
	}
	sent, err := x.tx.Message(ctx, *x.run.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return x.fail(codeMessageUnknown, "Message "+*x.run.MessageID+" does not exist any more.")
	}
	if err != nil {
		return err
	}
	switch sent.Status {
	case models.MessageSent, models.MessageDelivered:
		return x.finish(x.step().Next)
	case models.MessageFailed:
		return x.fail(codeMessageFailed, "Message "+sent.ID+" failed"+reason(sent)+".")
	case models.MessageCancelled:
		return x.fail(codeMessageCancelled, "Message "+sent.ID+" was cancelled.")
	case models.MessageUnknown:
		if m.OnUnknown != nil && *m.OnUnknown == onUnknownFail {
			return x.fail(codeMessageUnknown, "Nobody can tell whether message "+sent.ID+" was sent.")
		}
		return x.finish(x.step().Next)
	case models.MessageQueued, models.MessageSending:
	}
	return x.wait(nil) // its end brings the run up
}

func reason(m *models.Message) string {
	if m.ErrorCode == nil {
		return ""
	}
	return " (" + *m.ErrorCode + ")"
}

func (x *execution) send(m *SendMessage) error {
	draft := m.draft()
	if m.Template != nil {
		known, err := newValues(x.run, x.contact)
		if err != nil {
			return err
		}
		if draft.Variables, err = json.Marshal(known.flat(*m.Template)); err != nil {
			return fmt.Errorf("encode a message's variables: %w", err)
		}
	}
	message, faults := draft.Compose(x.Mode, x.contact)
	if len(faults) > 0 {
		return x.fail(codeMessageInvalid, faults[0].Detail)
	}
	step := x.step().ID
	message.APIVersion, message.RequestID = x.run.APIVersion, x.run.RequestID
	message.RunID, message.StepID = &x.run.ID, &step
	if err := x.tx.CreateMessage(message); err != nil {
		return err
	}
	x.run.MessageID = &message.ID
	return x.wait(nil)
}
