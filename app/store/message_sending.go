package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// ErrMoved is returned when a message is no longer where the caller left it:
// its lease ran out and somebody else decided, or the same outcome was recorded
// before.
var ErrMoved = errors.New("the message has been moved by somebody else")

// ClaimedMessage is a message that the caller holds and has to decide about.
type ClaimedMessage struct {
	models.Message

	Token string // proves the claim when the outcome is recorded
	// Settings are the channel's, a JSON object; nil: the project has none.
	Settings json.RawMessage
	// Unsealed is not nil when the settings cannot be decrypted.
	Unsealed error
	// ContactGone: the contact was deleted since the message was made.
	ContactGone bool
}

// MessageClaim asks for messages to send.
type MessageClaim struct {
	Token string // a new UUID
	Max   int    // the caller's free slots
	// PerChannel is how many messages of one project may be in flight on one
	// channel, so that a provider that hangs holds up its own project only. It is
	// exact within one claim; two workers at once may exceed it for a moment.
	PerChannel int
	Lease      time.Duration
}

// What a claimed message is sent with, whoever claims it.
const messageColumns = `m.id, m.project_id, m.contact_id, m.channel, m.address, m.text, m.template, m.variables, m.send_at, m.status,
	m.attempt_count, m.failures, m.maybe_sent, m.provider_message_id, m.error_code, m.error_detail, m.run_id, m.step_id,
	m.api_version, m.request_id, m.sent_at, m.created_at, m.updated_at`

const messageSurroundings = `m.claim_token::text,
	(SELECT c.settings FROM message_channels c WHERE c.project_id = m.project_id AND c.channel = m.channel),
	NOT EXISTS (SELECT 1 FROM contacts c WHERE c.project_id = m.project_id AND c.id = m.contact_id)`

// One statement decides what goes: what is due, of channels that are open and
// have room, the longest waiting first.
const sqlClaimMessages = `
	WITH busy AS (
		SELECT project_id, channel, count(*) AS n FROM messages WHERE status = 'sending' GROUP BY project_id, channel
	), shut AS (
		SELECT project_id, channel FROM busy WHERE n >= @per_channel
		UNION ALL
		SELECT project_id, channel FROM message_channels WHERE closed_until > clock_timestamp()
	), due AS (
		SELECT project_id, channel, id, next_attempt_at FROM messages
		WHERE status = 'queued' AND next_attempt_at <= now() AND (project_id, channel) NOT IN (SELECT project_id, channel FROM shut)
		ORDER BY next_attempt_at LIMIT @window
		FOR UPDATE SKIP LOCKED
	), ranked AS (
		SELECT due.*, row_number() OVER (PARTITION BY due.project_id, due.channel ORDER BY due.next_attempt_at)
		       + coalesce(busy.n, 0) AS place
		FROM due LEFT JOIN busy USING (project_id, channel)
	), chosen AS (
		SELECT project_id, id FROM ranked WHERE place <= @per_channel ORDER BY next_attempt_at LIMIT @max
	)
	UPDATE messages m SET status = 'sending', next_attempt_at = NULL, claim_token = @token::uuid,
	       lease_expires_at = clock_timestamp() + make_interval(secs => @lease), attempt_count = m.attempt_count + 1
	FROM chosen WHERE m.project_id = chosen.project_id AND m.id = chosen.id
	RETURNING ` + messageColumns + `, ` + messageSurroundings

// claimWindow is how many due messages are looked at for each one wanted.
const claimWindow = 4

// A holder that is dead or frozen holds a message no longer than its lease. What
// becomes of it is for the caller to say; the token is still that of the claim.
const sqlLostMessages = `
	SELECT ` + messageColumns + `, ` + messageSurroundings + `
	FROM messages m WHERE m.status = 'sending' AND m.lease_expires_at <= clock_timestamp()
	ORDER BY m.lease_expires_at LIMIT @max`

// ClaimMessages takes messages that are due: queued → sending. Each counts the
// send that is about to begin.
func (s *Store) ClaimMessages(ctx context.Context, claim MessageClaim) ([]ClaimedMessage, error) {
	return s.claimed(ctx, sqlClaimMessages, pgx.NamedArgs{
		"token": claim.Token, "max": claim.Max, "window": claim.Max * claimWindow, "per_channel": claim.PerChannel,
		"lease": claim.Lease.Seconds(),
	})
}

// LostMessages returns messages whose holder let its lease run out.
func (s *Store) LostMessages(ctx context.Context, limit int) ([]ClaimedMessage, error) {
	return s.claimed(ctx, sqlLostMessages, pgx.NamedArgs{"max": limit})
}

// ReleaseMessages undoes a claim of which the caller began no send.
func (s *Store) ReleaseMessages(ctx context.Context, token string) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, `
			UPDATE messages SET status = 'queued', next_attempt_at = clock_timestamp(), attempt_count = attempt_count - 1,
			       claim_token = NULL, lease_expires_at = NULL
			WHERE status = 'sending' AND claim_token = $1::uuid`, token)
		if err != nil {
			return fmt.Errorf("give messages back: %w", err)
		}
		return nil
	})
}

func (s *Store) claimed(ctx context.Context, sql string, args pgx.NamedArgs) (list []ClaimedMessage, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sql, args)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, s.scanMessage)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim messages: %w", err)
	}
	return list, nil
}

