package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// SetChannel gives a project its settings of a channel, a JSON object as
// messages.ParseSettings reads it. They replace those it had, are stored
// encrypted and are not shown again. The warning, if any, is about a host whose
// name does not resolve yet.
func (a *Admin) SetChannel(ctx context.Context, project models.ProjectID, channel models.Channel, raw []byte) (warning string, err error) {
	if _, err := a.mode(ctx, project); err != nil {
		return "", err
	}
	settings, leadsTo, err := messages.ParseSettings(channel, raw)
	if err != nil {
		return "", fmt.Errorf("channel %s: %w", channel, err)
	}
	if leadsTo != nil {
		if warning, err = a.guard.CheckURL(ctx, leadsTo); err != nil {
			return "", fmt.Errorf("channel %s: %w", channel, err)
		}
	}
	_, err = a.store.Write(ctx, project, func(tx *store.Tx) error { return tx.SetChannel(channel, settings) })
	return warning, err
}

// ShownChannel is a project's channel without its secrets.
type ShownChannel struct {
	Channel   models.Channel `json:"channel"`
	Settings  any            `json:"settings"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// Channels lists the channels that a project has settings for.
func (a *Admin) Channels(ctx context.Context, project models.ProjectID) ([]ShownChannel, error) {
	channels, err := a.store.Channels(ctx, project)
	if err != nil {
		return nil, err
	}
	shown := make([]ShownChannel, len(channels))
	for i, c := range channels {
		masked, err := messages.Masked(c.Channel, c.Settings)
		if err != nil {
			return nil, fmt.Errorf("channel %s: %w", c.Channel, err)
		}
		shown[i] = ShownChannel{Channel: c.Channel, Settings: masked, UpdatedAt: c.UpdatedAt}
	}
	return shown, nil
}

// RemoveChannel takes a project's settings of a channel away. What is queued on
// it fails when its turn comes; the sandbox accepts everything again.
func (a *Admin) RemoveChannel(ctx context.Context, project models.ProjectID, channel models.Channel) error {
	_, err := a.store.Write(ctx, project, func(tx *store.Tx) error {
		tx.RemoveChannel(channel)
		return nil
	})
	return err
}

// SetSandbox tells a project's sandbox what to do with messages.
func (a *Admin) SetSandbox(ctx context.Context, project models.ProjectID, settings messages.SandboxSettings) error {
	raw, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("encode the sandbox's settings: %w", err)
	}
	_, err = a.SetChannel(ctx, project, models.ChannelSandbox, raw)
	return err
}

// Outbox returns the last messages that a project's sandbox took in, newest
// first.
func (a *Admin) Outbox(ctx context.Context, project models.ProjectID, limit int) ([]store.SandboxMessage, error) {
	return a.store.Outbox(ctx, project, store.Page{Limit: limit})
}
