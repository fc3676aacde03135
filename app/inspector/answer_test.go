package inspector_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// metric is a counter of the site's registry, by its label.
func metric(t *testing.T, s *site, name, label string) (value float64) {
	t.Helper()
	families, err := s.registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, one := range family.GetMetric() {
			if family.GetName() == name && one.GetLabel()[0].GetValue() == label {
				value = one.GetCounter().GetValue()
			}
		}
	}
	return value
}

// Every recipe is valid and does what its name says.
func TestRecipes(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	statuses := map[string][]int{
		"ok": {200, 200}, "fail_twice": {500, 500, 200, 200}, "fail": {500, 500}, "rate_limited_once": {429, 200}, "rate_limited": {429, 429},
		"unavailable": {503}, "unauthorized": {401}, "gone": {410}, "redirect": {302}, "drip": {200}, "drop_before": {0}, "drop_during": {200},
		"slow": nil, "time_out": nil, // five and 35 seconds: see the next test
	}
	for _, recipe := range models.BinRecipes() {
		t.Run(recipe.Key, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, statuses, recipe.Key)
			bin := s.newBin(recipe.Script)
			for _, want := range statuses[recipe.Key] {
				got, err := s.send(t.Context(), http.MethodPost, "/"+bin.ID, "{}")
				require.Equal(t, want == 0, err != nil, "%v", err)
				require.Equal(t, want, got.status)
				require.Equal(t, recipe.Key == "drop_during", got.broken != nil)
				require.Equal(t, want == 302, got.header.Get("Location") != "")
				require.Equal(t, want == 429 || want == 503, got.header.Get("Retry-After") != "")
			}
			require.EqualValues(t, len(statuses[recipe.Key]), s.bin(bin.ID).Captured)
		})
	}
}

// A delay, a drip and a cut connection, with what is kept about them.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	for name, test := range map[string]struct {
		answer  models.BinAnswer
		method  string
		least   time.Duration
		body    string
		failed  bool
		broken  bool
		outcome models.AnswerOutcome
	}{
		"delay":        {models.BinAnswer{Status: 201, Body: "late", DelayMs: 300}, "POST", 300 * time.Millisecond, "late", false, false, models.AnswerGiven},
		"drip":         {models.BinAnswer{Status: 200, Body: "drip", DripMs: 80}, "POST", 320 * time.Millisecond, "drip", false, false, models.AnswerGiven},
		"drip HEAD":    {models.BinAnswer{Status: 200, Body: "drip", DripMs: 80}, "HEAD", 0, "", false, false, models.AnswerGiven},
		"drop before":  {models.BinAnswer{Status: 200, Drop: models.DropBefore, DelayMs: 100}, "POST", 100 * time.Millisecond, "", true, false, models.AnswerDropped},
		"drop during":  {models.BinAnswer{Status: 200, Drop: models.DropDuring, Body: "halfhalf"}, "POST", 0, "half", false, true, models.AnswerDropped},
		"drop no body": {models.BinAnswer{Status: 200, Drop: models.DropDuring}, "POST", 0, "", false, true, models.AnswerDropped},
		"no content":   {models.BinAnswer{Status: 204}, "POST", 0, "", false, false, models.AnswerGiven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := s.newBin(models.BinScript{Then: test.answer})
			got, err := s.send(t.Context(), test.method, "/"+bin.ID, "{}")
			require.Equal(t, test.failed, err != nil, "%v", err)
			require.Equal(t, test.broken, got.broken != nil, "%v", got.broken)
			require.Equal(t, test.body, got.body)
			if !test.failed {
				require.Equal(t, test.answer.Status, got.status)
			}
			var one models.CapturedRequest // the sender has its answer before that is written down
			require.Eventually(t, func() bool {
				one = s.shown(bin.ID)[0]
				return one.AnswerOutcome != models.AnswerPending
			}, 10*time.Second, 5*time.Millisecond)
			require.Equal(t, test.outcome, one.AnswerOutcome)
			require.Equal(t, test.answer, *one.Answer)
			require.GreaterOrEqual(t, one.DurationMs, int(test.least.Milliseconds()))
		})
	}
}

