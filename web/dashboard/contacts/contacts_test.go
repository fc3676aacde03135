package contacts_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/contacts"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const path = contacts.Path

// newContact makes a contact as the API does.
func newContact(t testing.TB, s *dashtest.Site, project models.Project, input api.ContactCreate) *models.Contact {
	t.Helper()
	var contact *models.Contact
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		contact, err = actions.CreateContact(tx, actions.Cause{Project: project, APIVersion: project.APIVersion}, input)
		return err
	})
	return contact
}

func ptr(text string) *string { return &text }

func ada() api.ContactCreate {
	return api.ContactCreate{
		Name: ptr("Ада Лавлейс"), Email: ptr("ada@example.com"), Phone: ptr("+447700900123"), ExternalID: ptr("crm-1"),
		Tags: []string{"vip", "math"}, Identities: map[string]string{"telegram": "1815"},
		Attributes: []byte(`{"plan":"pro","balance":12345678901234567890,"address":{"city":"London","zip":"W1"}}`),
	}
}

// read is the contact as it is stored now.
func read(t testing.TB, s *dashtest.Site, id string) *models.Contact {
	t.Helper()
	contact, err := s.Store.Contact(s.Context(), s.Project.ID, id)
	require.NoError(t, err)
	return contact
}

// eventTypes are the types of a project's events, oldest first.
func eventTypes(t testing.TB, s *dashtest.Site) (types []string) {
	t.Helper()
	events, err := s.Store.Events(s.Context(), s.Project.ID, store.EventFilter{}, store.Page{Limit: 100})
	require.NoError(t, err)
	for i := len(events) - 1; i >= 0; i-- {
		types = append(types, events[i].Type)
	}
	return types
}

func TestPagesInBothLanguages(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		got := s.Get(path, header)
		dashtest.RequireStrict(t, got)
		require.Contains(t, got.Body, map[ui.Language]string{ui.English: "No contacts yet", ui.Russian: "Контактов пока нет"}[language])
	})
	contact := newContact(t, s, s.Project, ada())
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		for _, below := range []string{"", "/new", "/" + contact.ID, "/" + contact.ID + "/edit", "/" + contact.ID + "/delete"} {
			got := s.Get(path+below, header)
			require.Equal(t, http.StatusOK, got.StatusCode, below)
			dashtest.RequireStrict(t, got)
		}
		got := s.Get(path+"/"+contact.ID, header)
		for _, text := range []string{"Ада Лавлейс", "12345678901234567890", "contact.created", "vip", map[ui.Language]string{ui.English: "Attributes", ui.Russian: "Атрибуты"}[language]} {
			require.Contains(t, got.Body, text)
		}
	})
}

func TestFiltersNarrowTheList(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project, ada())
	other := newContact(t, s, s.Project, api.ContactCreate{Name: ptr("Grace")})
	for _, query := range []string{"email=ADA@example.com", "phone=%2B447700900123", "external_id=crm-1", "tag=math"} {
		got := s.Get(path + "?" + query)
		require.Contains(t, got.Body, contact.ID, query)
		require.NotContains(t, got.Body, other.ID, query)
		require.Contains(t, got.Body, `class="chip"`, query)
	}
	require.Contains(t, s.Get(path+"?email=nobody@example.com").Body, "Nothing matches")
	require.NotContains(t, s.Get(path+"?updated_since=2999-01-01T00:00").Body, contact.ID)
	got := s.Get(path + "?updated_since=yesterday")
	require.Contains(t, got.Body, "This is not a time.")
	require.NotContains(t, got.Body, contact.ID, "a filter that cannot be read does not widen the list")
}

