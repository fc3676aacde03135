package messages

import (
	"context"
	"errors"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// handle sends one claimed message and records what came of it. fresh ends when
// the claim has become too old for a send to begin: then somebody else may have
// taken the message by the time the answer comes.
func (w *Worker) handle(fresh context.Context, m *store.ClaimedMessage) {
	ctx := context.WithoutCancel(fresh)
	if refusal := w.refusal(m); refusal != nil {
		w.record(ctx, w.outcome(m, w.resolve(ctx, m, *refusal)))
		return
	}
	if fresh.Err() != nil {
		w.record(ctx, again(m, 0))
		return
	}
	limited, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	result := w.cfg.Channels[m.Channel].Send(limited, parcel(m))
	cancel()
	w.record(ctx, w.outcome(m, w.resolve(ctx, m, result)))
}

// refusal is the result of a message that cannot be sent as things are; nil:
// it can. An earlier try may have succeeded, which a refusal does not undo.
func (w *Worker) refusal(m *store.ClaimedMessage) *Result {
	_, known := w.cfg.Channels[m.Channel]
	refused := Refused
	if m.MaybeSent {
		refused = Lost
	}
	switch {
	case m.ContactGone:
		return &Result{Verdict: refused, Code: CodeContactGone, Detail: "The contact was deleted before the message was sent."}
	case m.Unsealed != nil:
		return &Result{Verdict: NotTaken, Code: CodeSettings, Detail: "The channel's settings cannot be decrypted with the keys of this installation."}
	case !known, m.Settings == nil && m.Channel != models.ChannelSandbox:
		return &Result{Verdict: refused, Code: CodeUnconfigured, Detail: "The channel's settings were removed before the message was sent."}
	default:
		return nil
	}
}

func parcel(m *store.ClaimedMessage) Parcel {
	return Parcel{ProjectID: m.ProjectID, Key: m.ID, ContactID: m.ContactID, Address: m.Address, Text: m.Text, Settings: m.Settings}
}

// resolve asks a channel whose answer was lost, where it can be asked.
func (w *Worker) resolve(ctx context.Context, m *store.ClaimedMessage, r Result) Result {
	channel, known := w.cfg.Channels[m.Channel]
	if r.Verdict != Lost || !known || m.Unsealed != nil || !channel.Abilities(m.Settings).LooksUp {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpPatience)
	defer cancel()
	receipt, err := channel.Find(ctx, parcel(m))
	switch {
	case err == nil:
		return Result{Verdict: Taken, Receipt: receipt}
	case !errors.Is(err, errNotTaken):
		w.cfg.Log.WarnContext(ctx, "a channel could not be asked about a message", "message", m.ID, "error", err)
	}
	return r // not there yet may still be on its way: only the key makes a repeat safe
}

// afterLoss decides about a message whose worker is gone: whether it called the
// channel, nobody knows.
func (w *Worker) afterLoss(ctx context.Context, m *store.ClaimedMessage) store.MessageOutcome {
	lost := Result{Verdict: Lost, Code: CodeWorkerLost, Detail: "The worker that was sending this message was lost, and with it the channel's answer."}
	return w.outcome(m, w.resolve(ctx, m, lost))
}

// outcome is what a result makes of a message.
func (w *Worker) outcome(m *store.ClaimedMessage, r Result) store.MessageOutcome {
	o := store.MessageOutcome{ProjectID: m.ProjectID, ID: m.ID, Token: m.Token, Number: m.AttemptCount}
	if r.Verdict != Taken {
		o.Error = &models.MessageError{Code: r.Code, Detail: r.Detail}
	}
	switch r.Verdict {
	case Taken:
		o.Status = models.MessageSent
		if r.Delivered {
			o.Status = models.MessageDelivered
		}
		if r.Receipt != "" {
			o.ProviderMessageID = &r.Receipt
		}
	case Refused:
		o.Status = models.MessageFailed
	case Throttled:
		o.Status, o.DueIn, o.CloseFor = models.MessageQueued, r.RetryAfter, r.RetryAfter
	case NotTaken:
		w.retry(m, &o)
	case Lost:
		o.MaybeSent = true
		if w.mayRepeat(m) {
			w.retry(m, &o)
		} else {
			o.Status = models.MessageUnknown
		}
	}
	return o
}

// mayRepeat reports whether handing the message over again has no second effect.
func (w *Worker) mayRepeat(m *store.ClaimedMessage) bool {
	channel, known := w.cfg.Channels[m.Channel]
	return known && m.Unsealed == nil && channel.Abilities(m.Settings).TakesKey
}

// retry puts a message back for its next try. When there is none left it has
// failed, unless one of the tries may have succeeded.
func (w *Worker) retry(m *store.ClaimedMessage, o *store.MessageOutcome) {
	o.Failed = true
	switch {
	case m.Failures < len(w.cfg.Schedule):
		o.Status, o.DueIn = models.MessageQueued, w.cfg.Schedule[m.Failures]
	case m.MaybeSent || o.MaybeSent:
		o.Status = models.MessageUnknown
	default:
		o.Status = models.MessageFailed
	}
}

// again gives a message back untouched.
func again(m *store.ClaimedMessage, in time.Duration) store.MessageOutcome {
	return store.MessageOutcome{
		ProjectID: m.ProjectID, ID: m.ID, Token: m.Token, Number: m.AttemptCount, Status: models.MessageQueued, DueIn: in,
	}
}

// record writes an outcome down, for as long as the claim may hold. What cannot
// be recorded is decided by whoever finds the lease over.
func (w *Worker) record(ctx context.Context, o store.MessageOutcome) {
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	for {
		lanes, err := w.cfg.Store.RecordMessage(ctx, o)
		switch {
		case err == nil:
			w.cfg.Hint(lanes)
			return
		case errors.Is(err, store.ErrMoved):
			w.cfg.Log.InfoContext(ctx, "a message was moved meanwhile", "message", o.ID, "status", o.Status)
			return
		case ctx.Err() != nil:
			w.cfg.Log.ErrorContext(ctx, "a message's outcome could not be recorded", "message", o.ID, "status", o.Status, "error", err)
			return
		}
		wait(ctx, recordPause)
	}
}
