package dashboard_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/ui"
)

const (
	account = ui.Root + "/account"
	members = ui.Root + "/members"
)

var newPassword = strings.Repeat("a long one ", 2)

// userID is the id of a person by address.
func userID(t *testing.T, s *dashtest.Site, email string) string {
	t.Helper()
	user, err := s.Store.UserByEmail(t.Context(), email)
	require.NoError(t, err)
	return user.ID
}

func TestAChangedPasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	other := s.Another()
	wrong := s.Post(account+"/password", url.Values{"current": {"not it"}, "new": {newPassword}})
	require.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	require.Contains(t, wrong.Body, "The current password is wrong.")
	short := s.Post(account+"/password", url.Values{"current": {dashtest.Password}, "new": {"eleven char"}})
	require.Equal(t, http.StatusUnprocessableEntity, short.StatusCode)
	require.Equal(t, http.StatusOK, other.Get(account).StatusCode, "nothing has changed yet")

	changed := s.Post(account+"/password", url.Values{"current": {dashtest.Password}, "new": {newPassword}})
	require.Equal(t, http.StatusSeeOther, changed.StatusCode)
	page := s.Get(account)
	require.Equal(t, http.StatusOK, page.StatusCode, "whoever changed it stays signed in")
	require.Contains(t, page.Body, "The password was changed.")
	require.NotContains(t, s.Get(account).Body, "The password was changed.", "it is said once")
	require.Equal(t, http.StatusSeeOther, other.Get(account).StatusCode)
	require.Contains(t, other.Get(account).Header.Get("Location"), "/sign-in", "the other session is over")
	require.Equal(t, http.StatusUnprocessableEntity, s.TrySignIn(s.Email, dashtest.Password).StatusCode)
	require.Equal(t, http.StatusSeeOther, s.TrySignIn(s.Email, newPassword).StatusCode)
}

func TestGuessingTheOldPasswordIsThrottled(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	var last dashtest.Answer
	for range 12 {
		last = s.Post(account+"/password", url.Values{"current": {"guess"}, "new": {newPassword}})
	}
	require.Equal(t, http.StatusTooManyRequests, last.StatusCode)
}

func TestAnInvitedPersonJoinsOnce(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	invited := s.Post(members, url.Values{"email": {" Grace@Example.com "}, "role": {"member"}})
	require.Equal(t, http.StatusOK, invited.StatusCode)
	dashtest.RequireStrict(t, invited)
	link := regexp.MustCompile(`http://api\.example\.com(/developers/invitation/[\w-]{43})`).FindStringSubmatch(invited.Body)
	require.NotNil(t, link, "the link is shown")
	require.NotContains(t, s.Get(members).Body, link[1], "once")

	stranger := s.Anonymous()
	page := stranger.Get(link[1])
	require.Equal(t, http.StatusOK, page.StatusCode)
	dashtest.RequireStrict(t, page)
	require.Contains(t, page.Body, "grace@example.com")
	require.Equal(t, http.StatusUnprocessableEntity, stranger.Post(link[1], url.Values{"password": {"short"}}).StatusCode)
	require.Equal(t, http.StatusSeeOther, stranger.Post(link[1], url.Values{"password": {newPassword}}).StatusCode)
	require.Contains(t, stranger.Get(members).Body, "Only owners add and remove members.")
	again := s.Anonymous().Post(link[1], url.Values{"password": {newPassword}})
	require.Equal(t, http.StatusNotFound, again.StatusCode, "it is used up")
	require.Contains(t, again.Body, "This invitation cannot be used")

	log := s.Get(members).Body
	require.Contains(t, log, "Invited somebody")
	require.Contains(t, log, "Accepted an invitation")
}

func TestAWithdrawnOrOldInvitationIsWorthNothing(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	link := func(email string) string {
		body := s.Post(members, url.Values{"email": {email}, "role": {"owner"}}).Body
		return regexp.MustCompile(`/developers/invitation/[\w-]{43}`).FindString(body)
	}
	withdrawn, old := link("a@example.com"), link("b@example.com")
	invitations, err := s.Store.Invitations(t.Context(), s.Project.ID)
	require.NoError(t, err)
	require.Len(t, invitations, 2)
	foreign, email := s.NewProject("Foreign")
	require.NotEmpty(t, foreign.ID)
	path := members + "/invitations/" + invitations[0].ID + "/withdraw"
	require.Equal(t, http.StatusNotFound, s.As(email).Post(path, nil).StatusCode, "another project's does not exist")
	require.Equal(t, http.StatusSeeOther, s.Post(path, nil).StatusCode)
	s.Exec(`UPDATE invitations SET expires_at = now() WHERE email = 'b@example.com'`)
	for _, gone := range []string{withdrawn, old, ui.Root + "/invitation/nothing"} {
		require.Equal(t, http.StatusNotFound, s.Anonymous().Get(gone).StatusCode)
		require.Equal(t, http.StatusNotFound, s.Anonymous().Post(gone, url.Values{"password": {newPassword}}).StatusCode)
	}
}

