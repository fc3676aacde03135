package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
)

const (
	emailSettings    = `{"host":"127.0.0.1","tls":"starttls","username":"u","password":"hunter2","from":"Shop <shop@example.org>","subject":"News"}`
	telegramSettings = `{"base_url":"http://127.0.0.1:9/api","token":"123456:hunter2"}`
)

// A channel's credentials are stored encrypted, belong to one project, and are
// shown to nobody.
func TestChannelCredentialsAreNeverShown(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	a := newAdmin(t, h)
	for channel, settings := range map[models.Channel]string{models.ChannelEmail: emailSettings, models.ChannelTelegram: telegramSettings} {
		warning, err := a.SetChannel(t.Context(), h.project, channel, []byte(settings))
		require.NoError(t, err)
		require.Empty(t, warning)
	}
	var stored string
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(),
		`SELECT string_agg(encode(settings, 'escape'), ' ') FROM message_channels WHERE project_id = $1`, string(h.project)).Scan(&stored))
	require.NotContains(t, stored, "hunter2")
	require.NotContains(t, stored, "example.org")
	shown, err := a.Channels(t.Context(), h.project)
	require.NoError(t, err)
	text, err := json.Marshal(shown)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
	require.Contains(t, string(text), `"port":587`, "what was left out has its default")

	// The row of one project is useless to another.
	other, _ := h.newProject(t, "business")
	_, err = h.base.store.DB().ExecContext(t.Context(),
		`INSERT INTO message_channels (project_id, channel, settings) SELECT $2, channel, settings FROM message_channels WHERE project_id = $1`,
		string(h.project), string(other))
	require.NoError(t, err)
	_, err = a.Channels(t.Context(), other)
	require.ErrorContains(t, err, "decrypt")

	require.NoError(t, a.RemoveChannel(t.Context(), h.project, models.ChannelEmail))
	shown, err = a.Channels(t.Context(), h.project)
	require.NoError(t, err)
	require.Len(t, shown, 1)
}

// Settings that cannot work, and hosts that may not be reached, are refused in
// words when they are given.
func TestChannelSettingsAreChecked(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := newAdmin(t, h)
	for settings, want := range map[string]string{
		emailSettings: "127.0.0.1 is a loopback address",
		strings.Replace(emailSettings, `"host":"127.0.0.1"`, `"host":"smtp://x"`, 1):        "the host is a name",
		strings.Replace(emailSettings, "starttls", "ssl", 1):                                "tls is implicit, starttls or none",
		strings.Replace(emailSettings, "starttls", "none", 1):                               "a password is not sent",
		strings.Replace(emailSettings, "shop@example.org", "shop", 1):                       "from is an e-mail address",
		strings.Replace(emailSettings, `"subject":"News"`, `"subject":"a\nb"`, 1):           "the subject is one line",
		strings.Replace(emailSettings, `"subject":"News"`, `"subject":"x","port":70000`, 1): "the port",
		strings.Replace(emailSettings, "username", "user", 1):                               `unknown field "user"`,
	} {
		_, err := a.SetChannel(t.Context(), h.project, models.ChannelEmail, []byte(settings))
		require.ErrorContains(t, err, want, settings)
		require.NotContains(t, err.Error(), "hunter2")
	}
	for settings, want := range map[string]string{
		telegramSettings: "loopback", `{"token":""}`: "BotFather", `{"base_url":"ftp://x","token":"1:a"}`: "http(s)", `{"token":"1/../x"}`: "BotFather",
	} {
		_, err := a.SetChannel(t.Context(), h.project, models.ChannelTelegram, []byte(settings))
		require.ErrorContains(t, err, want, settings)
	}
	_, err := a.SetChannel(t.Context(), h.project, "pigeon", []byte(`{}`))
	require.ErrorContains(t, err, "the channels are")
	require.ErrorContains(t, a.SetSandbox(t.Context(), h.project, messages.SandboxSettings{Behaviour: "explode"}), "the behaviour is")
	require.ErrorContains(t, a.SetSandbox(t.Context(), h.project, messages.SandboxSettings{Behaviour: messages.SandboxAccept, DelayMS: 60_000}), "the delay")
	_, err = a.SetChannel(t.Context(), "prj_none", models.ChannelSandbox, []byte(`{"behaviour":"accept"}`))
	require.ErrorContains(t, err, "no such project")
}

// A test project's messages go to the sandbox, whatever they name and whatever
// is set up.
func TestMessagesOfATestProjectGoToTheSandbox(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := newAdmin(t, h)
	project, err := a.CreateProject(t.Context(), "Rehearsal", models.ModeTest, "business")
	require.NoError(t, err)
	secret, _, err := a.CreateKey(t.Context(), project.ID, "CI", []models.Scope{models.ScopeRead, models.ScopeWrite}, 0)
	require.NoError(t, err)
	contact := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{"name":"Ada"}`, key: secret}).object(t)["id"].(string)
	for _, channel := range models.Channels() {
		made := h.do(t, call{method: http.MethodPost, path: "/messages", key: secret, body: `{"contact_id":"` + contact + `","channel":"` + string(channel) + `","text":"x"}`})
		require.Equal(t, http.StatusAccepted, made.status, "%s", made.body)
		require.Equal(t, "sandbox", made.object(t)["channel"])
	}
}
