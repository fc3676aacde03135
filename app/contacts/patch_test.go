package contacts

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

// The examples of RFC 7396, appendix A, and what makes implementations stumble.
func TestMergePatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":[null,{}],"n":1.50}`, `{"b":[null]}`, `{"a":[null,{}],"b":[null],"n":1.50}`},
		{`{"n":1}`, `{"n":12345678901234567890.1230}`, `{"n":12345678901234567890.1230}`},
	} {
		got, err := models.MergePatch(jsontext.Value(c.target), jsontext.Value(c.patch))
		require.NoError(t, err)
		require.Equal(t, c.want, string(got), "%s + %s", c.target, c.patch)
	}
}

func TestSameJSON(t *testing.T) {
	t.Parallel()
	require.True(t, models.SameJSON(jsontext.Value(`{"a":1, "b":[null]}`), jsontext.Value(`{"b":[null],"a":1}`)))
	require.False(t, models.SameJSON(jsontext.Value(`{"a":1}`), jsontext.Value(`{"a":1.0}`)))
	require.False(t, models.SameJSON(jsontext.Value(`[null]`), jsontext.Value(`[]`)))
}

// A patch applied twice is applied once, and never panics.
func FuzzMergePatch(f *testing.F) {
	f.Add(`{"a":{"c":[null,{}]},"n":1}`, `{"n":1.0,"a":null}`)
	f.Fuzz(func(t *testing.T, target, patch string) {
		if !jsontext.Value(target).IsValid() || !jsontext.Value(patch).IsValid() {
			return
		}
		once, err := models.MergePatch(jsontext.Value(target), jsontext.Value(patch))
		require.NoError(t, err)
		twice, err := models.MergePatch(once, jsontext.Value(patch))
		require.NoError(t, err)
		require.True(t, models.SameJSON(once, twice), "%s then %s", once, twice)
	})
}