func TestWhoIsInvitedTwiceJoinsBothProjects(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	_, other := s.NewProject("Other")
	link := func(from *dashtest.Site) string {
		body := from.Post(members, url.Values{"email": {"grace@example.com"}, "role": {"member"}}).Body
		return regexp.MustCompile(`/developers/invitation/[\w-]{43}`).FindString(body)
	}
	first, second := link(s), link(s.As(other))
	require.Equal(t, http.StatusSeeOther, s.Anonymous().Post(first, url.Values{"password": {newPassword}}).StatusCode)
	require.Contains(t, s.Anonymous().Get(second).Body, "Sign in with your password to join the project Other.")
	require.Equal(t, http.StatusUnprocessableEntity, s.Anonymous().Post(second, url.Values{"password": {"somebody else's"}}).StatusCode, "the link alone is not enough")
	grace := s.Anonymous()
	require.Equal(t, http.StatusSeeOther, grace.Post(second, url.Values{"password": {newPassword}}).StatusCode)
	page := grace.Get(members).Body
	require.Contains(t, page, "Acme")
	require.Contains(t, page, "Other")
}

func TestTwoWhoAcceptAtOnceMakeOneAccount(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	other, _ := s.NewProject("Other")
	now := dashtest.Now()
	hash := make([]byte, 32)
	for i, project := range []models.ProjectID{s.Project.ID, other.ID} {
		hash[0] = byte(i)
		s.Write(project, func(tx *store.Tx) error {
			tx.Invite(models.Invitation{
				ID: models.NewID(models.PrefixInvitation, now), TokenHash: hash, Email: "grace@example.com", Role: models.RoleMember,
				CreatedAt: now, ExpiresAt: now.AddDate(10, 0, 0),
			})
			return nil
		})
	}
	done := make(chan error, 2)
	for i := range 2 {
		go func() {
			found, err := s.Store.InvitationByToken(t.Context(), append([]byte{byte(i)}, make([]byte, 31)...))
			if err == nil {
				user := models.User{ID: models.NewID(models.PrefixUser, now), Email: "grace@example.com", PasswordHash: "x", CreatedAt: now}
				err = s.Store.AcceptInvitation(t.Context(), *found, user, true)
			}
			done <- err
		}()
	}
	results := []error{<-done, <-done}
	if results[0] != nil {
		results[0], results[1] = results[1], results[0]
	}
	require.NoError(t, results[0])
	require.ErrorIs(t, results[1], store.ErrUserExists)
}

func TestAMembersRoleIsChangedByAddingThemAgain(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	_, email := s.NewProject("Other")
	add := func(email, role string) int {
		return s.Post(members, url.Values{"email": {email}, "role": {role}}).StatusCode
	}
	require.Equal(t, http.StatusConflict, add(s.Email, "member"), "the only owner stays one")
	require.Equal(t, http.StatusSeeOther, add(email, "member"))
	require.Equal(t, http.StatusSeeOther, add(email, "owner"))
	require.Equal(t, http.StatusSeeOther, add(s.Email, "member"))
	require.Equal(t, http.StatusForbidden, add(email, "member"), "members change nobody")
}

// Whatever is kept of what people did is told in words, in both languages.
func TestEveryDeedHasItsWords(t *testing.T) {
	t.Parallel()
	deed := regexp.MustCompile(`(?:Action: |v\.Audit\(|s\.do\(v, |s\.move\(v, )"([a-z_]+\.[a-z_]+)"`)
	words, err := os.ReadFile("words_en.go")
	require.NoError(t, err)
	found := 0
	for _, pattern := range []string{"*.go", "*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, match := range deed.FindAllSubmatch(code, -1) {
				require.Regexp(t, regexp.QuoteMeta(string(match[1]))+`":\s+"`, string(words), file)
				found++
			}
		}
	}
	require.Greater(t, found, 20)
}

