package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// UnwrittenArchive is an archive that the caller has to write: it holds the lease
// on it, and nobody deletes its dead letters before [Store.FinishArchive].
type UnwrittenArchive struct {
	ProjectID models.ProjectID
	ID        string
	Object    string // the key to write to
	Token     string // proves the lease
}

const (
	sqlTakeOverArchive = `
		UPDATE archives a SET token = $1::uuid, lease_expires_at = clock_timestamp() + make_interval(secs => $2)
		FROM (SELECT project_id, id FROM archives WHERE lease_expires_at <= clock_timestamp()
		      ORDER BY lease_expires_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS left_behind
		WHERE a.project_id = left_behind.project_id AND a.id = left_behind.id
		RETURNING a.project_id, a.id, a.object, a.token::text`
	// The dead letters of one project that are over, marked as on their way.
	sqlBeginArchive = `
		WITH project AS (
			SELECT p.id FROM projects p JOIN plans t ON t.id = p.plan_id
			WHERE ` + planArchives + ` AND EXISTS (
				SELECT 1 FROM dead_letters l WHERE l.project_id = p.id AND l.expires_at <= now() AND l.archive_id IS NULL)
			ORDER BY random() LIMIT 1
		), batch AS (
			SELECT l.project_id, l.id FROM dead_letters l JOIN project p ON l.project_id = p.id
			WHERE l.expires_at <= now() AND l.archive_id IS NULL
			ORDER BY l.expires_at LIMIT $1 FOR UPDATE OF l SKIP LOCKED
		), marked AS (
			UPDATE dead_letters l SET archive_id = $2 FROM batch WHERE l.project_id = batch.project_id AND l.id = batch.id
			RETURNING l.project_id
		)
		INSERT INTO archives (project_id, id, object, token, lease_expires_at)
		SELECT m.project_id, $2, m.project_id || $3::text, $4::uuid, clock_timestamp() + make_interval(secs => $5)
		FROM (SELECT DISTINCT project_id FROM marked) AS m
		RETURNING project_id, id, object, token::text`
	// Every column there is, so that what later columns hold is archived as well;
	// the event's bytes as the text they are, for people.
	sqlArchiveLines = `
		SELECT l.created_at, json_build_object(
			'format', 'botix.dead_letter.v1', 'dead_letter', to_jsonb(l) - 'archive_id', 'delivery', to_jsonb(d),
			'event', to_jsonb(e) || jsonb_build_object('body', convert_from(e.body, 'UTF8'), 'data', convert_from(e.data, 'UTF8')),
			'attempt', coalesce(to_jsonb(a), to_jsonb(k)))::text
		FROM dead_letters l
		LEFT JOIN webhook_deliveries d ON d.project_id = l.project_id AND d.id = l.delivery_id
		LEFT JOIN events e ON e.project_id = l.project_id AND e.id = l.event_id
		LEFT JOIN LATERAL (
			SELECT * FROM webhook_attempts a WHERE a.project_id = l.project_id AND a.delivery_id = compact_id(l.delivery_id)
			ORDER BY a.number DESC LIMIT 1) AS a ON true
		LEFT JOIN dead_letter_attempts k ON k.project_id = l.project_id AND k.id = compact_id(l.attempt_id)
		WHERE l.project_id = $1 AND l.archive_id = $2 ORDER BY l.id`
	// Nothing is deleted by whoever has lost the lease.
	sqlFinishArchive = `
		WITH written AS (
			UPDATE archives SET lease_expires_at = NULL, letters = $4, first_at = $5, last_at = $6
			WHERE project_id = $1 AND id = $2 AND token = $3::uuid AND lease_expires_at IS NOT NULL
			RETURNING project_id, id
		), dropped AS (
			DELETE FROM dead_letters l USING written w WHERE l.project_id = w.project_id AND l.archive_id = w.id
		)
		SELECT count(*) = 1 FROM written`
	sqlDropArchive = `
		DELETE FROM archives WHERE project_id = $1 AND id = $2 AND token = $3::uuid AND lease_expires_at IS NOT NULL`
)

// BeginArchive returns an archive to write, with at most limit dead letters whose
// retention is over, of a project whose plan has the archive; one that another
// worker left unwritten comes first. It is nil when there is nothing to archive.
// The caller has it for the length of the lease.
func (s *Store) BeginArchive(ctx context.Context, lease time.Duration, limit int) (*UnwrittenArchive, error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	token, id := uuid.NewString(), models.NewID(models.PrefixArchive, now)
	key := now.UTC().Format("/2006/01/02/") + id[len(models.PrefixArchive):] + ".jsonl.gz"
	var list []UnwrittenArchive
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		list, err = collectArchives(c.Query(ctx, sqlTakeOverArchive, token, lease.Seconds()))
		if err != nil || len(list) > 0 {
			return err
		}
		list, err = collectArchives(c.Query(ctx, sqlBeginArchive, limit, id, key, token, lease.Seconds()))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("begin an archive: %w", err)
	}
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // nothing to archive is the usual case, not a fault
	}
	return &list[0], nil
}

func collectArchives(rows pgx.Rows, err error) ([]UnwrittenArchive, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[UnwrittenArchive])
}

// ArchiveLines calls write with every dead letter of an archive, as one line of
// JSON without its end, and with the time of its death.
func (s *Store) ArchiveLines(ctx context.Context, a *UnwrittenArchive, write func(line string, diedAt time.Time) error) error {
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sqlArchiveLines, string(a.ProjectID), a.ID)
		if err != nil {
			return err
		}
		var line string
		var diedAt time.Time
		_, err = pgx.ForEachRow(rows, []any{&diedAt, &line}, func() error { return write(line, diedAt) })
		return err
	})
	if err != nil {
		return fmt.Errorf("read what is to be archived: %w", err)
	}
	return nil
}

// FinishArchive takes note that an archive's object is written and deletes its
// dead letters, in one statement. It returns false, and has changed nothing, when
// the lease was lost to another worker.
func (s *Store) FinishArchive(ctx context.Context, a *UnwrittenArchive, letters int, first, last time.Time) (done bool, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlFinishArchive, string(a.ProjectID), a.ID, a.Token, letters, first, last).Scan(&done)
	})
	if err != nil {
		return false, fmt.Errorf("finish an archive: %w", err)
	}
	return done, nil
}

// DropArchive forgets an archive that has nothing in it: every dead letter of it
// was sent again meanwhile.
func (s *Store) DropArchive(ctx context.Context, a *UnwrittenArchive) error {
	_, err := s.affected(ctx, "drop an empty archive", sqlDropArchive, string(a.ProjectID), a.ID, a.Token)
	return err
}

// Archives returns a page of a project's written archives, newest first.
func (s *Store) Archives(ctx context.Context, project models.ProjectID, page Page) ([]models.Archive, error) {
	var list []models.Archive
	query := s.read(ctx).Where("project_id = ? AND lease_expires_at IS NULL", project)
	if err := page.newestFirst(query).Find(&list).Error; err != nil {
		return nil, fmt.Errorf("list archives: %w", err)
	}
	return list, nil
}

// Archive returns the project's written archive with the object's key, or
// [ErrNotFound].
func (s *Store) Archive(ctx context.Context, project models.ProjectID, object string) (*models.Archive, error) {
	var a models.Archive
	err := s.read(ctx).Where("project_id = ? AND object = ? AND lease_expires_at IS NULL", project, object).Take(&a).Error
	if err != nil {
		return nil, one(err, "archive")
	}
	return &a, nil
}
