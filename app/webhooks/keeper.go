package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/mail"
)

// How much one statement, object or transaction of the keeper's takes at most.
const (
	judgeBatch   = 100
	expireBatch  = 500
	archiveBatch = 200
	forgetBatch  = 500
	rollUpHours  = 24
	mailBatch    = 20
)

// KeeperConfig sets a keeper up.
type KeeperConfig struct {
	Store   *store.Store
	Archive *blob.Bucket // nil: what a plan archives is kept past its retention
	Mail    *mail.Sender // nil: notices are on the dashboard only
	Log     *slog.Logger
}

// Keeper does what time asks for: it judges endpoints, lets what is old expire,
// archives and forgets it, sums attempts up, and sends notices. Every method does
// what there is to do and returns; any number of keepers may run at once, and
// none does anything twice. What fails is logged and done at the next call.
type Keeper struct {
	cfg    KeeperConfig
	warned atomic.Bool // that there is no archive
}

// NewKeeper returns a keeper.
func NewKeeper(cfg KeeperConfig) *Keeper { return &Keeper{cfg: cfg} }

// Judge tells owners how their endpoints do, and disables those at the end of
// the way there.
func (k *Keeper) Judge(ctx context.Context) {
	k.repeat(ctx, "endpoints could not be judged", judgeBatch, func() (int, error) {
		return k.cfg.Store.JudgeEndpoints(ctx, judgeBatch)
	})
}

// Expire corrects what contradicts its endpoint, makes dead letters of what was
// held too long, and archives or deletes dead letters past their retention.
func (k *Keeper) Expire(ctx context.Context) {
	k.repeat(ctx, "deliveries of deleted endpoints could not be cancelled", expireBatch, func() (int, error) {
		return k.cfg.Store.CancelContradictions(ctx, expireBatch)
	})
	k.repeat(ctx, "held deliveries could not expire", expireBatch, func() (int, error) {
		return k.cfg.Store.ExpireHeld(ctx, expireBatch)
	})
	k.repeat(ctx, "expired dead letters could not be dropped", expireBatch, func() (int, error) {
		return k.cfg.Store.DropExpired(ctx, expireBatch)
	})
	if k.cfg.Archive == nil {
		k.warnUnarchived(ctx)
		return
	}
	k.repeat(ctx, "expired dead letters could not be archived", 1, func() (int, error) { return k.archive(ctx) })
}

// warnUnarchived says, once in the keeper's life, that a plan promises an archive
// and the operator has set none up. Nothing is deleted meanwhile.
func (k *Keeper) warnUnarchived(ctx context.Context) {
	if k.warned.Load() {
		return
	}
	count, err := k.cfg.Store.CountUnarchived(ctx, expireBatch)
	if err != nil {
		k.complain(ctx, "what waits for the archive could not be counted", err)
		return
	}
	if count > 0 && k.warned.CompareAndSwap(false, true) {
		k.cfg.Log.WarnContext(ctx, "dead letters past their retention are kept: their plan has the archive, and ARCHIVE_URL is not set", "at_least", count)
	}
}

// RollUp sums up the hours that are over.
func (k *Keeper) RollUp(ctx context.Context) {
	k.repeat(ctx, "attempts could not be summed up", rollUpHours, func() (int, error) {
		return k.cfg.Store.RollUp(ctx, rollUpHours)
	})
}

// Forget deletes what is past its retention, project by project.
func (k *Keeper) Forget(ctx context.Context) {
	projects, err := k.cfg.Store.Projects(ctx)
	if err != nil {
		k.complain(ctx, "projects could not be listed", err)
		return
	}
	for _, project := range projects {
		if err := k.cfg.Store.DropHistory(ctx, project.ID, forgetBatch); err != nil {
			k.complain(ctx, "old events and deliveries could not be deleted", err)
			return
		}
	}
	k.repeat(ctx, "old rollups could not be deleted", forgetBatch, func() (int, error) {
		return k.cfg.Store.DropRollups(ctx, forgetBatch)
	})
}

