package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
)

const channelsTable = "message_channels"

// channelRow is a project's channel as it is stored: its settings encrypted.
type channelRow struct {
	ProjectID models.ProjectID
	Channel   models.Channel
	Settings  []byte
	UpdatedAt time.Time
}

// TableName implements gorm's Tabler.
func (channelRow) TableName() string { return channelsTable }

// SetChannel queues a project's settings of a channel, which replace those it
// had. They are encrypted and belong to that row only.
func (tx *Tx) SetChannel(channel models.Channel, settings any) error {
	sealed, err := tx.store.sealJSON(settings, secretOwner(channelsTable, tx.project, string(channel)))
	if err != nil {
		return err
	}
	tx.exec(`
		INSERT INTO message_channels (project_id, channel, settings) VALUES ($1, $2, $3)
		ON CONFLICT (project_id, channel) DO UPDATE SET settings = excluded.settings, closed_until = NULL, updated_at = now()`,
		string(tx.project), string(channel), sealed)
	return nil
}

// RemoveChannel queues the removal of a project's settings of a channel. What is
// queued on it fails when its turn comes.
func (tx *Tx) RemoveChannel(channel models.Channel) {
	tx.exec(`DELETE FROM message_channels WHERE project_id = $1 AND channel = $2`, string(tx.project), string(channel))
}

// HasChannel reports whether the project can send on the channel. The sandbox
// needs no settings.
func (tx *Tx) HasChannel(ctx context.Context, channel models.Channel) (bool, error) {
	if channel == models.ChannelSandbox {
		return true, nil
	}
	var count int64
	err := tx.read(ctx).Model(&channelRow{}).Where("project_id = ? AND channel = ?", tx.project, channel).Count(&count).Error
	if err != nil {
		return false, fmt.Errorf("look a channel up: %w", err)
	}
	return count > 0, nil
}

// Channel is a project's channel with its settings, a JSON object.
type Channel struct {
	Channel   models.Channel
	Settings  json.RawMessage
	UpdatedAt time.Time
}

// Channels returns every channel that the project has settings for.
func (s *Store) Channels(ctx context.Context, project models.ProjectID) ([]Channel, error) {
	var rows []channelRow
	if err := s.read(ctx).Where("project_id = ?", project).Order("channel").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	channels := make([]Channel, len(rows))
	for i, row := range rows {
		channels[i] = Channel{Channel: row.Channel, UpdatedAt: row.UpdatedAt}
		if err := s.openJSON(row.Settings, secretOwner(channelsTable, project, string(row.Channel)), &channels[i].Settings); err != nil {
			return nil, err
		}
	}
	return channels, nil
}