func (s *Store) scanMessage(row pgx.CollectableRow) (ClaimedMessage, error) {
	var c ClaimedMessage
	var sealed []byte
	m := &c.Message
	err := row.Scan(&m.ID, &m.ProjectID, &m.ContactID, &m.Channel, &m.Address, &m.Text, &m.Template, &m.Variables, &m.SendAt, &m.Status,
		&m.AttemptCount, &m.Failures, &m.MaybeSent, &m.ProviderMessageID, &m.ErrorCode, &m.ErrorDetail, &m.RunID, &m.StepID,
		&m.APIVersion, &m.RequestID, &m.SentAt, &m.CreatedAt, &m.UpdatedAt, &c.Token, &sealed, &c.ContactGone)
	if err != nil {
		return c, fmt.Errorf("read a claimed message: %w", err)
	}
	if sealed != nil {
		c.Unsealed = s.openJSON(sealed, secretOwner(channelsTable, m.ProjectID, string(m.Channel)), &c.Settings)
	}
	return c, nil
}

// MessageOutcome is what came of a claimed message, and what becomes of it.
type MessageOutcome struct {
	ProjectID models.ProjectID
	ID        string
	Token     string // of the claim
	Number    int    // the attempt's
	// Status is sent, delivered, failed, unknown or, to be tried again, queued.
	// delivered is taken by way of sent, with both events.
	Status            models.MessageStatus
	ProviderMessageID *string
	Error             *models.MessageError
	DueIn             time.Duration // of queued
	// Failed: the try counts on the ladder of delays.
	Failed bool
	// MaybeSent: the channel's answer was lost, or nobody waited for it.
	MaybeSent bool
	// CloseFor keeps everything of the project away from the channel for that long.
	CloseFor time.Duration
}

// The claim has to hold. An answer that comes after the lease is still heard:
// then nobody could tell until now.
const (
	sqlRecordMessage = `
		UPDATE messages SET
		       status = CAST(@status AS text), next_attempt_at = CASE WHEN CAST(@status AS text) = 'queued' THEN clock_timestamp() + make_interval(secs => CAST(@due_in AS float8)) END,
		       claim_token = NULL, lease_expires_at = NULL, failures = failures + CASE WHEN @failed THEN 1 ELSE 0 END, maybe_sent = maybe_sent OR CAST(@maybe_sent AS boolean),
		       provider_message_id = @provider, error_code = @code, error_detail = @detail,
		       sent_at = CASE WHEN CAST(@status AS text) = 'sent' THEN CAST(@now AS timestamptz) END, updated_at = @now
		WHERE project_id = @project AND id = @id
		  AND (status = 'sending' AND claim_token = CAST(@token AS uuid)
		       OR status = 'unknown' AND attempt_count = @number AND CAST(@status AS text) IN ('sent', 'failed'))
		RETURNING *`
	sqlMessageDelivered = `
		UPDATE messages SET status = 'delivered', updated_at = $3 WHERE project_id = $1 AND id = $2 AND status = 'sent'`
	sqlCloseChannel = `
		UPDATE message_channels SET closed_until = greatest(closed_until, clock_timestamp() + make_interval(secs => $3))
		WHERE project_id = $1 AND channel = $2`
)

// RecordMessage moves a claimed message, with its event, in one transaction. It
// returns the endpoints that have something due, or [ErrMoved].
func (s *Store) RecordMessage(ctx context.Context, o MessageOutcome) ([]Lane, error) {
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	lanes, err := s.Write(ctx, o.ProjectID, func(tx *Tx) error { return tx.recordMessage(ctx, o) })
	if err != nil {
		return nil, fmt.Errorf("record the outcome of message %s: %w", o.ID, err)
	}
	return lanes, nil
}

func (tx *Tx) recordMessage(ctx context.Context, o MessageOutcome) error {
	m, err := tx.moveMessage(ctx, o)
	if err != nil {
		return err
	}
	if o.CloseFor > 0 {
		tx.exec(sqlCloseChannel, string(tx.project), string(m.Channel), o.CloseFor.Seconds())
	}
	if m.Status == models.MessageQueued {
		return nil // it was told when it was made
	}
	if err := tx.appendMessageEvent(m); err != nil || o.Status != models.MessageDelivered {
		return err
	}
	m.Status = models.MessageDelivered
	tx.exec(sqlMessageDelivered, string(tx.project), m.ID, tx.Now())
	return tx.appendMessageEvent(m)
}

// moveMessage is sent at once: whether the message was still there decides
// whether there is an event.
func (tx *Tx) moveMessage(ctx context.Context, o MessageOutcome) (*models.Message, error) {
	status := o.Status
	if status == models.MessageDelivered {
		status = models.MessageSent
	}
	var code, detail *string
	if o.Error != nil {
		code, detail = &o.Error.Code, &o.Error.Detail
	}
	var m models.Message
	found := tx.read(ctx).Raw(sqlRecordMessage, map[string]any{
		"project": string(tx.project), "id": o.ID, "token": o.Token, "number": o.Number, "status": string(status),
		"due_in": o.DueIn.Seconds(), "failed": o.Failed, "maybe_sent": o.MaybeSent, "provider": o.ProviderMessageID,
		"code": code, "detail": detail, "now": tx.Now(),
	}).Scan(&m)
	switch {
	case found.Error != nil:
		return nil, fmt.Errorf("move the message: %w", found.Error)
	case found.RowsAffected == 0:
		return nil, ErrMoved
	default:
		return &m, nil
	}
}
