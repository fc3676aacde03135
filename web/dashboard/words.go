package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// instant is a time for a <time> element: machine-readable, and in UTC with the
// zone named, so that it is right without the script.
type instant struct{ Machine, Text string }

func (m *messages) instant(t time.Time) instant {
	t = t.UTC()
	return instant{Machine: models.FormatTime(t), Text: t.Format(m.TimeLayout)}
}

// sentence is a sentence that may have a time somewhere inside.
type sentence struct {
	Before string
	At     *instant // nil: Before is the whole sentence
	After  string
}

// at puts a time into a sentence, in the place of its %s.
func (m *messages) at(text string, t time.Time) *sentence {
	before, after, _ := strings.Cut(text, "%s")
	at := m.instant(t)
	return &sentence{Before: before, At: &at, After: after}
}

// duration is a number of milliseconds in the unit that reads best.
func (m *messages) duration(ms int) string {
	if ms < 1000 {
		return strconv.Itoa(ms) + " ms"
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 2, 64) + " s"
}

// size is a number of bytes in the unit that reads best.
func (m *messages) size(bytes int) string {
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < 1<<10:
		return strconv.Itoa(bytes) + " bytes"
	default:
		return strconv.FormatFloat(float64(bytes)/(1<<10), 'f', 1, 64) + " KiB"
	}
}

// outcomeView is an outcome as icon, word and what stands beside it.
type outcomeView struct {
	Kind string // the icon and colour: "delivered", "failed" or "lost"
	Word string
	Note string // the HTTP status, or why there is none
}

func (m *messages) outcome(a models.WebhookAttempt) outcomeView {
	view := outcomeView{Kind: "delivered", Word: m.Outcomes.Delivered}
	switch {
	case a.ErrorClass == nil:
	case *a.ErrorClass == models.ErrorWorkerLost, *a.ErrorClass == models.ErrorInternal:
		view = outcomeView{Kind: "lost", Word: m.Outcomes.Lost}
	default:
		view = outcomeView{Kind: "failed", Word: m.Outcomes.Failed}
	}
	switch {
	case a.StatusCode != nil:
		view.Note = strconv.Itoa(*a.StatusCode)
	case a.ErrorClass != nil:
		view.Note = word(m.Outcomes.Classes, *a.ErrorClass)
	}
	return view
}

// diagnose says in a sentence what happened.
func (m *messages) diagnose(a models.WebhookAttempt) string {
	words := m.Diagnosis
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
func (m *messages) next(a models.WebhookAttempt, d models.WebhookDelivery, now time.Time) *sentence {
	if a.Number < d.AttemptCount {
		return m.afterwards(a, d)
	}
	words := m.Diagnosis
	switch d.Status {
	case models.DeliveryPending, models.DeliveryWaiting:
		if d.NextAttemptAt != nil && d.NextAttemptAt.After(now) {
			return m.at(words.NextAt, *d.NextAttemptAt)
		}
		return &sentence{Before: words.DueNow}
	case models.DeliveryInFlight:
		return &sentence{Before: words.Sending}
	case models.DeliveryDeadLetter:
		return &sentence{Before: words.Given}
	case models.DeliveryHeld:
		return &sentence{Before: words.Held}
	case models.DeliveryCancelled:
		return &sentence{Before: words.Cancelled}
	case models.DeliveryDelivered:
	}
	return nil
}

// afterwards says what became of the delivery after an attempt that others
// followed.
func (m *messages) afterwards(a models.WebhookAttempt, d models.WebhookDelivery) *sentence {
	if d.Status == models.DeliveryDelivered && a.ErrorClass != nil {
		return &sentence{Before: m.Diagnosis.LaterDelivered}
	}
	return &sentence{Before: fmt.Sprintf(m.Diagnosis.LaterF, word(m.Attempt.Deliveries, d.Status))}
}
