package api_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
)

func TestOptionalTellsAbsentNullAndValueApart(t *testing.T) {
	t.Parallel()
	var patch api.ContactUpdate
	require.NoError(t, json.Unmarshal([]byte(`{"name":null,"email":"","tags":["vip"],"identities":{"telegram":null}}`), &patch))
	require.Equal(t, api.Optional[string]{}, patch.Phone)
	require.Equal(t, api.Null[string](), patch.Name)
	require.Equal(t, api.Some(""), patch.Email)
	require.Equal(t, api.Some([]string{"vip"}), patch.Tags)
	require.Equal(t, api.Some(map[string]*string{"telegram": nil}), patch.Identities)
}

func TestOptionalIsWrittenAsItWasRead(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"name":null}`, `{"name":""}`, `{"attributes":{"a":null}}`, `{"attributes":null}`} {
		var patch api.ContactUpdate
		require.NoError(t, json.Unmarshal([]byte(body), &patch))
		text, err := json.Marshal(patch)
		require.NoError(t, err)
		require.Equal(t, body, string(text))
	}
}

// A wrong value is reported with its own place, and the caller's strictness holds
// inside too.
func TestOptionalKeepsTheDecodersRulesAndPointers(t *testing.T) {
	t.Parallel()
	var patch api.ContactUpdate
	var semantic *json.SemanticError
	require.ErrorAs(t, json.Unmarshal([]byte(`{"tags":["vip",5]}`), &patch), &semantic)
	require.Equal(t, jsontext.Pointer("/tags/1"), semantic.JSONPointer)

	type inner struct {
		Known string `json:"known"`
	}
	var outer struct {
		Field api.Optional[inner] `json:"field"`
	}
	unknown := json.Unmarshal([]byte(`{"field":{"other":1}}`), &outer, json.RejectUnknownMembers(true))
	require.ErrorAs(t, unknown, &semantic)
	require.Equal(t, jsontext.Pointer("/field/other"), semantic.JSONPointer)
	require.Error(t, json.Unmarshal([]byte(`{"attributes":{"a":1,"a":2}}`), &patch))
}

func TestAnAbsentOptionalCannotBeWritten(t *testing.T) {
	t.Parallel()
	_, err := json.Marshal(api.Optional[string]{})
	require.Error(t, err)
}
