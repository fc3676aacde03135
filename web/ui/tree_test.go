package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATreeIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	require.Equal(t, &Tree{Size: "{3}", Inside: []Tree{
		{Name: "b", Value: "1.50e3"},
		{Name: "a⟨U+202E⟩", Size: "[2]", Inside: []Tree{{Name: "0", Value: "null"}, {Name: "1", Size: "{0}"}}},
		{Name: "b", Value: `"<b>"`},
	}}, ShowTree([]byte("{\"b\":1.50e3,\"a\u202e\":[null,{}],\"b\":\"<b>\"} \n")))
}

// What is no object or array, is broken, or is too large or too deep, is no tree.
func TestWhatIsNoTree(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"nothing": "", "a string": `"a"`, "broken": `{"a":[1,2}`, "cut off": `[1,2`, "two": `{} {}`, "not UTF-8": "{\"a\":\"\xff\"}",
		"deep": strings.Repeat("[", 100) + strings.Repeat("]", 100), "large": "[" + strings.Repeat("1,", maxTreeNodes) + "1]",
	} {
		require.Nil(t, ShowTree([]byte(raw)), name)
	}
}