// However many ask at once, exactly the first ones fail.
func TestFailNTimesIsExact(t *testing.T) {
	t.Parallel()
	const senders, failures = 60, 23
	s := newSite(t, inspector.Limits{})
	bin := s.newBin(models.BinScript{Times: failures, First: &models.BinAnswer{Status: 500}, Then: models.BinAnswer{Status: 200}})
	statuses := make(chan int, senders)
	for range senders {
		go func() {
			got, _ := s.send(t.Context(), http.MethodPost, "/"+bin.ID, "x")
			statuses <- got.status
		}()
	}
	count := map[int]int{}
	for range senders {
		count[<-statuses]++
	}
	require.Equal(t, map[int]int{500: failures, 200: senders - failures}, count)
	for _, one := range s.shown(bin.ID) {
		require.Equal(t, one.Seq <= failures, one.Answer.Status == 500, "the order that is shown is the order of the answers")
	}
	require.NoError(t, s.write(func(tx *store.Tx) error { return tx.SetBinScript(t.Context(), bin.ID, s.bin(bin.ID).Script) }))
	require.Equal(t, 500, s.post(bin).status, "a script that is set begins anew")
}

// Answers that wait are bounded, by bin and in all; a sender who leaves frees the
// place, and a process that stops waits for none.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{Waiting: 3, WaitingPerBin: 2})
	slow := models.BinScript{Then: models.BinAnswer{Status: 200, DelayMs: 40000}}
	one, other, plain := s.newBin(slow), s.newBin(slow), s.newBin()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := s.send(ctx, http.MethodPost, "/"+one.ID, "x")
			left <- err
		}()
	}
	require.Eventually(t, func() bool { return s.bin(one.ID).Captured == 2 }, waitFor, tick)
	require.Eventually(t, func() bool {
		got, err := s.send(shortly(t), http.MethodPost, "/"+one.ID, "x")
		return err == nil && got.status == http.StatusServiceUnavailable
	}, waitFor, tick)
	require.Equal(t, models.AnswerBusy, s.shown(one.ID)[0].AnswerOutcome)
	require.Equal(t, http.StatusOK, s.post(plain).status, "who does not wait needs no place")
	leave()
	for range 2 {
		require.ErrorIs(t, <-left, context.Canceled)
	}
	require.Eventually(t, func() bool {
		list := s.shown(one.ID)
		return list[len(list)-1].AnswerOutcome == models.AnswerSenderLeft && list[len(list)-2].AnswerOutcome == models.AnswerSenderLeft
	}, waitFor, tick)

	answered := make(chan int, 1)
	go func() {
		got, _ := s.send(t.Context(), http.MethodPost, "/"+other.ID, "x")
		answered <- got.status
	}()
	require.Eventually(t, func() bool { return s.bin(other.ID).Captured == 1 }, waitFor, tick)
	s.capture.Hurry()
	require.Equal(t, http.StatusOK, <-answered)
}

// shortly is a context for a request that is not meant to be waited for.
func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// A script that asks for too much is refused with every fault in it.
func TestScriptsAreBounded(t *testing.T) {
	t.Parallel()
	ok := models.BinAnswer{Status: 200}
	for name, script := range map[string]models.BinScript{
		"no status":           {},
		"informational":       {Then: models.BinAnswer{Status: 101}},
		"status too high":     {Then: models.BinAnswer{Status: 600}},
		"a delay too long":    {Then: models.BinAnswer{Status: 200, DelayMs: 45001}},
		"a negative delay":    {Then: models.BinAnswer{Status: 200, DelayMs: -1}},
		"a drip too long":     {Then: models.BinAnswer{Status: 200, Body: strings.Repeat("a", 46), DripMs: 1000}},
		"both too long":       {Then: models.BinAnswer{Status: 200, Body: "ab", DripMs: 10000, DelayMs: 30000}},
		"a body too long":     {Then: models.BinAnswer{Status: 200, Body: strings.Repeat("a", 4097)}},
		"a body with NUL":     {Then: models.BinAnswer{Status: 200, Body: "\x00"}},
		"a body not UTF-8":    {Then: models.BinAnswer{Status: 200, Body: "\xff"}},
		"a body for 204":      {Then: models.BinAnswer{Status: 204, Body: "x"}},
		"a negative retry":    {Then: models.BinAnswer{Status: 429, RetryAfter: -1}},
		"an unknown drop":     {Then: models.BinAnswer{Status: 200, Drop: "later"}},
		"too many times":      {Times: 1001, First: &ok, Then: ok},
		"times without first": {Times: 1, Then: ok},
		"first without times": {First: &ok, Then: ok},
		"a bad first":         {Times: 1, First: &models.BinAnswer{}, Then: ok},
	} {
		err := script.Validate()
		require.Error(t, err, name)
		require.Equal(t, models.CodeValidationFailed, models.AsError(err).Code, name)
	}
	for _, recipe := range models.BinRecipes() {
		require.NoError(t, recipe.Script.Validate(), recipe.Key)
	}
}
