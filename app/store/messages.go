package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/botix-pro/platform/app/models"
)

const (
	sqlCreateMessage = `
		INSERT INTO messages (project_id, id, contact_id, channel, address, text, template, variables, send_at, status,
		       next_attempt_at, run_id, step_id, api_version, request_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::timestamptz, 'queued', greatest($9::timestamptz, $10::timestamptz), $11, $12, $13, $14, $10, $10)`
	sqlCancelMessage = `
		UPDATE messages SET status = 'cancelled', next_attempt_at = NULL, updated_at = $3
		WHERE project_id = $1 AND id = $2 AND status = 'queued'`
	sqlSettleMessage = `
		UPDATE messages SET status = $3, error_code = $4, error_detail = $5, sent_at = $6, updated_at = $7
		WHERE project_id = $1 AND id = $2 AND status = 'unknown'`
	sqlCreateSettlement = `
		INSERT INTO message_settlements (project_id, message_id, id, key_id, user_id, user_email, from_status, to_status, reason, request_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
)

// MessageFilter narrows a list of messages; nil fields do not.
type MessageFilter struct {
	Span

	ContactID, Channel, Status, RunID *string
}

// CreateMessage queues the insertion of a message together with its
// message.queued event. What [models.MessageDraft.Compose] filled in is kept;
// APIVersion must be set, RequestID, RunID and StepID where there are any. The
// rest is given here: the id, the state and the times.
func (tx *Tx) CreateMessage(m *models.Message) error {
	now := tx.Now()
	m.ProjectID, m.ID = tx.project, models.NewID(models.PrefixMessage, now)
	m.Status, m.CreatedAt, m.UpdatedAt = models.MessageQueued, now, now
	tx.exec(sqlCreateMessage, string(tx.project), m.ID, m.ContactID, string(m.Channel), m.Address, m.Text, m.Template,
		m.Variables, m.SendAt, now, m.RunID, m.StepID, m.APIVersion, m.RequestID)
	if m.SendAt == nil || !m.SendAt.After(now) {
		tx.due(WorkMessages)
	}
	return tx.appendMessageEvent(m)
}

// CancelMessage queues the end of a message that [Tx.LockMessage] returned as
// queued, with its event.
func (tx *Tx) CancelMessage(m *models.Message) error {
	m.Status, m.UpdatedAt = models.MessageCancelled, tx.Now()
	tx.exec(sqlCancelMessage, string(tx.project), m.ID, m.UpdatedAt)
	return tx.appendMessageEvent(m)
}

// SettleMessage queues a person's decision about a message that
// [Tx.LockMessage] returned as unknown: its new state, its event and the record
// of the decision, whose ToStatus, Reason, and KeyID or UserID and UserEmail must be
// set.
func (tx *Tx) SettleMessage(m *models.Message, decision *models.MessageSettlement) error {
	now := tx.Now()
	decision.ProjectID, decision.MessageID, decision.ID = tx.project, m.ID, models.NewID(models.PrefixSettlement, now)
	decision.FromStatus, decision.CreatedAt = m.Status, now
	m.Status, m.UpdatedAt = decision.ToStatus, now
	if m.Status == models.MessageFailed {
		code := "SETTLED"
		m.ErrorCode, m.ErrorDetail = &code, &decision.Reason
	} else {
		m.ErrorCode, m.ErrorDetail, m.SentAt = nil, nil, &now
	}
	tx.exec(sqlSettleMessage, string(tx.project), m.ID, string(m.Status), m.ErrorCode, m.ErrorDetail, m.SentAt, now)
	tx.exec(sqlCreateSettlement, string(tx.project), m.ID, decision.ID, decision.KeyID, decision.UserID, decision.UserEmail, string(decision.FromStatus),
		string(decision.ToStatus), decision.Reason, decision.RequestID, now)
	return tx.appendMessageEvent(m)
}

func (tx *Tx) appendMessageEvent(m *models.Message) error {
	event, err := m.Event(tx.Now())
	if err != nil {
		return fmt.Errorf("the event of a message: %w", err)
	}
	if event != nil {
		tx.AppendEvent(event)
	}
	if m.RunID != nil && m.Status != models.MessageQueued {
		tx.due(WorkRuns) // whose step may have waited for this
	}
	return nil
}

// LockMessage returns a message that nobody else can move until the transaction
// ends, or [ErrNotFound].
func (tx *Tx) LockMessage(ctx context.Context, id string) (*models.Message, error) {
	var m models.Message
	err := tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).
		Where("project_id = ? AND id = ?", tx.project, id).Take(&m).Error
	if err != nil {
		return nil, one(err, "message")
	}
	return &m, nil
}

// Message returns one message of the project, or [ErrNotFound].
func (s *Store) Message(ctx context.Context, project models.ProjectID, id string) (*models.Message, error) {
	return message(s.read(ctx), project, id)
}

// Messages returns a page of the project's messages, newest first.
func (s *Store) Messages(ctx context.Context, project models.ProjectID, filter MessageFilter, page Page) ([]models.Message, error) {
	query := filter.narrow(s.read(ctx).Where("project_id = ?", project))
	for condition, value := range map[string]*string{
		"contact_id = ?": filter.ContactID, "channel = ?": filter.Channel, "status = ?": filter.Status,
		"run_id = ?": filter.RunID,
	} {
		if value != nil {
			query = query.Where(condition, *value)
		}
	}
	var messages []models.Message
	if err := page.newestFirst(query).Find(&messages).Error; err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return messages, nil
}

// Settlements returns what people decided about a message, in order.
func (s *Store) Settlements(ctx context.Context, project models.ProjectID, message string) ([]models.MessageSettlement, error) {
	var list []models.MessageSettlement
	err := s.read(ctx).Where("project_id = ? AND message_id = ?", project, message).Order("id").Find(&list).Error
	if err != nil {
		return nil, fmt.Errorf("list a message's settlements: %w", err)
	}
	return list, nil
}

// ShareContact returns a contact that nobody can delete until the
// transaction ends, or [ErrNotFound].
func (tx *Tx) ShareContact(ctx context.Context, id string) (*models.Contact, error) {
	var c models.Contact
	err := tx.read(ctx).Clauses(clause.Locking{Strength: "KEY SHARE"}).
		Where("project_id = ? AND id = ?", tx.project, id).Take(&c).Error
	if err != nil {
		return nil, one(err, "contact")
	}
	return &c, nil
}

// Message returns one message of the project within the transaction, without
// keeping it from moving, or [ErrNotFound].
func (tx *Tx) Message(ctx context.Context, id string) (*models.Message, error) {
	return message(tx.read(ctx), tx.project, id)
}

func message(q *gorm.DB, project models.ProjectID, id string) (*models.Message, error) {
	var m models.Message
	if err := q.Where("project_id = ? AND id = ?", project, id).Take(&m).Error; err != nil {
		return nil, one(err, "message")
	}
	return &m, nil
}
