package ui

import (
	"net/http"

	"github.com/botix-pro/platform/app/models"
)

// Reply is an answer as a value: nothing is written before the session is saved.
type Reply struct {
	Status int
	Header http.Header // may be nil; Content-Type is HTML unless it says otherwise
	Body   []byte
	// Notice is shown once on the next whole page, after a redirect: what the
	// request has done. Empty: nothing.
	Notice string
	// Download says that Body came from outside: it is sent under a policy that
	// lets it do nothing, whatever its Content-Type.
	Download bool
}

// Redirect answers a form: the browser gets the page at location.
func Redirect(location string) Reply {
	return Reply{Status: http.StatusSeeOther, Header: http.Header{"Location": {location}}}
}

// Page makes one page, or a part of one. An error becomes an error page; its
// text is logged, never shown. What does not exist, or belongs to another
// project, is store.ErrNotFound.
type Page func(*Visit) (Reply, error)

// Section is a group of pages about one thing.
type Section interface {
	// Pages maps patterns of [http.ServeMux] ("GET /developers/contacts/{id}") to
	// pages for those who are signed in.
	Pages() map[string]Page
}

// Member is who is signed in, and where.
type Member struct {
	UserID   string
	Email    string
	Project  models.Project
	Role     models.Role      // in the project
	Projects []models.Project // all that the user may switch to, by name
	// Attention counts what waits for a person, by navigation key. Zero is not
	// shown.
	Attention map[string]int64
}

// Audit is an entry of what the member does now, for the transaction that does it.
func (v *Visit) Audit(action, subject, detail string) models.AuditEntry {
	return models.AuditEntry{
		Once: v.once(), ID: models.NewID(models.PrefixAudit, v.Now), Actor: v.Member.Email, Action: action, Subject: subject, Detail: detail, CreatedAt: v.Now,
	}
}

// Refusal is an error that is the reader's to mend: its page has a status and
// words of its own.
type Refusal struct {
	Status      int
	Title, Text string
}

// Error implements error.
func (e Refusal) Error() string { return "refused: " + e.Title }
