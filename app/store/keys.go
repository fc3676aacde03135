package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// MaxActiveKeys is how many usable API keys a project may have (contract §1).
const MaxActiveKeys = 20

// ErrTooManyKeys is returned when a project already has [MaxActiveKeys].
var ErrTooManyKeys = errors.New("the project has as many active API keys as it may have; revoke one first")

const (
	sqlCreateKey = `
		INSERT INTO api_keys (id, project_id, name, prefix, hash, scopes, expires_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	sqlActiveKeys = `
		SELECT count(*) FROM api_keys WHERE project_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
	sqlTouchKeys = `
		UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, u.at)
		FROM unnest($1::text[], $2::timestamptz[]) AS u (id, at) WHERE k.id = u.id`
)

// CreateAPIKey queues a key's insertion; its secret is not stored. It returns
// [ErrTooManyKeys] for a project that has [MaxActiveKeys] already; creations of
// one project's keys wait for each other, so that the count holds.
func (tx *Tx) CreateAPIKey(ctx context.Context, k models.APIKey) error {
	if err := tx.read(ctx).Exec(`SELECT 1 FROM projects WHERE id = ? FOR UPDATE`, tx.project).Error; err != nil {
		return fmt.Errorf("lock the project: %w", err)
	}
	var active int
	if err := tx.read(ctx).Raw(sqlActiveKeys, tx.project).Scan(&active).Error; err != nil {
		return fmt.Errorf("count the project's keys: %w", err)
	}
	if active >= MaxActiveKeys {
		return ErrTooManyKeys
	}
	scopes := make([]string, len(k.Scopes))
	for i, scope := range k.Scopes {
		scopes[i] = string(scope)
	}
	tx.exec(sqlCreateKey, k.ID, string(tx.project), k.Name, k.Prefix, k.Hash, scopes, k.ExpiresAt, k.CreatedAt)
	return nil
}

// APIKeys returns all keys of a project, newest first, without their hashes.
func (s *Store) APIKeys(ctx context.Context, project models.ProjectID) ([]models.APIKey, error) {
	var keys []models.APIKey
	err := s.read(ctx).Raw(`
		SELECT id, project_id, name, prefix, array_to_json(scopes) AS scopes, expires_at, revoked_at, last_used_at, created_at
		FROM api_keys WHERE project_id = ? ORDER BY id DESC`, project).Scan(&keys).Error
	if err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	return keys, nil
}

// RevokeAPIKey ends a key's use, or returns [ErrNotFound]. Servers follow within
// 5 seconds (contract §1). Revoking a revoked key changes nothing.
func (tx *Tx) RevokeAPIKey(ctx context.Context, id string) error {
	done := tx.read(ctx).Exec(`UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE project_id = ? AND id = ?`, tx.project, id)
	switch {
	case done.Error != nil:
		return fmt.Errorf("revoke API key: %w", done.Error)
	case done.RowsAffected == 0:
		return notFound("API key")
	default:
		return nil
	}
}

// TouchAPIKeys records when keys were last used, by id.
func (s *Store) TouchAPIKeys(ctx context.Context, used map[string]time.Time) error {
	ids, times := make([]string, 0, len(used)), make([]time.Time, 0, len(used))
	for id, at := range used {
		ids, times = append(ids, id), append(times, at)
	}
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, sqlTouchKeys, ids, times)
		return err
	})
	if err != nil {
		return fmt.Errorf("record the keys' use: %w", err)
	}
	return nil
}

// Projects returns every project, newest first: for operators.
func (s *Store) Projects(ctx context.Context) ([]models.Project, error) {
	var projects []models.Project
	if err := s.read(ctx).Order("id DESC").Find(&projects).Error; err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	return projects, nil
}

// SetPlan puts a project on another plan, or returns [ErrNotFound] when there is
// no such project or plan. Servers follow within 10 seconds (contract §4).
func (s *Store) SetPlan(ctx context.Context, project models.ProjectID, plan string) error {
	done := s.read(ctx).Exec(`UPDATE projects SET plan_id = p.id FROM plans p WHERE projects.id = ? AND p.id = ?`, project, plan)
	switch {
	case done.Error != nil:
		return fmt.Errorf("set the plan: %w", done.Error)
	case done.RowsAffected == 0:
		return notFound("project or plan")
	default:
		return nil
	}
}
