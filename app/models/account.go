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

// Scopes lists them all.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeWrite} }

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

// Role is what a member may do in a project.
type Role string

// The roles. Members see everything and repair deliveries; owners also hand out
// API keys and decide who is a member.
const (
	RoleOwner  Role = "owner"
	RoleMember Role = "member"
)

// Membership is a project that a user is in.
type Membership struct {
	Project
	Role Role
}

// Person is a member of a project, as the others see them.
type Person struct {
	UserID    string
	Email     string
	Role      Role
	CreatedAt time.Time // since when they are a member
}

// InvitationLifetime is how long an invitation can be accepted.
const InvitationLifetime = 3 * 24 * time.Hour

// Invitation lets somebody who has no account make one and join a project. Its
// token is shown once; only the SHA-256 is kept.
type Invitation struct {
	ID        string
	ProjectID ProjectID
	Project   string // the project's name
	TokenHash []byte
	Email     string // lower case
	Role      Role
	CreatedAt time.Time
	ExpiresAt time.Time
}

// AuditEntry is one thing that a person did in the dashboard.
type AuditEntry struct {
	ID      string
	Actor   string // the person's address
	Action  string // "api_key.created"
	Subject string // the id of what it was done to
	Detail  string // may be empty
	// Once is the mark of the form that was sent, the same each time it is sent; nil
	// where doing it again is no other deed.
	Once      *string
	CreatedAt time.Time
}

// User is a person who signs in to the dashboard.
type User struct {
	ID           string
	Email        string // lower case, unique
	PasswordHash string // Argon2id in PHC form
	CreatedAt    time.Time
}
