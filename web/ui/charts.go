package ui

import (
	"time"
)

// The colours of a [Series]: an outcome's, or one of two that mean nothing.
const (
	ColourDelivered = "delivered"
	ColourRetrying  = "retrying"
	ColourFailed    = "failed"
	ColourDead      = "dead"
	ColourNeutral   = "neutral"
	ColourAccent    = "accent"
)

// The kinds of a [Chart].
const (
	ChartBars  = "bars"  // stacked, the first series at the bottom
	ChartLines = "lines" // with a gap where there is no value
)

// The units of a chart's values.
const (
	UnitCount        = "count"
	UnitMilliseconds = "ms"
)

// Series are the values of one thing, one a bucket; nil is a gap.
type Series struct {
	Name   string
	Colour string
	Values []*int64
	Total  string // beside the name in the legend; may be empty
}

// Counts are values without gaps.
func Counts(values []int64) []*int64 {
	pointers := make([]*int64, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	return pointers
}

// Picture is what a chart is made of.
type Picture struct {
	ID     string // the element's, unique on the page
	Title  string // what is drawn, and for how long a bucket
	Found  string // what it shows, in a sentence: also its text alternative
	Kind   string
	Unit   string
	Times  []time.Time // when each bucket begins
	Step   time.Duration
	Until  time.Time // now: the bucket that it lies in is not complete
	Series []Series
	// Limit is a line across; Name empty: there is none.
	Limit Limit
}

// Limit is a value that is not to be passed.
type Limit struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Chart is a picture over time, with its values as a table: template "chart".
// Without the script the table is all there is. The page's [Shell.Charts] is to
// be set.
type Chart struct {
	Words  *Words
	ID     string
	Title  string
	Found  string
	Note   string // the zone, and what is not complete
	Legend []Series
	Limit  Limit
	Data   any // what the script draws; nil: there is nothing to draw
	Table  Table
}

// chartData is what charts.js reads.
type chartData struct {
	Kind     string        `json:"kind"`
	Unit     string        `json:"unit"`
	Language string        `json:"language"`
	Zone     string        `json:"zone"` // empty: the browser's
	Step     int64         `json:"step"` // in seconds
	Partial  bool          `json:"partial"`
	Times    []int64       `json:"times"` // in Unix seconds
	Series   []chartSeries `json:"series"`
	Limit    *Limit        `json:"limit"`
}

// chartSeries has what is drawn, which for stacked bars is the sum with all
// series before it, and what is said.
type chartSeries struct {
	Name   string   `json:"name"`
	Colour string   `json:"colour"`
	Drawn  []*int64 `json:"drawn"`
	Values []*int64 `json:"values"`
}

// Chart makes a picture's view for a reader.
func (s Shell) Chart(p Picture) Chart {
	partial := len(p.Times) > 0 && p.Until.Before(p.Times[len(p.Times)-1].Add(p.Step))
	chart := Chart{
		Words: s.Words, ID: p.ID, Title: p.Title, Found: p.Found, Note: s.ZoneNote(), Legend: p.Series, Limit: p.Limit,
		Data: p.data(s.Locale, partial), Table: p.table(s.Words, s.Locale, partial),
	}
	if partial && p.Kind == ChartBars {
		chart.Note += " " + s.Words.LastPartial
	}
	if p.blank() {
		chart.Data, chart.Legend, chart.Note = nil, nil, ""
	}
	return chart
}

// blank reports that there is nothing but gaps and zeros.
func (p Picture) blank() bool {
	for _, series := range p.Series {
		for _, value := range series.Values {
			if value != nil && *value != 0 {
				return false
			}
		}
	}
	return true
}

func (p Picture) data(l Locale, partial bool) chartData {
	data := chartData{
		Kind: p.Kind, Unit: p.Unit, Language: string(l.Language), Step: int64(p.Step / time.Second), Partial: partial,
		Times: make([]int64, len(p.Times)),
	}
	if l.Zone != nil {
		data.Zone = l.Zone.String()
	}
	if p.Limit.Name != "" {
		data.Limit = &p.Limit
	}
	for i, at := range p.Times {
		data.Times[i] = at.Unix()
	}
	below := make([]int64, len(p.Times))
	for _, series := range p.Series {
		drawn := series.Values
		if p.Kind == ChartBars {
			drawn = stack(below, series.Values)
		}
		data.Series = append(data.Series, chartSeries{Name: series.Name, Colour: series.Colour, Drawn: drawn, Values: series.Values})
	}
	return data
}

// stack adds values to what is below them, and returns the sums.
func stack(below []int64, values []*int64) []*int64 {
	for i, value := range values {
		if value != nil {
			below[i] += *value
		}
	}
	sums := make([]int64, len(below))
	copy(sums, below)
	return Counts(sums)
}

// table is the picture in numbers, the newest bucket first.
func (p Picture) table(words *Words, l Locale, partial bool) Table {
	table := Table{Caption: p.Title, Columns: []Column{{Name: words.From}}}
	for _, series := range p.Series {
		table.Columns = append(table.Columns, Column{Name: series.Name, Number: true})
	}
	for i := len(p.Times) - 1; i >= 0; i-- {
		at := l.Time(p.Times[i])
		first := Cell{At: &at}
		if partial && i == len(p.Times)-1 {
			first.Note = words.NotOver
		}
		row := []Cell{first}
		for _, series := range p.Series {
			row = append(row, Cell{Text: p.value(l, series.Values[i])})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (p Picture) value(l Locale, value *int64) string {
	switch {
	case value == nil:
		return ""
	case p.Unit == UnitMilliseconds:
		return l.Duration(*value)
	}
	return l.Number(*value)
}
