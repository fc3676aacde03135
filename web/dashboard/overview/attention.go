package overview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

const (
	// keySoon is how long before its end a key is spoken of.
	keySoon = 14 * 24 * time.Hour
	// muchLimit is the part of the limit, in per cent, from which on it is spoken of.
	muchLimit = 80
	// muchFailing is the part of an endpoint's attempts, in per cent, that makes it
	// failing although some come through; fewer attempts than fewAttempts say
	// nothing.
	muchFailing = 5
	fewAttempts = 20
	// maxItems is how many lines of one kind there are.
	maxItems = 5
)

// attentionItem is one thing that a person should see to.
type attentionItem struct {
	Kind    string // a pill's
	Word    string
	Subject string // an endpoint's URL or a key's name; may be empty
	Text    *ui.Sentence
	Link    ui.Link
}

// attention is what needs a person now, the worst first.
func attention(v *ui.Visit, k known) []attentionItem {
	w := wordsIn(v.Locale.Language)
	var items []attentionItem
	if k.now.DeadLetters > 0 {
		text := fmt.Sprintf(v.Locale.Plural(k.now.DeadLetters, w.DeadLettersF), parts.Capped(v, k.now.DeadLetters, store.MaxAttention), "%s")
		items = append(items, attentionItem{
			Kind: ui.PillDead, Word: w.DeadLetters, Text: v.Locale.At(text, k.now.OldestDeadLetter),
			Link: ui.Link{Name: w.SeeDeadLetters, Address: ui.Root + "/" + ui.NavDeadLetters},
		})
	}
	items = append(items, endpointItems(v, k)...)
	items = append(items, keyItems(v, k)...)
	return append(items, limitItems(v, k)...)
}

func endpointItems(v *ui.Visit, k known) []attentionItem {
	w := wordsIn(v.Locale.Language)
	sums := k.at.ByEndpoint(k.rollups)
	var items []attentionItem
	for _, e := range k.endpoints {
		item := attentionItem{
			Subject: ui.Shorten(ui.Visible(e.URL), 80), Link: ui.Link{Name: w.SeeEndpoint, Address: ui.Root + "/" + ui.NavEndpoints + "/" + e.ID},
		}
		total := sums[e.ID].Total
		failed := total.Attempts - total.Successes
		switch health := k.health[e.ID]; {
		case e.Status == models.EndpointDisabled:
			item.Kind, item.Word, item.Text = ui.PillDead, w.Disabled, v.Locale.At(w.DisabledText, e.StatusSince)
		case e.Status != models.EndpointActive:
			continue
		case health.FailingSince != nil:
			item.Kind, item.Word = ui.PillFailed, w.Failing
			text := fmt.Sprintf(v.Locale.Plural(int64(health.Failures), w.FailingF), v.Locale.Number(int64(health.Failures)), "%s")
			item.Text = v.Locale.At(text, *health.FailingSince)
		case total.Attempts >= fewAttempts && failed*100 > total.Attempts*muchFailing:
			item.Kind, item.Word = ui.PillRetrying, w.Unsteady
			item.Text = ui.Plain(fmt.Sprintf(w.UnsteadyF, v.Locale.Percent(failed, total.Attempts), v.Locale.Number(total.Attempts), k.at.In(v)))
		default:
			continue
		}
		items = append(items, item)
	}
	slices.SortStableFunc(items, func(a, b attentionItem) int {
		return cmp.Compare(slices.Index(worst, a.Kind), slices.Index(worst, b.Kind))
	})
	return items[:min(len(items), maxItems)]
}

// worst are the kinds of endpoints' items, the worst first.
var worst = []string{ui.PillDead, ui.PillFailed, ui.PillRetrying} //nolint:gochecknoglobals // a constant table

func keyItems(v *ui.Visit, k known) []attentionItem {
	w := wordsIn(v.Locale.Language)
	var items []attentionItem
	for _, key := range k.keys {
		if !key.Usable(v.Now) || key.ExpiresAt == nil || key.ExpiresAt.Sub(v.Now) > keySoon || len(items) == maxItems {
			continue
		}
		items = append(items, attentionItem{
			Kind: ui.PillRetrying, Word: w.KeyExpires, Subject: ui.Visible(key.Name), Text: v.Locale.At(w.KeyExpiresText, *key.ExpiresAt),
			Link: ui.Link{Name: w.SeeKeys, Address: ui.Root + "/" + ui.NavKeys},
		})
	}
	return items
}

func limitItems(v *ui.Visit, k known) []attentionItem {
	w := wordsIn(v.Locale.Language)
	limit := int64(k.plan.Limits.APIRatePerMinute)
	peak, limited := parts.Peak(k.minutes)
	if peak.KeyID == "" || peak.Admitted*100 < limit*muchLimit && limited == 0 {
		return nil
	}
	text := fmt.Sprintf(w.LimitF, v.Locale.Percent(peak.Admitted, limit), v.Locale.Number(limit), v.Locale.Number(limited), "%s")
	return []attentionItem{{
		Kind: ui.PillRetrying, Word: w.LimitNear, Subject: parts.KeyName(k.keys, peak.KeyID), Text: v.Locale.At(text, peak.Minute),
		Link: ui.Link{Name: w.SeeUsage, Address: ui.Root + "/" + ui.NavUsage},
	}}
}
