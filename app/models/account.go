package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Mode says whether a project is for production or for rehearsal. It is fixed
// for the project's life (contract §1).
type Mode string

// The modes.
const (
	ModeLive Mode = "live"
	ModeTest Mode = "test"
)

// Scope is one thing an API key may do.
type Scope string

// The scopes, contract §1.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
)

// PlanLimits are the numbers a plan promises, stored as JSON in plans.limits.
type PlanLimits struct {
	// APIRatePerMinute is how many requests one API key may make in a calendar
	// minute (contract §4).
	APIRatePerMinute int `json:"api_rate_per_minute"`
	// IdempotencyTTLHours is how long a stored answer can be replayed, 1 to 72
	// hours (contract §3).
	IdempotencyTTLHours int `json:"idempotency_ttl_hours"`
	// DeadLetterRetentionDays is how long a dead letter is kept (contract §5).
	DeadLetterRetentionDays int `json:"dead_letter_retention_days"`
	// Archive says that dead letters past their retention go to the archive,
	// where one is configured, instead of being deleted.
	Archive bool `json:"archive"`
}

// IdempotencyTTL is IdempotencyTTLHours as a duration.
func (l PlanLimits) IdempotencyTTL() time.Duration {
	return time.Duration(l.IdempotencyTTLHours) * time.Hour
}

// Validate returns every limit that is out of its range, joined.
func (l PlanLimits) Validate() error {
	return errors.Join(
		inRange("api_rate_per_minute", l.APIRatePerMinute, 1, 10_000_000),
		inRange("idempotency_ttl_hours", l.IdempotencyTTLHours, 1, 72),
		inRange("dead_letter_retention_days", l.DeadLetterRetentionDays, 1, 3650),
	)
}

func inRange(name string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("plans.limits.%s is %d, must be %d to %d", name, value, low, high)
	}
	return nil
}

// ParsePlanLimits decodes plans.limits and checks it.
func ParsePlanLimits(raw []byte) (PlanLimits, error) {
	var limits PlanLimits
	if err := json.Unmarshal(raw, &limits); err != nil {
		return PlanLimits{}, fmt.Errorf("decode plans.limits: %w", err)
	}
	return limits, limits.Validate()
}

// Plan is a tariff.
type Plan struct {
	ID     string
	Name   string
	Limits PlanLimits
}

// Project is a tenant: everything else belongs to one.
type Project struct {
	ID         ProjectID `json:"id"`
	Name       string    `json:"name"`
	Mode       Mode      `json:"mode"`
	PlanID     string    `json:"plan"`
	APIVersion string    `json:"api_version"` // the version pinned for requests that name none
	CreatedAt  time.Time `json:"created_at"`
}

// APIKey is the stored half of an API key. The secret itself is shown once and
// kept only as its SHA-256.
type APIKey struct {
	ID         string     `json:"id"`
	ProjectID  ProjectID  `json:"project_id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"` // the first characters, safe to show
	Hash       []byte     `json:"-"`      // SHA-256 of the whole key
	Scopes     []Scope    `gorm:"serializer:json" json:"scopes"`
	ExpiresAt  *time.Time `json:"expires_at"` // nil: never
	RevokedAt  *time.Time `json:"revoked_at"` // nil: not revoked
	LastUsedAt *time.Time `json:"last_used_at"`
	CreatedAt  time.Time  `json:"created_at"`
}

// Usable reports whether the key may be used at the given time.
func (k APIKey) Usable(at time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || at.Before(*k.ExpiresAt))
}

// Caller is who an authenticated request speaks for: a key, its project and
// what the project's plan allows.
type Caller struct {
	Key     APIKey
	Project Project
	Plan    Plan
}

// May reports whether the caller's key carries the scope.
func (c Caller) May(s Scope) bool { return slices.Contains(c.Key.Scopes, s) }

// User is a person who signs in to the dashboard.
type User struct {
	ID           string
	Email        string // lower case, unique
	PasswordHash string // Argon2id in PHC form
	CreatedAt    time.Time
}
