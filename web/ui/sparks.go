package ui

// The size of a [Spark], in units of its own.
const (
	sparkHeight = 24
	sparkPitch  = 5 // a bar and the gap beside it
)

// Spark is a row of small bars drawn by the server, in which what failed stands
// at the bottom: template "spark".
type Spark struct {
	Name  string // what it shows, in words
	Width int
	Bars  []SparkBar
}

// SparkBar is one bar in a spark's own units.
type SparkBar struct{ X, Good, GoodY, Bad, BadY int }

// NewSpark draws how many went well and how many badly, in the same buckets. What
// is not nothing is seen, however little it is.
func NewSpark(name string, good, bad []int64) *Spark {
	most := int64(1)
	for i := range good {
		most = max(most, good[i]+bad[i])
	}
	spark := &Spark{Name: name, Width: len(good)*sparkPitch - 1}
	for i := range good {
		low := height(bad[i], most)
		high := min(height(good[i], most), sparkHeight-low)
		spark.Bars = append(spark.Bars, SparkBar{X: i * sparkPitch, Bad: low, BadY: sparkHeight - low, Good: high, GoodY: sparkHeight - low - high})
	}
	return spark
}

func height(value, most int64) int {
	if value == 0 {
		return 0
	}
	return int(max(value*sparkHeight/most, 2))
}

// Share is a bar that is a part of a whole, drawn by the server: template "share".
// The number beside it is its text alternative.
type Share struct {
	Percent int // 0 to 100
	Colour  string
}

// NewShare is a bar; what is not nothing is seen.
func NewShare(part, whole int64, colour string) *Share {
	share := &Share{Colour: colour}
	if whole > 0 && part > 0 {
		share.Percent = int(min(max(part*100/whole, 1), 100))
	}
	return share
}

// Meter is how much of a limit is used: template "meter".
type Meter struct {
	Name  string
	Text  string // how much of how much
	Share *Share
}

// muchUsed is the part of a limit, in per cent, from which on it is much.
const muchUsed = 80

// NewMeter is a meter; text says in words how much of how much is used.
func NewMeter(name, text string, used, limit int64) Meter {
	meter := Meter{Name: name, Text: text, Share: NewShare(used, limit, ColourAccent)}
	if used*100 >= limit*muchUsed {
		meter.Share.Colour = ColourFailed
	}
	return meter
}
