package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// SandboxMessage is a message that the sandbox took in.
type SandboxMessage struct {
	MessageID string    `json:"message_id"`
	Receipt   string    `json:"receipt"` // what it answered with
	ContactID string    `json:"contact_id"`
	Address   string    `json:"address"`
	Text      string    `json:"text"`
	Times     int       `json:"times"` // it was handed over
	CreatedAt time.Time `json:"created_at"`
}

// TableName implements gorm's Tabler.
func (SandboxMessage) TableName() string { return "sandbox_messages" }

// TakeInSandbox puts a message into the project's outbox, once for its id
// however often it is handed over, and returns its receipt.
func (s *Store) TakeInSandbox(ctx context.Context, project models.ProjectID, m SandboxMessage) (receipt string, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `
			INSERT INTO sandbox_messages AS s (project_id, message_id, receipt, contact_id, address, text)
			VALUES ($1, $2, 'sbx_' || new_ulid(), $3, $4, $5)
			ON CONFLICT (project_id, message_id) DO UPDATE SET times = s.times + 1
			RETURNING receipt`, string(project), m.MessageID, m.ContactID, m.Address, m.Text).Scan(&receipt)
	})
	if err != nil {
		return "", fmt.Errorf("put a message into the sandbox: %w", err)
	}
	return receipt, nil
}

// FindInSandbox returns the receipt of a message that the sandbox took in, or
// [ErrNotFound].
func (s *Store) FindInSandbox(ctx context.Context, project models.ProjectID, message string) (receipt string, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT receipt FROM sandbox_messages WHERE project_id = $1 AND message_id = $2`,
			string(project), message).Scan(&receipt)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", notFound("message in the sandbox")
	case err != nil:
		return "", fmt.Errorf("look into the sandbox: %w", err)
	default:
		return receipt, nil
	}
}

// Outbox returns a page of what a project's sandbox took in, newest first; the
// rows' identifiers are those of the messages.
func (s *Store) Outbox(ctx context.Context, project models.ProjectID, page Page) ([]SandboxMessage, error) {
	query := s.read(ctx).Where("project_id = ?", project)
	if page.Before != "" {
		query = query.Where("message_id < ?", page.Before)
	}
	var list []SandboxMessage
	if err := query.Order("message_id DESC").Limit(page.Limit).Find(&list).Error; err != nil {
		return nil, fmt.Errorf("list the sandbox's outbox: %w", err)
	}
	return list, nil
}