func TestPagesOfAListMissNothing(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	for range 51 {
		newContact(t, s, s.Project, api.ContactCreate{Tags: []string{"many"}})
	}
	first := s.Get(path + "?tag=many").Body
	require.Equal(t, 50, strings.Count(first, `<th scope="row"`))
	_, rest, _ := strings.Cut(first, `rel="next" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	second := s.Get(strings.ReplaceAll(next, "&amp;", "&")).Body
	require.Equal(t, 1, strings.Count(second, `<th scope="row"`))
	require.Contains(t, second, `rel="prev"`)
}

func TestCreateWritesAContactItsEventAndWho(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	form := url.Values{
		"name": {"Grace"}, "email": {"grace@example.com"}, "tags": {"navy\r\nvip\r\n"}, "identities": {"telegram = 42"},
		"attributes": {`{"rank": "admiral", "n": 1.50}`},
	}
	got := s.Post(path, form)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Body)
	id := strings.TrimPrefix(got.Header.Get("Location"), path+"/")
	contact := read(t, s, id)
	require.Equal(t, "Grace", *contact.Name)
	require.Nil(t, contact.Phone)
	require.Equal(t, []string{"navy", "vip"}, contact.Tags)
	require.Equal(t, map[string]string{"telegram": "42"}, contact.Identities)
	require.JSONEq(t, `{"rank":"admiral","n":1.50}`, string(contact.Attributes))
	require.Equal(t, []string{"contact.created"}, eventTypes(t, s))
	entries, err := s.Store.AuditEntries(s.Context(), s.Project.ID, id, store.Page{Limit: 5})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, s.Email, entries[0].Actor)
	require.Contains(t, s.Get(path+"/"+id).Body, "The contact was created")
}

// A double click, or a repeat after a lost answer, sends the same form twice.
func TestAFormThatIsSentTwiceMakesOneContact(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	mark := regexp.MustCompile(`name="once" value="([0-9A-Z]{26})"`).FindStringSubmatch(s.Get(contacts.Path + "/new").Body)
	require.NotNil(t, mark, "the form carries its mark")
	form := url.Values{"name": {"Ada"}, "external_id": {"crm-1"}, "once": {mark[1]}}
	places := make(chan string, 4)
	for range 4 {
		go func() { places <- s.Post(contacts.Path, form).Header.Get("Location") }()
	}
	first := <-places
	require.NotEmpty(t, first)
	for range 3 {
		require.Equal(t, first, <-places)
	}
	require.Equal(t, []string{"contact.created"}, eventTypes(t, s))
	form.Set("once", "not a mark")
	require.Equal(t, http.StatusUnprocessableEntity, s.Post(contacts.Path, form).StatusCode, "another form: the external_id is taken")
}

func TestWhatIsWrongStandsAtTheField(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	newContact(t, s, s.Project, ada())
	for name, form := range map[string]url.Values{
		"email":       {"email": {"no address"}, "name": {"typed-before"}},
		"phone":       {"phone": {"123"}, "name": {"typed-before"}},
		"external_id": {"external_id": {"crm-1"}, "name": {"typed-before"}},
		"attributes":  {"attributes": {`{"a":`}, "name": {"typed-before"}},
		"identities":  {"identities": {"telegram"}, "name": {"typed-before"}},
		"tags":        {"tags": {"a\na"}, "name": {"typed-before"}},
	} {
		got := s.Post(path, form)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, name)
		dashtest.RequireStrict(t, got)
		require.Contains(t, got.Body, `id="`+name+`-error"`, name)
		require.Contains(t, got.Body, `href="#`+name+`"`, name)
		require.Contains(t, got.Body, "typed-before", "nothing typed is lost")
	}
	require.Equal(t, []string{"contact.created"}, eventTypes(t, s))
}

func TestEditIsAMergePatchAndChecksTheVersion(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project, ada())
	at := path + "/" + contact.ID
	form := url.Values{"name": {*contact.Name}, "email": {*contact.Email}, "external_id": {*contact.ExternalID}, "tags": {"vip\r\nmath"}}
	form.Set("version", actions.ContactTag(contact))
	form.Set("attributes", `{"plan":"free","address":{"city":"Paris"},"balance":12345678901234567890}`)
	form.Set("identities", "whatsapp = 7")
	require.Equal(t, http.StatusSeeOther, s.Post(at, form).StatusCode)
	changed := read(t, s, contact.ID)
	require.Nil(t, changed.Phone)
	require.JSONEq(t, `{"plan":"free","address":{"city":"Paris"},"balance":12345678901234567890}`, string(changed.Attributes))
	require.Contains(t, string(changed.Attributes), "12345678901234567890", "every digit is kept")
	require.Equal(t, map[string]string{"whatsapp": "7"}, changed.Identities)
	require.Equal(t, int64(2), changed.Version)
	require.Equal(t, []string{"contact.created", "contact.updated"}, eventTypes(t, s))

	form.Set("name", "somebody else's idea")
	got := s.Post(at, form) // the version is the first one still
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.Body, "was changed after you opened the form")
	require.Contains(t, got.Body, "somebody else&#39;s idea", "what was typed is kept")
	require.Contains(t, got.Body, "It is now: Ада Лавлейс")
	require.Equal(t, int64(2), read(t, s, contact.ID).Version)

	form.Set("version", actions.ContactTag(changed))
	require.Equal(t, http.StatusSeeOther, s.Post(at, form).StatusCode, "saved again, knowing it")
	require.Equal(t, "somebody else's idea", *read(t, s, contact.ID).Name)
}

func TestDeleteTakesTheContactAway(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project, ada())
	at := path + "/" + contact.ID + "/delete"
	require.Equal(t, http.StatusConflict, s.Post(at, url.Values{"version": {`"7"`}}).StatusCode, "another version than was seen")
	require.Equal(t, http.StatusSeeOther, s.Post(at, url.Values{"version": {actions.ContactTag(contact)}}).StatusCode)
	_, err := s.Store.Contact(s.Context(), s.Project.ID, contact.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, []string{"contact.created", "contact.deleted"}, eventTypes(t, s))
}

func TestOthersContactsDoNotExist(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	project, _ := s.NewProject("Other")
	contact := newContact(t, s, project, ada())
	missing := models.NewID(models.PrefixContact, clock.System{}.Now())
	for _, id := range []string{contact.ID, missing, "ctc_1"} {
		for _, below := range []string{"/" + id, "/" + id + "/edit", "/" + id + "/delete"} {
			require.Equal(t, http.StatusNotFound, s.Get(path+below).StatusCode, below)
		}
		for _, below := range []string{"/" + id, "/" + id + "/delete"} {
			require.Equal(t, http.StatusNotFound, s.Post(path+below, url.Values{"name": {"x"}, "version": {`"1"`}}).StatusCode, below)
		}
	}
	require.NotContains(t, s.Get(path).Body, contact.ID)
	kept, err := s.Store.Contact(s.Context(), project.ID, contact.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1), kept.Version)
}

func TestAnotherSitesFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project, ada())
	foreign := [2]string{"Sec-Fetch-Site", "cross-site"}
	for _, below := range []string{path, path + "/" + contact.ID, path + "/" + contact.ID + "/delete"} {
		require.Equal(t, http.StatusForbidden, s.Post(below, url.Values{"version": {`"1"`}}, foreign).StatusCode, below)
	}
	require.Equal(t, int64(1), read(t, s, contact.ID).Version)
}

func TestStoredScriptsAreText(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	const script = `<script>alert(1)</script>"'><b id=x>`
	contact := newContact(t, s, s.Project, api.ContactCreate{
		Name: ptr(script), ExternalID: ptr(script), Tags: []string{"<script>alert(1)</script>"}, Identities: map[string]string{"telegram": script},
		Attributes: []byte(`{"</textarea><script>alert(1)</script>":"\u202e"}`),
	})
	for _, below := range []string{path, path + "/" + contact.ID, path + "/" + contact.ID + "/edit", path + "/" + contact.ID + "/delete", path + "?tag=" + url.QueryEscape(script)} {
		got := s.Get(below)
		dashtest.RequireStrict(t, got)
		require.NotContains(t, got.Body, "<script>alert", below)
		require.NotContains(t, got.Body, "<b id=x>", below)
	}
}
