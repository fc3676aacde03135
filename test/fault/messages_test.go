//go:build fault

package fault_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/test/programs"
	"github.com/botix-pro/platform/test/providers"
)

// postOffice is a site with a mail server, a bot and a contact who has both.
type postOffice struct {
	*site

	url      string
	contact  string
	smtp     *providers.SMTP
	telegram *providers.BotAPI
}

func newPostOffice(t *testing.T, mail, chat providers.Script) *postOffice {
	t.Helper()
	o := &postOffice{site: newSite(t), smtp: providers.StartSMTP(t, mail), telegram: providers.StartBotAPI(t, chat)}
	o.unlimited(t)
	box, err := seal.New([]string{programs.EncryptionKey})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: o.postgres.URL(localstack.DefaultDatabase), MaxConns: 2, Application: "botix-test"}, box)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = s.Write(t.Context(), o.demo.ProjectID, func(tx *store.Tx) error {
		settings := messages.EmailSettings{Host: o.smtp.Host, Port: o.smtp.Port, TLS: messages.TLSNone, From: "shop@example.org", Subject: "News"}
		if err := tx.SetChannel(models.ChannelEmail, settings); err != nil {
			return err
		}
		return tx.SetChannel(models.ChannelTelegram, messages.TelegramSettings{BaseURL: o.telegram.URL, Token: providers.BotToken})
	})
	require.NoError(t, err)
	o.url = programs.StartServer(t, o.env).URL
	made := o.ask(t, http.MethodPost, "/contacts", `{"email":"ada@example.com","identities":{"telegram":"42"}}`)
	o.contact = made["id"].(string)
	return o
}

// ask sends a request to the server, which nothing befalls here.
func (o *postOffice) ask(t *testing.T, method, path, body string) (object map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, o.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+o.demo.APIKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", fmt.Sprintf("k-%d", rand.Uint64()))
	answer, err := programs.Send(request)
	require.NoError(t, err)
	require.Less(t, answer.Status, http.StatusBadRequest, "%s", answer.Body)
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &object))
	return object
}

// queue makes a message on each channel in turn, n in all, and returns their ids
// by their texts.
func (o *postOffice) queue(t *testing.T, n int) map[string]string {
	t.Helper()
	ids := make(map[string]string, n)
	for i := range n {
		text := fmt.Sprintf("message-%d", i)
		made := o.ask(t, http.MethodPost, "/messages",
			fmt.Sprintf(`{"contact_id":%q,"channel":%q,"text":%q}`, o.contact, models.Channels()[i%3], text))
		ids[text] = made["id"].(string)
	}
	return ids
}

// ended is what became of a message, and how often its receiver took it in.
type ended struct {
	message map[string]any
	taken   int
}

// settle waits until no worker will move any of the messages any more, and counts
// at the receivers.
func (o *postOffice) settle(t *testing.T, ids map[string]string) map[string]ended {
	t.Helper()
	require.Eventually(t, func() bool {
		var left int
		err := o.db.QueryRowContext(t.Context(), `SELECT count(*) FROM messages WHERE status IN ('queued', 'sending')`).Scan(&left)
		return err == nil && left == 0
	}, 4*time.Minute, 200*time.Millisecond)
	mails, chats := o.smtp.Taken(), o.telegram.Taken()
	list := make(map[string]ended, len(ids))
	for text, id := range ids {
		message := o.ask(t, http.MethodGet, "/messages/"+id, "")
		e := ended{message: message}
		switch message["channel"] {
		case "email":
			e.taken = mails[id]
		case "telegram":
			e.taken = chats[text]
		default:
			require.NoError(t, o.db.QueryRowContext(t.Context(), `SELECT count(*) FROM sandbox_messages WHERE message_id = $1`, id).Scan(&e.taken))
		}
		list[text] = e
	}
	return list
}

// 200 messages over three channels while workers are killed at random: no
// receiver has one twice, each that is said to be sent is there once, and only
// what a killed worker held, or whose answer the provider lost, is unknown.
func TestWorkersKilledWhileMessagesAreSent(t *testing.T) {
	const total, kills = 200, 8
	lost := func(key string) bool { return strings.HasSuffix(key, "7") }
	busy := func(code int) providers.Script {
		return func(key string, nth int) providers.Reaction {
			r := providers.Reaction{Delay: time.Duration(50+rand.IntN(400)) * time.Millisecond, Lose: lost(key)}
			if !r.Lose && nth == 1 && strings.HasSuffix(key, "3") {
				r.Refuse = code // not taken, and tried again
			}
			return r
		}
	}
	const smtpLater = 451
	o := newPostOffice(t, busy(smtpLater), busy(http.StatusServiceUnavailable))
	workers := []*programs.Process{programs.StartWorker(t, o.env), programs.StartWorker(t, o.env)}
	var killing sync.WaitGroup
	killing.Go(func() {
		for range kills {
			pause(time.Duration(300+rand.IntN(600)) * time.Millisecond)
			i := rand.IntN(len(workers))
			workers[i].Kill(t)
			workers[i] = programs.StartWorker(t, o.env)
		}
	})
	ids := o.queue(t, total)
	killing.Wait()
	counts := map[string]int{}
	for text, e := range o.settle(t, ids) {
		status, channel := e.message["status"].(string), e.message["channel"].(string)
		counts[channel+" "+status]++
		require.LessOrEqual(t, e.taken, 1, "%s: %v", text, e.message)
		switch status {
		case "sent":
			require.Equal(t, 1, e.taken, "%s: %v", text, e.message)
		case "unknown":
			code := e.message["error"].(map[string]any)["code"]
			require.NotEqual(t, "sandbox", channel)
			require.Contains(t, []any{messages.CodeWorkerLost, messages.CodeAnswerLost}, code)
			if code == messages.CodeAnswerLost {
				require.Equal(t, 1, e.taken, "%s: %v", text, e.message)
			}
		default:
			require.Fail(t, "neither sent nor unknown", "%s: %v", text, e.message)
		}
	}
	t.Log(counts)
	require.Less(t, counts["email unknown"]+counts["telegram unknown"], total/2, "most were sent")
	require.Zero(t, counts["sandbox unknown"])
}

// PostgreSQL restarts again and again while messages are sent. The workers live
// and know what they did: everything is sent, once, and nothing is unknown.
func TestPostgresRestartsWhileMessagesAreSent(t *testing.T) {
	slow := func(string, int) providers.Reaction {
		return providers.Reaction{Delay: time.Duration(100+rand.IntN(300)) * time.Millisecond}
	}
	o := newPostOffice(t, slow, slow)
	ids := o.queue(t, 200)
	programs.StartWorker(t, o.env)
	programs.StartWorker(t, o.env)
	for range 4 {
		pause(time.Second)
		require.NoError(t, o.postgres.Restart(t.Context()))
	}
	for text, e := range o.settle(t, ids) {
		require.Equal(t, "sent", e.message["status"], "%s: %v", text, e.message)
		require.Equal(t, 1, e.taken, "%s: %v", text, e.message)
	}
}
