package scenarios

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// edge leads from one step to another; the number of steps is the end.
type edge struct {
	from, to int
	label    string // "yes" or "no" of a condition; may be empty
}

// edgesOf are all ways of a definition, in the order of its steps.
func edgesOf(w *words, d *scenarios.Definition) (edges []edge) {
	for i, step := range d.Steps {
		switch c := step.Condition; {
		case c == nil:
			edges = append(edges, edge{from: i, to: step.Next})
		case c.Yes == c.No:
			edges = append(edges, edge{from: i, to: c.Yes})
		default:
			edges = append(edges, edge{i, c.Yes, w.YesWay}, edge{i, c.No, w.NoWay})
		}
	}
	return edges
}

// reached are the steps that some run can come to, the end included.
func reached(count int, edges []edge) []bool {
	can := make([]bool, count+1)
	can[0] = true
	for _, e := range edges { // which lead forward, in order
		can[e.to] = can[e.to] || can[e.from]
	}
	return can
}

// path is what a run has gone through: for each step the one that followed, -1
// where none did.
func path(d *scenarios.Definition, run *models.ScenarioRun, begun map[string]*models.ScenarioRunStep) []int {
	next := make([]int, len(d.Steps))
	for i, step := range d.Steps {
		next[i] = -1
		record := begun[step.ID]
		if record == nil || record.Status != models.StepCompleted {
			continue
		}
		ways := []int{step.Next}
		if c := step.Condition; c != nil {
			ways = []int{min(c.Yes, c.No), max(c.Yes, c.No)}
		}
		// Ways lead forward, so the nearer one, if it was begun, was the one taken.
		for _, to := range ways {
			if to == run.Position || (to < len(d.Steps) && begun[d.Steps[to].ID] != nil) {
				next[i] = to
				break
			}
		}
	}
	return next
}

// brief says in a few words what a step does.
func brief(v *ui.Visit, step scenarios.Step) string {
	w := wordsIn(v)
	switch {
	case step.Message != nil:
		return briefMessage(v, step.Message)
	case step.Wait != nil && step.Wait.Until != nil:
		return fmt.Sprintf(w.UntilF, v.Locale.Time(step.Wait.End).Text)
	case step.Wait != nil:
		return v.Locale.Span(step.Wait.For)
	case step.Contact != nil:
		return briefChange(step.Contact)
	case step.Condition != nil && step.Condition.If != nil:
		return briefTest(w, step.Condition.If)
	case step.Emit != nil:
		return step.Emit.EventType
	case step.Request != nil:
		host := step.Request.URL
		if parsed, err := url.Parse(step.Request.Address()); err == nil {
			host = parsed.Host + parsed.Path
		}
		return step.Request.Method + " " + host
	}
	return ""
}

func briefMessage(v *ui.Visit, m *scenarios.SendMessage) string {
	text := m.Text
	if text == nil {
		text = m.Template
	}
	channel := ui.Word(parts.WordsOf(v).Channels, m.Channel)
	if text == nil {
		return channel
	}
	return channel + ": " + parts.Excerpt(*text)
}

func briefChange(u *scenarios.UpdateContact) string {
	what := slices.Sorted(maps.Keys(u.Set))
	for _, tag := range u.AddTags {
		what = append(what, "+"+tag)
	}
	for _, tag := range u.RemoveTags {
		what = append(what, "−"+tag)
	}
	if len(u.Attributes) > 0 {
		what = append(what, "attributes")
	}
	return strings.Join(what, ", ")
}

func briefTest(w *words, t *scenarios.Test) string {
	return strings.TrimSpace(t.Field + " " + ui.Word(w.Operators, t.Op) + " " + string(t.Value))
}