// repeat calls do until it does less than a full batch, fails, or ctx is over.
func (k *Keeper) repeat(ctx context.Context, complaint string, batch int, do func() (int, error)) {
	for count := batch; count >= batch && ctx.Err() == nil; {
		var err error
		if count, err = do(); err != nil {
			k.complain(ctx, complaint, err)
			return
		}
	}
}

func (k *Keeper) complain(ctx context.Context, complaint string, err error) {
	if ctx.Err() == nil { // a stop is no fault
		k.cfg.Log.ErrorContext(ctx, complaint, "error", err)
	}
}

// mailRule: eight tries over four hours.
func mailRule() store.MailRule { return store.MailRule{Max: 8, Pause: 2 * mail.Timeout} }

// SendMails sends the mails of notices that are due, each at least once while the
// server accepts it within its tries.
func (k *Keeper) SendMails(ctx context.Context) {
	if k.cfg.Mail == nil {
		return
	}
	k.repeat(ctx, "mails could not be sent", mailBatch, func() (int, error) {
		// One at a time: no claim is older than one mail takes when its turn comes.
		for sent := range mailBatch {
			list, err := k.cfg.Store.ClaimMails(ctx, mailRule(), 1)
			if err != nil || len(list) == 0 {
				return sent, err
			}
			if err := k.sendMail(ctx, list[0]); err != nil {
				return sent, err
			}
		}
		return mailBatch, nil
	})
}

// sendMail sends one mail and takes note of what came of it. A failure to send is
// not an error here: it is tried again at its time, and others are not kept
// waiting.
func (k *Keeper) sendMail(ctx context.Context, m models.NoticeMail) error {
	failure := k.cfg.Mail.Send(ctx, mail.Message{To: m.Email, ID: m.ID, Subject: subjectOf(m), Text: textOf(m)})
	if failure != nil {
		k.cfg.Log.WarnContext(ctx, "a notice could not be mailed", "notice", m.ID, "try", m.Attempt, "error", failure)
	}
	return k.cfg.Store.MailDone(context.WithoutCancel(ctx), m, failure)
}

// withoutSecrets leaves out of an endpoint's URL what may be a password: mail is
// read by more than its receiver.
func withoutSecrets(rawURL string) string {
	parsed, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
}

func subjectOf(m models.NoticeMail) string {
	switch m.Kind {
	case models.NoticeDisabled:
		return fmt.Sprintf("[%s] A webhook endpoint was disabled", m.Project)
	case models.NoticeRecovered:
		return fmt.Sprintf("[%s] A webhook endpoint works again", m.Project)
	case models.NoticeFailing:
	}
	return fmt.Sprintf("[%s] A webhook endpoint keeps failing: %d %% of the way to being disabled", m.Project, m.Level)
}

func textOf(m models.NoticeMail) string {
	endpoint := fmt.Sprintf("Endpoint: %s\nURL: %s\n", m.EndpointID, withoutSecrets(m.Params.URL))
	if m.Params.FailingSince != nil {
		endpoint += fmt.Sprintf("Failing since: %s\nFailed attempts since then: %d\n", m.Params.FailingSince.UTC().Format(time.RFC1123), m.Params.Failures)
	}
	switch {
	case m.Kind == models.NoticeRecovered:
		return "The endpoint has accepted an event again. Nothing needs to be done.\n\n" + endpoint
	case m.Kind == models.NoticeFailing:
		return "No event could be delivered to the endpoint since its first failure. If that goes on it will be disabled: after 5 days " +
			"without a success and 10 failed attempts on 2 days or more.\n\n" + endpoint
	case m.Params.Reason == models.DisabledGone:
		return "The endpoint answered 410 Gone and was disabled. Its events are held from now on; resume the endpoint to have them delivered.\n\n" + endpoint
	default:
		return "No event could be delivered to the endpoint for 5 days and it was disabled. Its events are held from now on; resume the " +
			"endpoint, once it is repaired, to have them delivered.\n\n" + endpoint
	}
}
