package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const (
	sqlAddNotice = `
		INSERT INTO notices (project_id, id, kind, endpoint_id, level, params, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	sqlAddMails = `
		INSERT INTO notice_mails (project_id, notice_id, email)
		SELECT m.project_id, $2, u.email FROM project_members m JOIN users u ON u.id = m.user_id WHERE m.project_id = $1`
	// A claim is a lease: whoever dies with it leaves the mail due again when the
	// pause is over, which grows with every try.
	sqlClaimMails = `
		UPDATE notice_mails m SET attempts = m.attempts + 1,
		       due_at = CASE WHEN m.attempts + 1 < @max THEN clock_timestamp() + make_interval(secs => @pause * (1 << m.attempts)) END
		FROM (SELECT d.project_id, d.notice_id, d.email FROM notice_mails d
		      -- Not what waited for days because nobody had set SMTP.
		      WHERE d.due_at <= clock_timestamp() AND d.due_at > clock_timestamp() - interval '3 days' ORDER BY d.due_at LIMIT @limit FOR UPDATE SKIP LOCKED) AS due,
		     notices n, projects p
		WHERE m.project_id = due.project_id AND m.notice_id = due.notice_id AND m.email = due.email
		  AND n.project_id = m.project_id AND n.id = m.notice_id AND p.id = m.project_id
		RETURNING n.project_id, n.id, n.kind, n.endpoint_id, n.level, n.params, n.created_at, p.name, m.email, m.attempts`
	// attempts tells this claim from a later one.
	sqlMailed = `
		UPDATE notice_mails SET mailed_at = clock_timestamp(), due_at = NULL, error = ''
		WHERE project_id = $1 AND notice_id = $2 AND email = $3 AND mailed_at IS NULL`
	sqlMailFailed = `
		UPDATE notice_mails SET error = $5
		WHERE project_id = $1 AND notice_id = $2 AND email = $3 AND attempts = $4 AND mailed_at IS NULL`
	sqlDismiss = `UPDATE notices SET read_at = coalesce(read_at, now()) WHERE project_id = ? AND id = ?`
)

// notify queues a notice and its mails. The notice's ID and CreatedAt are set
// here.
func (tx *Tx) notify(n models.Notice) error {
	params, err := json.Marshal(n.Params)
	if err != nil {
		return fmt.Errorf("encode a notice: %w", err)
	}
	id := models.NewID(models.PrefixNotice, tx.Now())
	tx.exec(sqlAddNotice, string(n.ProjectID), id, string(n.Kind), n.EndpointID, n.Level, params, tx.Now())
	tx.exec(sqlAddMails, string(n.ProjectID), id)
	return nil
}

// Notices returns the project's latest notices that nobody has dismissed, at
// most limit, newest first.
func (s *Store) Notices(ctx context.Context, project models.ProjectID, limit int) ([]models.Notice, error) {
	var list []models.Notice
	err := s.read(ctx).Where("project_id = ? AND read_at IS NULL", project).Order("id DESC").Limit(limit).Find(&list).Error
	if err != nil {
		return nil, fmt.Errorf("list notices: %w", err)
	}
	return list, nil
}

// NoticesOf returns what a project's members were told about one endpoint,
// dismissed or not, newest first.
func (s *Store) NoticesOf(ctx context.Context, project models.ProjectID, endpoint string, limit int) ([]models.Notice, error) {
	var notices []models.Notice
	err := s.read(ctx).Where("project_id = ? AND endpoint_id = ?", project, endpoint).Order("id DESC").Limit(limit).Find(&notices).Error
	if err != nil {
		return nil, fmt.Errorf("list an endpoint's notices: %w", err)
	}
	return notices, nil
}

// DismissNotice takes a notice off the dashboard for everybody in the project, or
// returns [ErrNotFound]. Dismissing it again changes nothing.
func (s *Store) DismissNotice(ctx context.Context, project models.ProjectID, id string) error {
	done := s.read(ctx).Exec(sqlDismiss, project, id)
	switch {
	case done.Error != nil:
		return fmt.Errorf("dismiss a notice: %w", done.Error)
	case done.RowsAffected == 0:
		return notFound("notice")
	default:
		return nil
	}
}

// MailRule says how mails are tried again: Max times at most, the first time
// after Pause, then after twice as long each time. Pause must be longer than a
// mail may take, since it is also how long a claim holds.
type MailRule struct {
	Max   int
	Pause time.Duration
}

// ClaimMails takes at most limit mails that are due. Each must be reported to
// [Store.MailDone]; one that is not, is due again after its pause: a mail is sent
// at least once while its tries last, and twice when its sender died in between.
func (s *Store) ClaimMails(ctx context.Context, rule MailRule, limit int) (list []models.NoticeMail, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sqlClaimMails, pgx.NamedArgs{"max": rule.Max, "pause": rule.Pause.Seconds(), "limit": limit})
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanMail)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim mails: %w", err)
	}
	return list, nil
}

func scanMail(row pgx.CollectableRow) (m models.NoticeMail, err error) {
	var params []byte
	err = row.Scan(&m.ProjectID, &m.ID, &m.Kind, &m.EndpointID, &m.Level, &params, &m.CreatedAt, &m.Project, &m.Email, &m.Attempt)
	if err == nil {
		err = json.Unmarshal(params, &m.Params)
	}
	return m, err
}

// MailDone takes note of what came of a claimed mail: sent, or not sent and why.
func (s *Store) MailDone(ctx context.Context, m models.NoticeMail, failure error) error {
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		if failure == nil {
			_, err := c.Exec(ctx, sqlMailed, string(m.ProjectID), m.ID, m.Email)
			return err
		}
		_, err := c.Exec(ctx, sqlMailFailed, string(m.ProjectID), m.ID, m.Email, m.Attempt, strings.ToValidUTF8(strings.ReplaceAll(failure.Error(), "\x00", ""), "?"))
		return err
	})
	if err != nil {
		return fmt.Errorf("record a mail: %w", err)
	}
	return nil
}
