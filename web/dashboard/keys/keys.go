// Package keys is the dashboard's pages about API keys: which there are, when
// they were last used, making one and revoking one. A key's secret is on one page
// once and nowhere else.
package keys

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the list's address.
const Path = ui.Root + "/" + ui.NavKeys

// maxNameRunes is the longest name of a key.
const maxNameRunes = 200

// lifetimes are what a new key can live for; 0 is for ever.
func lifetimes() []time.Duration {
	return []time.Duration{0, 30 * 24 * time.Hour, 90 * 24 * time.Hour, 365 * 24 * time.Hour}
}

// Queries is what these pages ask of the store.
type Queries interface {
	// APIKeys lists all keys of a project, newest first.
	APIKeys(ctx context.Context, project models.ProjectID) ([]models.APIKey, error)
	// Write commits what fn queues, in one transaction.
	Write(ctx context.Context, project models.ProjectID, fn func(*store.Tx) error) ([]store.Lane, error)
}

// Section is the pages about API keys. It implements [ui.Section].
type Section struct {
	queries   Queries
	views     *ui.Views
	publicURL string
}

// New parses the templates. publicURL is the API's base URL without a last
// slash, for the example request.
func New(queries Queries, publicURL string) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return &Section{queries: queries, views: views, publicURL: publicURL}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                   s.list,
		"POST " + Path:                  s.create,
		"POST " + Path + "/{id}/revoke": s.revoke,
	}
}

// listView is the page of keys.
type listView struct {
	ui.Shell
	Texts   *words
	Head    ui.Head
	Rows    []rowView
	Empty   ui.Empty
	Owner   bool // the reader may make and revoke keys
	Form    formView
	Made    *madeView // the key that was just made; may be nil
	Problem string    // why nothing was revoked; may be empty
}

// formView is the form for a new key.
type formView struct {
	Name      string
	Scopes    []ui.Option
	Lifetimes []ui.Option
	Problem   string
}

// madeView shows a new key's secret, once.
type madeView struct{ Name, Secret, CopyName, Example, ExampleName, ExampleCopy string }

type rowView struct {
	ID, Name, Prefix, Scopes string
	State                    ui.Pill
	Created                  ui.Instant
	Used                     *ui.Instant // nil: never
	Expires                  *ui.Instant // nil: never
	Revoke                   string      // where the form goes; empty: not to be revoked
	RevokeName, DialogID     string
	Question                 string
}

func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	return s.page(v, http.StatusOK, listView{})
}

// page shows the list with what the last form gave.
func (s *Section) page(v *ui.Visit, status int, view listView) (ui.Reply, error) {
	texts := wordsIn(v.Locale.Language)
	keys, err := s.queries.APIKeys(v.Context(), v.Member.Project.ID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the keys: %w", err)
	}
	view.Shell, view.Texts = v.Shell(texts.Title, ui.NavKeys), texts
	view.Here = Path
	view.Head = ui.Head{Title: texts.Title, Lead: fmt.Sprintf(texts.LeadF, store.MaxActiveKeys)}
	view.Empty = ui.Empty{Title: texts.EmptyTitle, Text: texts.EmptyText}
	view.Owner = v.Member.Role == models.RoleOwner
	if view.Form.Scopes == nil {
		view.Form = form(v, texts, "", models.Scopes(), 0)
	}
	for _, key := range keys {
		view.Rows = append(view.Rows, row(v, texts, key))
	}
	return s.views.Render("keys", status, view)
}

func form(v *ui.Visit, texts *words, name string, scopes []models.Scope, lifetime time.Duration) formView {
	view := formView{Name: name}
	for _, scope := range models.Scopes() {
		view.Scopes = append(view.Scopes, ui.Option{
			Value: string(scope), Name: ui.Word(texts.ScopesMean, scope), Chosen: slices.Contains(scopes, scope),
		})
	}
	for _, choice := range lifetimes() {
		option := ui.Option{Value: choice.String(), Name: texts.Never, Chosen: choice == lifetime}
		if choice > 0 {
			option.Name = v.Locale.Count(int64(choice/(24*time.Hour)), texts.DaysF)
		}
		view.Lifetimes = append(view.Lifetimes, option)
	}
	return view
}

func row(v *ui.Visit, texts *words, key models.APIKey) rowView {
	made := rowView{
		ID: key.ID, Name: ui.Visible(key.Name), Prefix: key.Prefix, Scopes: scopesOf(key), State: state(texts, key, v.Now),
		Created: v.Locale.Time(key.CreatedAt), Used: v.Locale.When(key.LastUsedAt), Expires: v.Locale.When(key.ExpiresAt),
	}
	if v.Member.Role == models.RoleOwner && key.RevokedAt == nil {
		made.Revoke, made.DialogID = Path+"/"+key.ID+"/revoke", "revoke-"+key.ID
		made.RevokeName = fmt.Sprintf(texts.RevokeF, made.Name)
		made.Question = texts.NeverUsedQuestion
		if key.LastUsedAt != nil {
			made.Question = texts.RevokeQuestion
		}
	}
	return made
}

func scopesOf(key models.APIKey) string {
	names := make([]string, len(key.Scopes))
	for i, scope := range key.Scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, ", ")
}

