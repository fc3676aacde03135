package scenarios_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/scenarios"
)

// Each operator on what is there, and on what is not ("-").
func TestOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op, value, got string
		want           bool
	}{
		{"eq", `1`, `1.0`, true}, {"eq", `"1"`, `1`, false}, {"eq", `{"a":[1]}`, `{"a":[1]}`, true}, {"eq", `null`, `-`, false}, {"eq", `1`, `-`, false},
		{"ne", `1`, `2`, true}, {"ne", `1`, `1`, false}, {"ne", `1`, `-`, true},
		{"gt", `1`, `2`, true}, {"gt", `2`, `2`, false}, {"gt", `"a"`, `"b"`, true}, {"gt", `1`, `"b"`, false}, {"gt", `1`, `-`, false}, {"gt", `1`, `true`, false},
		{"gte", `2`, `2`, true}, {"gte", `2`, `1`, false}, {"lt", `2`, `1`, true}, {"lt", `2`, `2`, false}, {"lte", `2`, `2`, true}, {"lte", `2`, `3`, false},
		{"lt", `"2026-12-01T00:00:00.000Z"`, `"2026-11-30T00:00:00.000Z"`, true},
		{"contains", `"vip"`, `["new","vip"]`, true}, {"contains", `"vip"`, `["vips"]`, false}, {"contains", `"vip"`, `"a vip!"`, true}, {"contains", `1`, `[1]`, true},
		{"contains", `1`, `"1"`, false}, {"contains", `1`, `{}`, false}, {"contains", `1`, `-`, false},
		{"not_contains", `"vip"`, `["vip"]`, false}, {"not_contains", `"vip"`, `-`, true},
		{"in", `["a","b"]`, `"b"`, true}, {"in", `["a","b"]`, `"c"`, false}, {"in", `["a"]`, `-`, false}, {"not_in", `["a"]`, `"b"`, true}, {"not_in", `["a"]`, `-`, true},
		{"exists", ``, `0`, true}, {"exists", ``, `-`, false}, {"not_exists", ``, `-`, true}, {"not_exists", ``, `""`, false},
	} {
		value := ""
		if c.value != "" {
			value = `,"value":` + c.value
		}
		d, faults := scenarios.Parse("", jsontext.Value(fmt.Sprintf(
			`[{"id":"a","type":"condition","if":{"field":"variables.x","op":%q%s},"then":"end"}]`, c.op, value)))
		require.Empty(t, faults)
		var got any
		known := c.got != "-"
		if known {
			require.NoError(t, json.Unmarshal([]byte(c.got), &got))
		}
		require.Equal(t, c.want, d.Steps[0].Condition.If.Holds(got, known), "%s %s %s", c.got, c.op, c.value)
	}
}
