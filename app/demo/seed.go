package demo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// Credentials are what a developer needs to use the demo project. They are kept
// in a file that only its owner can read, so that a second start prints the same.
type Credentials struct {
	ProjectID     models.ProjectID `json:"project_id"`
	EndpointID    string           `json:"endpoint_id"`
	APIKey        string           `json:"api_key"`
	Email         string           `json:"dashboard_email"`
	Password      string           `json:"dashboard_password"`
	WebhookSecret string           `json:"webhook_secret"`
}

// Seed makes the demo project.
type Seed struct {
	Store        *store.Store
	Clock        clock.Clock
	File         string // where the credentials are kept
	HashPassword func(string) (string, error)
}

// Credentials returns the kept ones, or makes new ones and keeps them.
func (s Seed) Credentials() (Credentials, error) {
	raw, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return s.newCredentials()
	}
	var kept Credentials
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("read the demo's credentials: %w", err)
	}
	return kept, nil
}

func (s Seed) newCredentials() (Credentials, error) {
	now := s.Clock.Now()
	key, err := models.NewAPIKeySecret(models.ModeLive)
	if err != nil {
		return Credentials{}, fmt.Errorf("make the demo's key: %w", err)
	}
	made := Credentials{
		ProjectID:  models.ProjectID(models.NewID(models.PrefixProject, now)),
		EndpointID: models.NewID(models.PrefixEndpoint, now),
		APIKey:     key, Email: "demo@example.com", Password: randomText(12),
		WebhookSecret: "whsec_" + base64.StdEncoding.EncodeToString(randomBytes(32)),
	}
	raw, err := json.MarshalIndent(made, "", "  ") //nolint:gosec // the demo's own key, in a file that only its owner reads
	if err == nil {
		err = os.WriteFile(s.File, raw, 0o600)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("keep the demo's credentials: %w", err)
	}
	return made, nil
}

// Plant makes sure that the database has what the credentials name, and that
// the endpoint points at receiverURL, whose port may differ at each start.
func (s Seed) Plant(ctx context.Context, c Credentials, receiverURL string) error {
	_, err := s.Store.CallerByKeyHash(ctx, models.HashAPIKey(c.APIKey))
	switch {
	case err == nil:
		return s.Store.SetEndpointURL(ctx, c.ProjectID, c.EndpointID, receiverURL)
	case errors.Is(err, store.ErrNotFound):
		return s.plant(ctx, c, receiverURL)
	default:
		return fmt.Errorf("look for the demo project: %w", err)
	}
}

// plant creates everything in one transaction.
func (s Seed) plant(ctx context.Context, c Credentials, receiverURL string) error {
	hash, err := s.HashPassword(c.Password)
	if err != nil {
		return fmt.Errorf("plant the demo: %w", err)
	}
	now := s.Clock.Now()
	_, err = s.Store.Write(ctx, c.ProjectID, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{
			Name: "Demo", Mode: models.ModeLive, PlanID: "business", APIVersion: models.CurrentAPIVersion, CreatedAt: now,
		})
		tx.CreateUser(models.User{ID: models.NewID(models.PrefixUser, now), Email: c.Email, PasswordHash: hash, CreatedAt: now})
		if err := tx.CreateAPIKey(ctx, models.APIKey{
			ID: models.NewID(models.PrefixKey, now), Name: "Demo key",
			Prefix: models.ShownPrefix(c.APIKey), Hash: models.HashAPIKey(c.APIKey),
			Scopes: []models.Scope{models.ScopeRead, models.ScopeWrite}, CreatedAt: now,
		}); err != nil {
			return err
		}
		if err := tx.CreateScenario(s.scenario()); err != nil {
			return err
		}
		return tx.CreateEndpoint(s.endpoint(c, receiverURL))
	})
	if err != nil {
		return fmt.Errorf("plant the demo: %w", err)
	}
	return nil
}

func (s Seed) endpoint(c Credentials, url string) *models.WebhookEndpoint {
	now := s.Clock.Now()
	return &models.WebhookEndpoint{
		ProjectID: c.ProjectID, ID: c.EndpointID, URL: url, Description: "The built-in demo receiver",
		EventTypes: []string{"*"}, Status: models.EndpointActive, MaxInFlight: models.DefaultMaxInFlight,
		Secrets: []models.EndpointSecret{{Value: c.WebhookSecret}}, Headers: map[string]string{},
		CreatedAt: now, UpdatedAt: now,
	}
}

// ScenarioSteps are those of the demo's scenario: every type of step that needs
// nobody outside.
const ScenarioSteps = `[
	{"id": "hello", "type": "send_message", "channel": "sandbox", "template": "Welcome, {{name}}!"},
	{"id": "pause", "type": "wait", "duration": "10s"},
	{"id": "known", "type": "condition", "if": {"field": "contact.tags", "op": "contains", "value": "welcomed"}, "then": "end"},
	{"id": "mark", "type": "update_contact", "add_tags": ["welcomed"], "attributes": {"source": "demo"}},
	{"id": "tell", "type": "emit_event", "event_type": "demo.welcomed", "data": {"contact": "{{contact.id}}", "name": "{{contact.name}}"}}
]`

func (s Seed) scenario() *models.Scenario {
	now := s.Clock.Now()
	return &models.Scenario{
		ID: models.NewID(models.PrefixScenario, now), Name: "Welcome", Status: models.ScenarioActive, Version: 1, Revision: 1,
		Steps: []byte(ScenarioSteps), CreatedAt: now, UpdatedAt: now,
	}
}

func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // documented never to fail
	return raw
}

func randomText(n int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(n)) }
