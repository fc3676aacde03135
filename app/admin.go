package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/web/dashboard"
)

// Admin is what operators may do without a dashboard and without SQL.
type Admin struct {
	store      *store.Store
	clock      clock.Clock
	archiveURL string
	guard      *egress.Guard
}

// OpenAdmin connects to the database that the configuration names.
func OpenAdmin(ctx context.Context, cfg config.Config) (*Admin, error) {
	box, err := seal.New(cfg.EncryptionKeys)
	if err != nil {
		return nil, fmt.Errorf("encryption keys: %w", err)
	}
	s, err := store.Open(ctx, store.Config{URL: cfg.DatabaseURL, MaxConns: 2, Application: "botix-admin"}, box)
	if err != nil {
		return nil, err
	}
	return &Admin{store: s, clock: clock.System{}, archiveURL: cfg.ArchiveURL, guard: newGuard(cfg)}, nil
}

// Close ends the connection.
func (a *Admin) Close() error { return a.store.Close() }

// CreateProject makes a project on a plan. mode is live or test and stays.
func (a *Admin) CreateProject(ctx context.Context, name string, mode models.Mode, plan string) (models.Project, error) {
	now := a.clock.Now()
	project := models.Project{
		ID: models.ProjectID(models.NewID(models.PrefixProject, now)), Name: name, Mode: mode, PlanID: plan,
		APIVersion: models.CurrentAPIVersion, CreatedAt: now,
	}
	_, err := a.store.Write(ctx, project.ID, func(tx *store.Tx) error {
		tx.CreateProject(project)
		return nil
	})
	return project, err
}

// Projects lists every project, newest first.
func (a *Admin) Projects(ctx context.Context) ([]models.Project, error) { return a.store.Projects(ctx) }

// SetPlan puts a project on another plan.
func (a *Admin) SetPlan(ctx context.Context, project models.ProjectID, plan string) error {
	return a.store.SetPlan(ctx, project, plan)
}

// CreateKey makes an API key and returns its secret, which is shown only here.
// With a lifetime of 0 the key does not expire.
func (a *Admin) CreateKey(
	ctx context.Context, project models.ProjectID, name string, scopes []models.Scope, lifetime time.Duration,
) (secret string, key models.APIKey, err error) {
	mode, err := a.mode(ctx, project)
	if err != nil {
		return "", key, err
	}
	if secret, err = models.NewAPIKeySecret(mode); err != nil {
		return "", key, fmt.Errorf("make a key: %w", err)
	}
	now := a.clock.Now()
	key = models.APIKey{
		ID: models.NewID(models.PrefixKey, now), ProjectID: project, Name: name, Prefix: models.ShownPrefix(secret),
		Hash: models.HashAPIKey(secret), Scopes: scopes, CreatedAt: now,
	}
	if lifetime > 0 {
		expires := now.Add(lifetime)
		key.ExpiresAt = &expires
	}
	_, err = a.store.Write(ctx, project, func(tx *store.Tx) error { return tx.CreateAPIKey(ctx, key) })
	return secret, key, err
}

func (a *Admin) mode(ctx context.Context, project models.ProjectID) (models.Mode, error) {
	projects, err := a.store.Projects(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range projects {
		if p.ID == project {
			return p.Mode, nil
		}
	}
	return "", errors.New("there is no such project")
}

// Keys lists a project's keys, newest first.
func (a *Admin) Keys(ctx context.Context, project models.ProjectID) ([]models.APIKey, error) {
	return a.store.APIKeys(ctx, project)
}

// RevokeKey ends a key's use on every server within 5 seconds.
func (a *Admin) RevokeKey(ctx context.Context, project models.ProjectID, id string) error {
	_, err := a.store.Write(ctx, project, func(tx *store.Tx) error { return tx.RevokeAPIKey(ctx, id) })
	return err
}

// CreateUser makes a person who can sign in to a project's dashboard.
func (a *Admin) CreateUser(ctx context.Context, project models.ProjectID, email, password string) error {
	hash, err := dashboard.HashPassword(password)
	if err != nil {
		return fmt.Errorf("create user: %w", err)
	}
	now := a.clock.Now()
	user := models.User{ID: models.NewID(models.PrefixUser, now), Email: email, PasswordHash: hash, CreatedAt: now}
	_, err = a.store.Write(ctx, project, func(tx *store.Tx) error { tx.CreateUser(user); return nil })
	return err
}
