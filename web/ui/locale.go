package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// Locale is a reader's language and time zone: how times, numbers and amounts
// are written for them.
type Locale struct {
	Language Language
	Zone     *time.Location // nil: not known, so UTC, which the script changes
}

// Instant is a time for a <time> element: machine-readable, and for people with
// the zone named, so that it is right without the script.
type Instant struct {
	Machine string // RFC 3339 in UTC with milliseconds
	Text    string // in the reader's zone
	UTC     string // the same in UTC; empty where Text is in UTC already
	Unknown bool   // the reader's zone is not known: the script may write it anew
}

// Time shows a moment to the second.
func (l Locale) Time(t time.Time) Instant {
	shown := Instant{Machine: models.FormatTime(t), Text: l.write(t.In(l.zone())), Unknown: l.Zone == nil}
	if l.Zone != nil && l.Zone != time.UTC {
		shown.UTC = t.UTC().Format("15:04:05 UTC")
	}
	return shown
}

// When is [Locale.Time] of a time that may be missing.
func (l Locale) When(t *time.Time) *Instant {
	if t == nil {
		return nil
	}
	shown := l.Time(*t)
	return &shown
}

func (l Locale) zone() *time.Location {
	if l.Zone == nil {
		return time.UTC
	}
	return l.Zone
}

func (l Locale) write(t time.Time) string {
	return fmt.Sprintf("%d %s %d, %s", t.Day(), l.words().Months[t.Month()-1], t.Year(), t.Format("15:04:05 ")+zoneAt(t))
}

// ZoneName is the zone in which times are written, as it is called at a moment.
func (l Locale) ZoneName(at time.Time) string {
	if l.zone() == time.UTC {
		return "UTC"
	}
	return fmt.Sprintf("%s (UTC%s)", l.zone(), at.In(l.zone()).Format("-07:00"))
}

// zoneAt is what a zone is called at a moment, or how far it is from GMT where it
// has no name, as browsers write it.
func zoneAt(t time.Time) string {
	name, offset := t.Zone()
	if strings.Trim(name, "+-0123456789") != "" {
		return name
	}
	sign, minutes := "+", offset/60
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	if minutes%60 == 0 {
		return fmt.Sprintf("GMT%s%d", sign, minutes/60)
	}
	return fmt.Sprintf("GMT%s%d:%02d", sign, minutes/60, minutes%60)
}

// Day shows a date of the reader's calendar.
func (l Locale) Day(t time.Time) string {
	t = t.In(l.zone())
	return fmt.Sprintf("%d %s %d", t.Day(), l.words().Months[t.Month()-1], t.Year())
}

// Number writes a whole number with its thousands apart.
func (l Locale) Number(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "−"
	}
	separator := ","
	if l.Language == Russian {
		separator = "\u00a0"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + separator + digits[i:]
	}
	return sign + digits
}

// Decimal writes a number with so many digits after the point.
func (l Locale) Decimal(value float64, digits int) string {
	text := strconv.FormatFloat(value, 'f', digits, 64)
	if l.Language == Russian {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}

// Percent writes part of whole in per cent, "–" where there is no whole. What
// is not all is never rounded up to 100.
func (l Locale) Percent(part, whole int64) string {
	if whole <= 0 {
		return "–"
	}
	share := 100 * float64(part) / float64(whole)
	switch {
	case part == whole:
		return "100" + l.words().PercentSign
	case share > 99.9:
		share = 99.9
	}
	return l.Decimal(share, 1) + l.words().PercentSign
}

// Duration writes milliseconds in the unit that reads best.
func (l Locale) Duration(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf(l.words().MillisecondsF, strconv.FormatInt(ms, 10))
	}
	return fmt.Sprintf(l.words().SecondsF, l.Decimal(float64(ms)/1000, 2))
}

// Span writes a length of time from seconds to days, the two largest units at
// most. What is shorter than a second is one second.
func (l Locale) Span(d time.Duration) string {
	d = max(d.Round(time.Second), time.Second)
	units := []struct {
		length time.Duration
		format string
	}{{24 * time.Hour, l.words().DaysF}, {time.Hour, l.words().HoursF}, {time.Minute, l.words().MinutesF}, {time.Second, l.words().WholeSecondsF}}
	var parts []string
	for _, unit := range units {
		if n := d / unit.length; n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf(unit.format, int(n)))
			d %= unit.length
		} else if len(parts) == 1 {
			break
		}
	}
	return strings.Join(parts, " ")
}

// Size writes a number of bytes in the unit that reads best.
func (l Locale) Size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprintf(l.Plural(bytes, l.words().BytesF), l.Number(bytes))
	case bytes < 1<<20:
		return fmt.Sprintf(l.words().KibibytesF, l.Decimal(float64(bytes)/(1<<10), 1))
	default:
		return fmt.Sprintf(l.words().MebibytesF, l.Decimal(float64(bytes)/(1<<20), 1))
	}
}

// Forms are a text for one, for few and for many. English has no few and leaves
// it empty; Russian takes one for 1, 21, 101, few for 2–4, 22–24, many otherwise.
type Forms struct{ One, Few, Many string }

// Plural picks the form that a whole number takes.
func (l Locale) Plural(n int64, forms Forms) string {
	n = max(n, -n)
	if l.Language != Russian {
		if n == 1 {
			return forms.One
		}
		return forms.Many
	}
	switch tens, ones := n%100, n%10; {
	case tens >= 11 && tens <= 14:
		return forms.Many
	case ones == 1:
		return forms.One
	case ones >= 2 && ones <= 4:
		return forms.Few
	}
	return forms.Many
}

// Count writes a number into the form it takes, whose %s it is.
func (l Locale) Count(n int64, forms Forms) string {
	return fmt.Sprintf(l.Plural(n, forms), l.Number(n))
}

// Sentence is a sentence that may have a time somewhere inside.
type Sentence struct {
	Before string
	At     *Instant // nil: Before is the whole sentence
	After  string
}

// Plain is a sentence without a time.
func Plain(text string) *Sentence { return &Sentence{Before: text} }

// At puts a time into a sentence, in the place of its %s.
func (l Locale) At(text string, t time.Time) *Sentence {
	before, after, _ := strings.Cut(text, "%s")
	at := l.Time(t)
	return &Sentence{Before: before, At: &at, After: after}
}

func (l Locale) words() *Words { return WordsIn(l.Language) }

// Word looks a value up and falls back to the value itself.
func Word[K ~string](words map[K]string, value K) string {
	if found, ok := words[value]; ok {
		return found
	}
	return Visible(string(value))
}
