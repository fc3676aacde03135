package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// ErrLastOwner is returned where a project would be left without an owner.
var ErrLastOwner = errors.New("a project needs an owner")

// ErrRepeated is returned where the same form did the same before.
var ErrRepeated = errors.New("this form was sent before")

// ErrUserExists is returned where somebody has the address already.
var ErrUserExists = errors.New("there is a user with this address")

const (
	sqlCreateUser = `INSERT INTO users (id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)`
	sqlSetMember  = `
		INSERT INTO project_members (project_id, user_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role`
	sqlMemberships = `
		SELECT p.id, p.name, p.mode, p.plan_id, p.api_version, p.created_at, m.role
		FROM project_members m JOIN users u ON u.id = m.user_id JOIN projects p ON p.id = m.project_id
		WHERE m.user_id = ? AND u.sessions_since <= ? ORDER BY p.name, p.id`
	sqlPeople = `
		SELECT m.user_id, u.email, m.role, m.created_at
		FROM project_members m JOIN users u ON u.id = m.user_id
		WHERE m.project_id = ? ORDER BY u.email`
	sqlAudit = `
		INSERT INTO audit_entries (project_id, id, actor, action, subject, detail, once, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	// A second invitation of the same address takes the place of the first.
	sqlInvite = `
		INSERT INTO invitations (project_id, id, token_hash, email, role, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (project_id, email) DO UPDATE SET id = excluded.id, token_hash = excluded.token_hash, role = excluded.role,
			created_at = excluded.created_at, expires_at = excluded.expires_at`
	sqlInvitation = `
		SELECT i.id, i.project_id, p.name AS project, i.token_hash, i.email, i.role, i.created_at, i.expires_at
		FROM invitations i JOIN projects p ON p.id = i.project_id`
)

// CreateUser queues the insertion of a dashboard user who owns the project.
func (tx *Tx) CreateUser(u models.User) { tx.createMember(u, models.RoleOwner) }

func (tx *Tx) createMember(u models.User, role models.Role) {
	tx.exec(sqlCreateUser, u.ID, u.Email, u.PasswordHash, u.CreatedAt)
	tx.exec(sqlSetMember, string(tx.project), u.ID, string(role))
}

// SetMember makes a user a member of the project with a role, whether or not they
// are one already, or returns [ErrLastOwner].
func (tx *Tx) SetMember(ctx context.Context, user string, role models.Role) error {
	_, last, err := tx.lockMember(ctx, user)
	switch {
	case err != nil:
		return err
	case last && role != models.RoleOwner:
		return ErrLastOwner
	}
	tx.exec(sqlSetMember, string(tx.project), user, string(role))
	return nil
}

// RemoveMember takes a user out of the project, or returns [ErrNotFound], or
// [ErrLastOwner]. Two owners who remove each other wait for each other, and one
// of them stays.
func (tx *Tx) RemoveMember(ctx context.Context, user string) error {
	role, last, err := tx.lockMember(ctx, user)
	switch {
	case err != nil:
		return err
	case role == "":
		return notFound("member")
	case last:
		return ErrLastOwner
	}
	tx.exec(`DELETE FROM project_members WHERE project_id = $1 AND user_id = $2`, string(tx.project), user)
	return nil
}

// lockMember reads a user's role, empty for who is no member, and whether they are
// the only owner, while nobody else changes the project's members.
func (tx *Tx) lockMember(ctx context.Context, user string) (role models.Role, lastOwner bool, err error) {
	if err := tx.read(ctx).Exec(`SELECT 1 FROM projects WHERE id = ? FOR UPDATE`, tx.project).Error; err != nil {
		return "", false, fmt.Errorf("lock the project: %w", err)
	}
	var people []models.Person
	if err := tx.read(ctx).Raw(sqlPeople, tx.project).Scan(&people).Error; err != nil {
		return "", false, fmt.Errorf("list the members: %w", err)
	}
	owners := 0
	for _, person := range people {
		if person.Role == models.RoleOwner {
			owners++
		}
		if person.UserID == user {
			role = person.Role
		}
	}
	return role, role == models.RoleOwner && owners == 1, nil
}

// Memberships lists the projects that a user is in, by name, for a session that
// began at the given time. There are none for a session from before the user's
// password was changed.
func (s *Store) Memberships(ctx context.Context, user string, since time.Time) (projects []models.Membership, err error) {
	if err := s.read(ctx).Raw(sqlMemberships, user, since).Scan(&projects).Error; err != nil {
		return nil, fmt.Errorf("list the user's projects: %w", err)
	}
	return projects, nil
}

// SessionEnded reports whether a user's sessions that began at the given time are
// over, which a change of their password brings about.
func (s *Store) SessionEnded(ctx context.Context, user string, since time.Time) (ended bool, err error) {
	err = s.read(ctx).Raw(`SELECT NOT EXISTS (SELECT FROM users WHERE id = ? AND sessions_since <= ?)`, user, since).Scan(&ended).Error
	if err != nil {
		return false, fmt.Errorf("look whether the session is over: %w", err)
	}
	return ended, nil
}

// People lists a project's members, by address.
func (s *Store) People(ctx context.Context, project models.ProjectID) (people []models.Person, err error) {
	if err := s.read(ctx).Raw(sqlPeople, project).Scan(&people).Error; err != nil {
		return nil, fmt.Errorf("list the members: %w", err)
	}
	return people, nil
}

// SetPassword changes a user's password and ends every session that began
// before the given time.
func (s *Store) SetPassword(ctx context.Context, user, hash string, since time.Time) error {
	done := s.read(ctx).Exec(`UPDATE users SET password_hash = ?, sessions_since = ? WHERE id = ?`, hash, since, user)
	switch {
	case done.Error != nil:
		return fmt.Errorf("set the password: %w", done.Error)
	case done.RowsAffected == 0:
		return notFound("user")
	}
	return nil
}

// Audit queues an entry of what a person did.
func (tx *Tx) Audit(entry models.AuditEntry) {
	tx.exec(sqlAudit, string(tx.project), entry.ID, entry.Actor, entry.Action, entry.Subject, entry.Detail, entry.Once, entry.CreatedAt)
}

// Repeated returns the subject of what a form did when it was sent before, or
// [ErrNotFound].
func (s *Store) Repeated(ctx context.Context, project models.ProjectID, action, once string) (subject string, err error) {
	var found []string
	err = s.read(ctx).Raw(`SELECT subject FROM audit_entries WHERE project_id = ? AND action = ? AND once = ?`, project, action, once).Scan(&found).Error
	switch {
	case err != nil:
		return "", fmt.Errorf("look what a form did: %w", err)
	case len(found) == 0:
		return "", notFound("deed")
	}
	return found[0], nil
}

// AuditEntries lists what people did in a project, newest first; subject may be
// empty for everything.
func (s *Store) AuditEntries(ctx context.Context, project models.ProjectID, subject string, page Page) (entries []models.AuditEntry, err error) {
	query := s.read(ctx).Table("audit_entries").Where("project_id = ?", project)
	if subject != "" {
		query = query.Where("subject = ?", subject)
	}
	if page.Before != "" {
		query = query.Where("id < ?", page.Before)
	}
	if err := query.Order("id DESC").Limit(page.Limit).Find(&entries).Error; err != nil {
		return nil, fmt.Errorf("list what people did: %w", err)
	}
	return entries, nil
}

// Invite queues an invitation to the transaction's project.
func (tx *Tx) Invite(i models.Invitation) {
	tx.exec(sqlInvite, string(tx.project), i.ID, i.TokenHash, i.Email, string(i.Role), i.CreatedAt, i.ExpiresAt)
}

// WithdrawInvitation takes an invitation back, or returns [ErrNotFound].
func (s *Store) WithdrawInvitation(ctx context.Context, project models.ProjectID, id string) error {
	done := s.read(ctx).Exec(`DELETE FROM invitations WHERE project_id = ? AND id = ?`, project, id)
	switch {
	case done.Error != nil:
		return fmt.Errorf("withdraw an invitation: %w", done.Error)
	case done.RowsAffected == 0:
		return notFound("invitation")
	}
	return nil
}

// Invitations lists a project's invitations that can still be accepted.
func (s *Store) Invitations(ctx context.Context, project models.ProjectID) (list []models.Invitation, err error) {
	err = s.read(ctx).Raw(sqlInvitation+` WHERE i.project_id = ? AND i.expires_at > now() ORDER BY i.email`, project).Scan(&list).Error
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	return list, nil
}

// InvitationByToken returns the invitation whose token has this SHA-256, or
// [ErrNotFound] when there is none or it has expired.
func (s *Store) InvitationByToken(ctx context.Context, hash []byte) (*models.Invitation, error) {
	var found models.Invitation
	if err := s.read(ctx).Raw(sqlInvitation+` WHERE i.token_hash = ? AND i.expires_at > now()`, hash).Take(&found).Error; err != nil {
		return nil, one(err, "invitation")
	}
	return &found, nil
}

// AcceptInvitation makes the invited person a member, and uses the invitation up.
// fresh says that they have no account yet: it is made. It returns [ErrNotFound]
// when somebody was faster, and [ErrUserExists] when a fresh one is none.
func (s *Store) AcceptInvitation(ctx context.Context, i models.Invitation, u models.User, fresh bool) error {
	_, err := s.Write(ctx, i.ProjectID, func(tx *Tx) error {
		used := tx.read(ctx).Exec(`DELETE FROM invitations WHERE project_id = ? AND id = ? AND token_hash = ?`, tx.project, i.ID, i.TokenHash)
		switch {
		case used.Error != nil:
			return fmt.Errorf("use the invitation up: %w", used.Error)
		case used.RowsAffected == 0:
			return notFound("invitation")
		}
		tx.Audit(models.AuditEntry{
			ID: models.NewID(models.PrefixAudit, tx.Now()), Actor: u.Email, Action: "member.joined", Subject: u.ID,
			Detail: string(i.Role), CreatedAt: tx.Now(),
		})
		if fresh {
			tx.createMember(u, i.Role)
			return nil
		}
		return tx.SetMember(ctx, u.ID, i.Role)
	})
	return err
}
