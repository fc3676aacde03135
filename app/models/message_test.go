package models

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each step is one of the picture's; the final states stay.
func TestMessageStates(t *testing.T) {
	t.Parallel()
	allowed := map[MessageStatus][]MessageStatus{
		MessageQueued:  {MessageSending, MessageCancelled},
		MessageSending: {MessageSent, MessageFailed, MessageUnknown, MessageQueued},
		MessageSent:    {MessageDelivered, MessageFailed},
		MessageUnknown: {MessageSent, MessageDelivered, MessageFailed},
	}
	for _, from := range MessageStatuses() {
		for _, to := range MessageStatuses() {
			require.Equal(t, slices.Contains(allowed[from], to), from.CanBecome(to), "%s → %s", from, to)
		}
		require.Equal(t, from != MessageQueued && from != MessageSending, from.Settled(), from)
	}
}

// A template is filled in from the variables first, then from the contact; what
// neither has is a fault that points at the variable.
func TestTemplates(t *testing.T) {
	t.Parallel()
	name, email := "Ada", "ada@example.com"
	contact := &Contact{ID: "ctc_1", Name: &name, Email: &email, Attributes: []byte(`{"city":"Paris","deep":{"x":1}}`)}
	for template, want := range map[string]string{
		"Hello {{name}}!":                        "Hello Ada!",
		"{{ order }} for {{name}}":               "A-7 for Ada",
		"{{total}} {{paid}} {{attributes.city}}": "12.50 true Paris",
		"no placeholder":                         "no placeholder",
		"{{inject}}":                             "{{name}}", // what a variable holds is not read again
	} {
		draft := MessageDraft{
			Channel: ChannelEmail, Template: &template,
			Variables: []byte(`{"order":"A-7","total":12.50,"paid":true,"inject":"{{name}}"}`),
		}
		require.Empty(t, draft.Check(time.Unix(0, 0)), template)
		m, faults := draft.Compose(ModeLive, contact)
		require.Empty(t, faults, template)
		require.Equal(t, want, m.Text)
		require.Equal(t, email, m.Address)
	}
	for template, pointers := range map[string][]string{
		"{{nope}} {{nope}} {{name}}": {"/variables/nope"},
		"{{phone}}":                  {"/variables/phone"},
		"{{attributes.deep}}":        {"/variables/attributes.deep"},
		"{{a.b}} {{c-d}}":            {"/variables/a.b", "/variables/c-d"},
	} {
		_, faults := MessageDraft{Channel: ChannelEmail, Template: &template}.Compose(ModeLive, contact)
		require.Equal(t, pointers, pointersOf(faults), template)
	}
}

// What is wrong with a draft is said with a pointer to it.
func TestDrafts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	text, blank, braces, late := "hi", " \n", "{{a b}}", now.Add(2*MaxMessageDelay)
	for _, c := range []struct {
		draft    MessageDraft
		pointers []string
	}{
		{MessageDraft{Channel: "pigeon", Text: &text}, []string{"/channel"}},
		{MessageDraft{Channel: ChannelEmail}, []string{"/text"}},
		{MessageDraft{Channel: ChannelEmail, Text: &text, Template: &text}, []string{"/template"}},
		{MessageDraft{Channel: ChannelEmail, Text: &blank}, []string{"/text"}},
		{MessageDraft{Channel: ChannelEmail, Template: &braces}, []string{"/template"}},
		{MessageDraft{Channel: ChannelEmail, Text: &text, SendAt: &late}, []string{"/send_at"}},
		{MessageDraft{Channel: ChannelEmail, Template: &text, Variables: []byte(`{"a/b":[1],"c":null}`)}, []string{"/variables/a~1b", "/variables/c"}},
		{MessageDraft{Channel: ChannelEmail, Text: &text, Variables: []byte(`{}`)}, []string{"/variables"}},
	} {
		require.Equal(t, c.pointers, pointersOf(c.draft.Check(now)))
	}
}

// A test project reaches nobody, whatever its messages name.
func TestATestProjectReachesNobody(t *testing.T) {
	t.Parallel()
	text, contact := "hi", &Contact{ID: "ctc_1"}
	for _, channel := range Channels() {
		m, faults := MessageDraft{Channel: channel, Text: &text}.Compose(ModeTest, contact)
		require.Empty(t, faults)
		require.Equal(t, ChannelSandbox, m.Channel)
	}
	_, faults := MessageDraft{Channel: ChannelTelegram, Text: &text}.Compose(ModeLive, contact)
	require.Equal(t, []string{"/contact_id"}, pointersOf(faults))
}

func pointersOf(faults []FieldError) []string {
	var pointers []string
	for _, fault := range faults {
		pointers = append(pointers, fault.Pointer)
	}
	return pointers
}
