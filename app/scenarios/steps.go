package scenarios

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

// SendMessage creates a message to the run's contact and waits for its end.
type SendMessage struct {
	head

	Channel  models.Channel `json:"channel"`
	Text     *string        `json:"text"`
	Template *string        `json:"template"`
	// OnUnknown says what becomes of the run when nobody can tell whether the
	// message was sent: "continue" (the default) or "fail".
	OnUnknown *string `json:"on_unknown"`
}

const (
	onUnknownContinue = "continue"
	onUnknownFail     = "fail"
)

// draft is the message without its recipient and its variables.
func (m *SendMessage) draft() models.MessageDraft {
	return models.MessageDraft{Channel: m.Channel, Text: m.Text, Template: m.Template}
}

func (p *parser) sendMessage(at string, m *SendMessage) {
	for _, fault := range m.draft().Check(time.Time{}) {
		p.found.Add(at+fault.Pointer, fault.Code, "%s", fault.Detail)
	}
	if m.OnUnknown != nil && *m.OnUnknown != onUnknownContinue && *m.OnUnknown != onUnknownFail {
		p.found.Add(at+"/on_unknown", models.FieldFormat, "on_unknown is continue or fail.")
	}
}

// Wait lets time pass.
type Wait struct {
	head

	Duration *string `json:"duration"`
	Until    *string `json:"until"`

	For time.Duration `json:"-"` // what Duration means
	End time.Time     `json:"-"` // what Until means
}

func (p *parser) wait(at string, w *Wait) {
	var err error
	switch {
	case (w.Duration == nil) == (w.Until == nil):
		p.found.Add(at, models.FieldMissing, "A wait has a duration or an until, not both.")
	case w.Duration != nil:
		if w.For, err = parseDuration(*w.Duration); err != nil {
			p.found.Add(at+"/duration", models.FieldFormat, `A duration is a whole number and s, m, h or d, as in "90s", "2h" or "3d".`)
		} else if w.For < time.Second || w.For > MaxWait {
			p.found.Add(at+"/duration", models.FieldRange, "A wait lasts 1 second to 366 days.")
		}
	default:
		if w.End, err = time.Parse(time.RFC3339Nano, *w.Until); err != nil {
			p.found.Add(at+"/until", models.FieldFormat, "This is not an RFC 3339 time, e.g. 2026-12-01T10:00:00.000Z.")
		}
	}
}

// ends is when a wait that began at the given time is over.
func (w *Wait) ends(began time.Time) time.Time {
	if w.Until != nil {
		return w.End
	}
	return began.Add(w.For)
}

var (
	durationForm  = regexp.MustCompile(`^([0-9]{1,9})([smhd])$`)
	durationUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
)

// parseDuration reads "90s", "2h" or "3d". What does not fit is as long as fits.
func parseDuration(text string) (time.Duration, error) {
	parts := durationForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, strconv.ErrSyntax
	}
	count, err := strconv.ParseInt(parts[1], 10, 64)
	unit := durationUnits[parts[2]]
	if err != nil || count > int64(2*MaxWait/unit) {
		return 2 * MaxWait, err
	}
	return time.Duration(count) * unit, nil
}

// EmitEvent publishes an event of the project's own.
type EmitEvent struct {
	head

	EventType string         `json:"event_type"`
	Data      jsontext.Value `json:"data"`
}

func (p *parser) emitEvent(at string, e *EmitEvent) {
	switch {
	case !models.ValidEventType(e.EventType):
		p.found.Add(at+"/event_type", models.FieldFormat,
			"A type is 2 to 5 parts of lower-case letters, digits and underscores joined by dots, as in payment.succeeded.")
	case models.PlatformEventType(e.EventType):
		p.found.Add(at+"/event_type", models.FieldReserved, "Types that begin like this are the platform's own.")
	}
	if len(e.Data) == 0 || e.Data.Kind() == 'n' {
		e.Data = jsontext.Value("{}")
	}
	if e.Data.Kind() != '{' {
		p.found.Add(at+"/data", models.FieldType, "data is a JSON object.")
	}
	p.placeholders(at+"/data", e.Data)
}

// HTTPRequest asks another system for something.
type HTTPRequest struct {
	head

	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    jsontext.Value    `json:"body"`
	SaveAs  *string           `json:"save_as"`
}

const maxURL = 2048

var (
	methods    = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	saveAsForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// httpRequest checks all but the headers and where the URL's host is, which
// whoever saves the scenario does.
func (p *parser) httpRequest(at string, r *HTTPRequest) {
	if !slices.Contains(methods, r.Method) {
		p.found.Add(at+"/method", models.FieldFormat, "The method is %s.", strings.Join(methods, ", "))
	}
	p.url(at+"/url", r.URL)
	if r.Body.Kind() == 'n' {
		r.Body = nil
	}
	if r.Body != nil && (r.Method == "GET" || r.Method == "HEAD") {
		p.found.Add(at+"/body", models.FieldFormat, "A %s has no body.", r.Method)
	}
	p.placeholders(at+"/body", r.Body)
	if r.SaveAs != nil && !saveAsForm.MatchString(*r.SaveAs) {
		p.found.Add(at+"/save_as", models.FieldFormat, "A variable's name is 1 to 64 letters, digits and underscores, and no digit first.")
	}
}

func (p *parser) url(at, raw string) {
	u, err := url.Parse(fixed(raw))
	if err != nil || utf8.RuneCountInString(raw) > maxURL || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		p.found.Add(at, models.FieldFormat, "This is not an absolute http or https URL of at most %d characters.", maxURL)
		return
	}
	if where := strings.Index(raw, "{{"); where >= 0 && where < hostEnd(raw) {
		p.found.Add(at, models.FieldFormat, "Placeholders may stand in the path and the query only.")
	}
	p.braces(at, raw)
}

// hostEnd is where the host of an absolute URL is over.
func hostEnd(raw string) int {
	_, rest, _ := strings.Cut(raw, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return len(raw)
	}
	return len(raw) - len(rest) + end
}

// fixed is the URL with something harmless in the place of its placeholders.
func fixed(raw string) string { return placeholder.ReplaceAllString(raw, "x") }

// Address is the URL as it can be judged before a run: its host never changes.
func (r *HTTPRequest) Address() string { return fixed(r.URL) }
