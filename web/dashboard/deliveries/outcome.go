package deliveries

import (
	"fmt"
	"strconv"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// reader is whom the pages are written for: their language, zone and words.
type reader struct {
	ui.Locale
	words  *words
	shared *ui.Words
}

func readerOf(v *ui.Visit) reader {
	return reader{Locale: v.Locale, words: wordsIn(v.Locale.Language), shared: ui.WordsIn(v.Locale.Language)}
}

func (m reader) milliseconds(ms int) string { return m.Duration(int64(ms)) }

func (m reader) bytes(n int) string { return m.Size(int64(n)) }

// outcome is an attempt's result with the HTTP status, or why there is none.
func (m reader) outcome(a models.WebhookAttempt) ui.Pill {
	view := ui.Pill{Kind: ui.PillDelivered, Word: m.words.Outcomes.Delivered}
	switch {
	case a.ErrorClass == nil:
	case *a.ErrorClass == models.ErrorWorkerLost, *a.ErrorClass == models.ErrorInternal:
		view = ui.Pill{Kind: ui.PillPending, Word: m.words.Outcomes.Lost}
	default:
		view = ui.Pill{Kind: ui.PillFailed, Word: m.words.Outcomes.Failed}
	}
	switch {
	case a.StatusCode != nil:
		view.Note = strconv.Itoa(*a.StatusCode)
	case a.ErrorClass != nil:
		view.Note = ui.Word(m.words.Outcomes.Classes, *a.ErrorClass)
	}
	return view
}

// diagnose says in a sentence what happened.
func (m reader) diagnose(a models.WebhookAttempt) string {
	words := m.words.Diagnosis
	switch {
	case a.ErrorClass == nil && a.StatusCode != nil:
		return fmt.Sprintf(words.DeliveredF, *a.StatusCode)
	case a.ErrorClass == nil:
		return words.Unknown
	case a.StatusCode == nil:
		if text, ok := words.Classes[*a.ErrorClass]; ok {
			return text
		}
		return words.Unknown
	case *a.ErrorClass == models.ErrorRedirect:
		return fmt.Sprintf(words.RedirectF, *a.StatusCode)
	case *a.StatusCode == 429:
		return fmt.Sprintf(words.SlowDownF, *a.StatusCode)
	default:
		return fmt.Sprintf(words.AnsweredF, *a.StatusCode)
	}
}

// next says what happens after an attempt, nil when there is nothing to add.
func (m reader) next(a models.WebhookAttempt, d models.WebhookDelivery, now time.Time) *ui.Sentence {
	if a.Number < d.AttemptCount {
		return m.afterwards(a, d)
	}
	words := m.words.Diagnosis
	switch d.Status {
	case models.DeliveryPending, models.DeliveryWaiting:
		if d.NextAttemptAt != nil && d.NextAttemptAt.After(now) {
			return m.At(words.NextAt, *d.NextAttemptAt)
		}
		return ui.Plain(words.DueNow)
	case models.DeliveryInFlight:
		return ui.Plain(words.Sending)
	case models.DeliveryDeadLetter:
		return ui.Plain(words.Given)
	case models.DeliveryHeld:
		return ui.Plain(words.Held)
	case models.DeliveryCancelled:
		return ui.Plain(words.Cancelled)
	case models.DeliveryDelivered:
	}
	return nil
}

// afterwards says what became of the delivery after an attempt that others
// followed.
func (m reader) afterwards(a models.WebhookAttempt, d models.WebhookDelivery) *ui.Sentence {
	if d.Status == models.DeliveryDelivered && a.ErrorClass != nil {
		return ui.Plain(m.words.Diagnosis.LaterDelivered)
	}
	return ui.Plain(fmt.Sprintf(m.words.Diagnosis.LaterF, parts.DeliveryState(m.Locale, d.Status).Word))
}
