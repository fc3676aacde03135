package messages

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/botix-pro/platform/app/store"
)

// Sandbox takes messages in and sends them nowhere. It takes our key and looks
// messages up, unless it is told to be blind.
type Sandbox struct {
	store *store.Store
}

// NewSandbox returns the sandbox.
func NewSandbox(s *store.Store) *Sandbox { return &Sandbox{store: s} }

// sandboxSettings of a project that said nothing accept everything.
func sandboxSettings(raw json.RawMessage) (SandboxSettings, error) {
	if raw == nil {
		return SandboxSettings{Behaviour: SandboxAccept}, nil
	}
	return readSettings[SandboxSettings](raw)
}

// Abilities implements [Channel].
func (s *Sandbox) Abilities(raw json.RawMessage) Abilities {
	settings, err := sandboxSettings(raw)
	able := err == nil && !settings.Blind
	return Abilities{TakesKey: able, LooksUp: able}
}

// Send implements [Channel].
func (s *Sandbox) Send(ctx context.Context, p Parcel) Result {
	settings, err := sandboxSettings(p.Settings)
	if err != nil {
		return unreadable(err)
	}
	switch settings.Behaviour {
	case SandboxRefuse:
		wait(ctx, settings.delay())
		return Result{Verdict: Refused, Code: CodeRejected, Detail: "The sandbox was told to refuse."}
	case SandboxFail:
		wait(ctx, settings.delay())
		return Result{Verdict: NotTaken, Code: CodeUnavailable, Detail: "The sandbox was told to fail."}
	case SandboxAccept, SandboxLose:
	}
	receipt, err := s.store.TakeInSandbox(ctx, p.ProjectID, store.SandboxMessage{
		MessageID: p.Key, ContactID: p.ContactID, Address: p.Address, Text: p.Text,
	})
	if err != nil {
		return Result{Verdict: Lost, Code: CodeAnswerLost, Detail: "The sandbox did not answer."}
	}
	wait(ctx, settings.delay())
	if settings.Behaviour == SandboxLose || ctx.Err() != nil {
		return Result{Verdict: Lost, Code: CodeAnswerLost, Detail: "The sandbox's answer was lost."}
	}
	return Result{Verdict: Taken, Receipt: receipt, Delivered: settings.Deliver}
}

// Find implements [Channel].
func (s *Sandbox) Find(ctx context.Context, p Parcel) (string, error) {
	receipt, err := s.store.FindInSandbox(ctx, p.ProjectID, p.Key)
	if errors.Is(err, store.ErrNotFound) {
		return "", errNotTaken
	}
	return receipt, err
}

// wait lets d pass, or ctx end.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// unreadable is the result where nothing could be tried.
func unreadable(err error) Result {
	return Result{Verdict: NotTaken, Code: CodeSettings, Detail: "The channel's settings cannot be read: " + plain(err.Error())}
}
