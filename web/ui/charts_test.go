package ui

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAChartIsStackedByTheServerAndSaidInATable(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	picture := Picture{
		ID: "x", Title: "Attempts", Found: "Two failed.", Kind: ChartBars, Unit: UnitCount, Step: time.Hour, Until: begin.Add(90 * time.Minute),
		Times:  []time.Time{begin, begin.Add(time.Hour)},
		Series: []Series{{Name: "Failed", Colour: ColourFailed, Values: Counts([]int64{2, 0})}, {Name: "Delivered", Colour: ColourDelivered, Values: Counts([]int64{1000, 5})}},
	}
	shell := Shell{Words: WordsIn(English), Locale: Locale{Language: English}}
	chart := shell.Chart(picture)
	encoded, err := json.Marshal(chart.Data)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind": "bars", "unit": "count", "language": "en", "zone": "", "step": 3600, "partial": true, "times": [1796119200, 1796122800], "limit": null, "series": [
		{"name": "Failed", "colour": "failed", "drawn": [2, 0], "values": [2, 0]}, {"name": "Delivered", "colour": "delivered", "drawn": [1002, 5], "values": [1000, 5]}]}`, string(encoded))
	require.Equal(t, []string{"not over yet", ""}, []string{chart.Table.Rows[0][0].Note, chart.Table.Rows[1][0].Note}, "the newest first")
	require.Equal(t, []string{"2", "1,000"}, []string{chart.Table.Rows[1][1].Text, chart.Table.Rows[1][2].Text})
	require.Contains(t, chart.Note, "hatched")

	gap := Picture{Kind: ChartLines, Unit: UnitMilliseconds, Step: time.Hour, Times: picture.Times, Until: begin.Add(3 * time.Hour), Series: []Series{{Name: "p95", Values: []*int64{nil, new(int64(1500))}}}}
	chart = shell.Chart(gap)
	encoded, err = json.Marshal(chart.Data)
	require.NoError(t, err)
	require.Contains(t, string(encoded), `"drawn":[null,1500]`, "what is missing is no zero")
	require.Equal(t, []string{"1.50 s", ""}, []string{chart.Table.Rows[0][1].Text, chart.Table.Rows[1][1].Text})
	require.NotContains(t, chart.Note, "hatched", "it is over")

	picture.Series = []Series{{Name: "Failed", Values: Counts([]int64{0, 0})}}
	require.Nil(t, shell.Chart(picture).Data, "an empty picture is not drawn")
}

func TestASmallBarIsSeenHoweverSmall(t *testing.T) {
	t.Parallel()
	spark := NewSpark("x", []int64{10_000, 0, 0}, []int64{1, 1, 0})
	require.Equal(t, SparkBar{X: 0, Bad: 2, BadY: 22, Good: 22, GoodY: 0}, spark.Bars[0])
	require.Equal(t, 2, spark.Bars[1].Bad)
	require.Equal(t, 0, spark.Bars[2].Good+spark.Bars[2].Bad)
	require.Equal(t, []int{1, 100, 0, 0}, []int{
		NewShare(1, 10_000, "").Percent, NewShare(5, 5, "").Percent, NewShare(0, 5, "").Percent, NewShare(1, 0, "").Percent,
	})
}