// state says whether a key works, and whether anybody uses it.
func state(texts *words, key models.APIKey, now time.Time) ui.Pill {
	switch {
	case key.RevokedAt != nil:
		return ui.Pill{Kind: ui.PillDead, Word: texts.Revoked}
	case !key.Usable(now):
		return ui.Pill{Kind: ui.PillFailed, Word: texts.Expired}
	case key.LastUsedAt == nil:
		return ui.Pill{Kind: ui.PillPending, Word: texts.Unused}
	}
	return ui.Pill{Kind: ui.PillDelivered, Word: texts.Active}
}

// create makes a key and shows its secret. The page is kept by nobody: it is
// no-store like every page here, and reached by no address.
func (s *Section) create(v *ui.Visit) (ui.Reply, error) {
	if v.Member.Role != models.RoleOwner {
		return ui.Reply{}, refused(v)
	}
	key, lifetime, problem, err := readForm(v)
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	again := form(v, texts, ui.Visible(key.Name), key.Scopes, lifetime)
	if again.Problem = problem; problem != "" {
		return s.page(v, http.StatusUnprocessableEntity, listView{Form: again})
	}
	secret, err := models.NewAPIKeySecret(v.Member.Project.Mode)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("make a key: %w", err)
	}
	key.Prefix, key.Hash = models.ShownPrefix(secret), models.HashAPIKey(secret)
	_, err = s.queries.Write(v.Context(), v.Member.Project.ID, func(tx *store.Tx) error {
		tx.Audit(v.Audit("api_key.created", key.ID, key.Name+" ("+scopesOf(key)+")"))
		return tx.CreateAPIKey(v.Context(), key)
	})
	if errors.Is(err, store.ErrRepeated) { // its secret was on the answer to the first time, and is nowhere else
		again.Problem = texts.Repeated
		return s.page(v, http.StatusConflict, listView{Form: again})
	}
	if errors.Is(err, store.ErrTooManyKeys) {
		again.Problem = fmt.Sprintf(texts.TooManyF, store.MaxActiveKeys)
		return s.page(v, http.StatusConflict, listView{Form: again})
	}
	if err != nil {
		return ui.Reply{}, fmt.Errorf("create a key: %w", err)
	}
	return s.page(v, http.StatusOK, listView{Made: s.made(v, texts, key, secret)})
}

func (s *Section) made(v *ui.Visit, texts *words, key models.APIKey, secret string) *madeView {
	shared := ui.WordsIn(v.Locale.Language)
	return &madeView{
		Name: fmt.Sprintf(texts.MadeF, ui.Visible(key.Name)), Secret: secret, CopyName: fmt.Sprintf(shared.CopyOfF, texts.Secret),
		Example:     fmt.Sprintf("curl '%s/me' -H 'Authorization: Bearer %s'", s.publicURL, secret),
		ExampleName: texts.Try, ExampleCopy: fmt.Sprintf(shared.CopyOfF, texts.Try),
	}
}

// readForm reads a new key's form; problem says in words what is wrong with it.
func readForm(v *ui.Visit) (key models.APIKey, lifetime time.Duration, problem string, err error) {
	posted, err := v.Form()
	if err != nil {
		return key, 0, "", err
	}
	key = models.APIKey{
		ID: models.NewID(models.PrefixKey, v.Now), ProjectID: v.Member.Project.ID, Name: strings.TrimSpace(posted.Get("name")), CreatedAt: v.Now,
	}
	for _, scope := range models.Scopes() {
		if slices.Contains(posted["scope"], string(scope)) {
			key.Scopes = append(key.Scopes, scope)
		}
	}
	lifetime, err = time.ParseDuration(posted.Get("lifetime"))
	if err != nil || !slices.Contains(lifetimes(), lifetime) {
		lifetime = 0
	}
	if lifetime > 0 {
		expires := v.Now.Add(lifetime)
		key.ExpiresAt = &expires
	}
	texts := wordsIn(v.Locale.Language)
	switch {
	case key.Name == "" || utf8.RuneCountInString(key.Name) > maxNameRunes || !utf8.ValidString(key.Name) || strings.ContainsRune(key.Name, 0):
		problem = fmt.Sprintf(texts.BadNameF, maxNameRunes)
	case len(key.Scopes) == 0:
		problem = texts.NoScope
	}
	return key, lifetime, problem, nil
}

// revoke ends a key's use. Revoking a revoked one changes nothing.
func (s *Section) revoke(v *ui.Visit) (ui.Reply, error) {
	if v.Member.Role != models.RoleOwner {
		return ui.Reply{}, refused(v)
	}
	id := v.PathValue("id")
	if !models.ValidID(models.PrefixKey, id) {
		return ui.Reply{}, store.ErrNotFound
	}
	_, err := s.queries.Write(v.Context(), v.Member.Project.ID, func(tx *store.Tx) error {
		tx.Audit(v.Audit("api_key.revoked", id, ""))
		return tx.RevokeAPIKey(v.Context(), id)
	})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("revoke a key: %w", err)
	}
	answer := ui.Redirect(Path)
	answer.Notice = wordsIn(v.Locale.Language).RevokedNotice
	return answer, nil
}

func refused(v *ui.Visit) error {
	texts := wordsIn(v.Locale.Language)
	return ui.Refusal{Status: http.StatusForbidden, Title: texts.OwnersTitle, Text: texts.OwnersText}
}
