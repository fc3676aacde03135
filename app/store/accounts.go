package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// callerRow is a key with its project and plan, as one query returns them.
type callerRow struct {
	KeyID, KeyName, Prefix, Scopes                   string
	ExpiresAt, RevokedAt                             *time.Time
	CreatedAt                                        time.Time
	ProjectID, ProjectName, Mode, PlanID, APIVersion string
	PlanName                                         string
	Limits                                           []byte
}

const sqlFindCaller = `
	SELECT k.id AS key_id, k.name AS key_name, k.prefix, array_to_string(k.scopes, ',') AS scopes, k.expires_at, k.revoked_at, k.created_at,
	       p.id AS project_id, p.name AS project_name, p.mode, p.plan_id, p.api_version, t.name AS plan_name, t.limits
	FROM api_keys k JOIN projects p ON p.id = k.project_id JOIN plans t ON t.id = p.plan_id
	WHERE k.hash = ?`

// CallerByKeyHash returns whom an API key speaks for, usable or not, or
// [ErrNotFound]. hash is [models.HashAPIKey] of the key.
func (s *Store) CallerByKeyHash(ctx context.Context, hash []byte) (*models.Caller, error) {
	var row callerRow
	if err := s.read(ctx).Raw(sqlFindCaller, hash).Take(&row).Error; err != nil {
		return nil, one(err, "API key")
	}
	limits, err := models.ParsePlanLimits(row.Limits)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", row.PlanID, err)
	}
	return row.caller(hash, limits), nil
}

func (r callerRow) caller(hash []byte, limits models.PlanLimits) *models.Caller {
	project := models.ProjectID(r.ProjectID)
	caller := &models.Caller{
		Key: models.APIKey{
			ID: r.KeyID, ProjectID: project, Name: r.KeyName, Prefix: r.Prefix, Hash: hash,
			ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt, CreatedAt: r.CreatedAt,
		},
		Project: models.Project{
			ID: project, Name: r.ProjectName, Mode: models.Mode(r.Mode), PlanID: r.PlanID, APIVersion: r.APIVersion,
		},
		Plan: models.Plan{ID: r.PlanID, Name: r.PlanName, Limits: limits},
	}
	for _, scope := range strings.Split(r.Scopes, ",") {
		caller.Key.Scopes = append(caller.Key.Scopes, models.Scope(scope))
	}
	return caller
}

// CreateProject queues the insertion of the transaction's own project.
func (tx *Tx) CreateProject(p models.Project) {
	tx.exec(`INSERT INTO projects (id, name, mode, plan_id, api_version, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		string(tx.project), p.Name, string(p.Mode), p.PlanID, p.APIVersion, p.CreatedAt)
}

// UserByEmail returns the user with the address, given in lower case, or
// [ErrNotFound].
func (s *Store) UserByEmail(ctx context.Context, email string) (*models.User, error) {
	var u models.User
	if err := s.read(ctx).Where("email = ?", email).Take(&u).Error; err != nil {
		return nil, one(err, "user")
	}
	return &u, nil
}

// Attention is how much of a project waits for a person.
type Attention struct {
	DeadLetters       int64 // at most [MaxAttention]
	DisabledEndpoints int64
}

// MaxAttention is where counting ends: beyond it the number says nothing more.
const MaxAttention = 1000

// Attention counts what waits for a person in a project.
func (s *Store) Attention(ctx context.Context, project models.ProjectID) (Attention, error) {
	var counted Attention
	err := s.read(ctx).Raw(`
		SELECT (SELECT count(*) FROM (SELECT FROM dead_letters WHERE project_id = @project LIMIT @most) AS d) AS dead_letters,
		       (SELECT count(*) FROM webhook_endpoints WHERE project_id = @project AND status = 'disabled') AS disabled_endpoints`,
		map[string]any{"project": project, "most": MaxAttention}).Scan(&counted).Error
	if err != nil {
		return Attention{}, fmt.Errorf("count what waits: %w", err)
	}
	return counted, nil
}
