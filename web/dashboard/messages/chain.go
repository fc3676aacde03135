package messages

import (
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// link is one state on a message's way.
type link struct {
	State ui.Pill
	Stage string // "done", "now" or "ahead", as a style
	Name  string // the same in a word
	At    *ui.Instant
	Note  string // may be empty
}

// chain is a message's way through the states: those behind it, the present one,
// and those that it will pass if all goes well.
func chain(v *ui.Visit, m *models.Message, decisions []models.MessageSettlement) []link {
	c := chainer{v: v, words: wordsIn(v)}
	c.add(models.MessageQueued, &m.CreatedAt)
	if m.Status == models.MessageCancelled {
		c.add(models.MessageCancelled, &m.UpdatedAt)
		return c.end(false)
	}
	if m.Status == models.MessageQueued {
		if m.AttemptCount > 0 {
			c.note(v.Locale.Count(int64(m.AttemptCount), c.words.TriesF))
		}
		c.ahead(models.MessageSending, models.MessageSent, models.MessageDelivered)
		return c.end(true)
	}
	c.add(models.MessageSending, nil)
	c.note(v.Locale.Count(int64(m.AttemptCount), c.words.TriesF))
	if len(decisions) > 0 {
		c.add(models.MessageUnknown, nil)
		c.add(m.Status, &decisions[len(decisions)-1].CreatedAt)
		c.note(c.words.ByPerson)
		return c.end(false)
	}
	switch m.Status {
	case models.MessageSending:
		c.ahead(models.MessageSent, models.MessageDelivered)
	case models.MessageSent:
		c.add(models.MessageSent, m.SentAt)
		c.ahead(models.MessageDelivered)
	default:
		if m.SentAt != nil {
			c.add(models.MessageSent, m.SentAt)
		}
		c.add(m.Status, &m.UpdatedAt)
	}
	return c.end(m.Status == models.MessageSending)
}

// chainer puts a chain together.
type chainer struct {
	v     *ui.Visit
	words *words
	links []link
	now   int // the present state
}

func (c *chainer) add(status models.MessageStatus, at *time.Time) {
	c.now = len(c.links)
	c.links = append(c.links, link{State: *parts.MessageState(c.v, status), Stage: "done", Name: c.words.Passed, At: c.v.Locale.When(at)})
}

func (c *chainer) note(text string) { c.links[len(c.links)-1].Note = text }

func (c *chainer) ahead(states ...models.MessageStatus) {
	for _, status := range states {
		pill := *parts.MessageState(c.v, status)
		pill.Kind = ui.PillPending
		c.links = append(c.links, link{State: pill, Stage: "ahead", Name: c.words.Ahead})
	}
}

// end marks the present state; moving: it will not be the last one for long.
func (c *chainer) end(moving bool) []link {
	c.links[c.now].Stage, c.links[c.now].Name = "now", c.words.Present
	if !moving && c.now == len(c.links)-1 {
		c.links[c.now].Name = c.words.Final
	}
	return c.links
}