func TestARemovedMemberSeesNothingFromTheNextPageOn(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	other, email := s.NewProject("Other")
	added := s.Post(members, url.Values{"email": {email}, "role": {"member"}})
	require.Equal(t, http.StatusSeeOther, added.StatusCode)
	theirs := s.As(email)
	require.Contains(t, theirs.Get(members).Body, "Acme", "they may switch to it now")
	require.Equal(t, http.StatusSeeOther, theirs.Post(ui.Root+"/project", url.Values{"project": {string(s.Project.ID)}}).StatusCode)
	require.Contains(t, theirs.Get(members).Body, s.Email)
	require.Equal(t, http.StatusForbidden, theirs.Post(members+"/"+userID(t, s, s.Email)+"/remove", nil).StatusCode, "members remove nobody")
	require.Equal(t, http.StatusForbidden, theirs.Post(members, url.Values{"email": {"x@example.com"}}).StatusCode)

	require.Equal(t, http.StatusSeeOther, s.Post(members+"/"+userID(t, s, email)+"/remove", nil).StatusCode)
	require.NotContains(t, theirs.Get(members).Body, s.Email, "their own project again")
	require.Equal(t, http.StatusNotFound, theirs.Post(ui.Root+"/project", url.Values{"project": {string(s.Project.ID)}}).StatusCode)
	require.NotEqual(t, s.Project.ID, other.ID)
}

func TestAProjectKeepsAnOwner(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	got := s.Post(members+"/"+userID(t, s, s.Email)+"/remove", nil)
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.Body, "This is the only owner.")

	_, email := s.NewProject("Second")
	second := userID(t, s, email)
	s.Write(s.Project.ID, func(tx *store.Tx) error { return tx.SetMember(t.Context(), second, models.RoleOwner) })
	first := userID(t, s, s.Email)
	done := make(chan error, 2)
	for _, id := range []string{first, second} {
		go func() {
			_, err := s.Store.Write(t.Context(), s.Project.ID, func(tx *store.Tx) error { return tx.RemoveMember(t.Context(), id) })
			done <- err
		}()
	}
	results := []error{<-done, <-done}
	require.ElementsMatch(t, []bool{true, false}, []bool{results[0] == nil, results[1] == nil}, "one of two who remove each other stays: %v", results)
}

func TestLanguageAndThemeAreRememberedAndLeadBack(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	require.Contains(t, s.Get(account).Body, `<html lang="en">`)
	got := s.Post(ui.Root+"/preferences", url.Values{"language": {"ru"}, "theme": {"dark"}, "next": {account}})
	require.Equal(t, account, got.Header.Get("Location"))
	page := s.Get(account).Body
	require.Contains(t, page, `<html lang="ru" data-theme="dark">`)
	require.Contains(t, page, "Ваша учётная запись")
	s.Post(ui.Root+"/preferences", url.Values{"language": {"xx"}, "theme": {"\"><script>"}, "next": {"https://elsewhere.example"}})
	require.Contains(t, s.Get(account).Body, `<html lang="ru" data-theme="dark">`)
	s.Post(ui.Root+"/preferences", url.Values{"theme": {""}})
	require.Contains(t, s.Get(account).Body, `<html lang="ru">`)
}

func TestTheJumpBoxLeadsToWhateverHasTheID(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	id := func(prefix string) string { return models.NewID(prefix, dashtest.Now()) }
	contact, event := id(models.PrefixContact), id(models.PrefixEvent)
	for given, want := range map[string]string{
		" " + contact + " ": ui.Root + "/contacts/" + contact, event: ui.Root + "/deliveries?id=" + event,
		"order 42/a?b": ui.Root + "/operations?key=order+42%2Fa%3Fb", "": ui.Root + "/",
	} {
		got := s.Get(ui.Root + "/find?" + url.Values{"id": {given}}.Encode())
		require.Equal(t, http.StatusSeeOther, got.StatusCode)
		require.Contains(t, got.Header.Get("Location"), want, given)
	}
}

func TestPeopleInTheBrowser(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	_, email := s.NewProject("Другой проект с очень длинным названием, какие бывают")
	s.Post(members, url.Values{"email": {email}, "role": {"member"}})
	s.Post(members, url.Values{"email": {"grace@example.com"}, "role": {"owner"}})
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, members)
			tab.Inspect("members-" + string(language))
			tab.Click("[data-dialog]")
			tab.Wait("dialog[open]")
			tab.Inspect("members-remove-" + string(language))
			tab.Click("dialog[open] [data-close]")
			tab.Open(s.URL + account)
			tab.Inspect("account-" + string(language))
			tab.RequireQuiet(s.URL)
		})
	}
}
