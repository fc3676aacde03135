package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
)

// judge says what is wrong with a body's JSON, as encoding/json reads it and as
// its bytes are: it shares nothing with the decoder that it judges.
func judge(body []byte) error {
	switch {
	case !utf8.Valid(body):
		return errors.New("invalid UTF-8")
	case !json.Valid(body):
		return errors.New("no JSON")
	case hasLoneSurrogate(body):
		return errors.New("a lone surrogate")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return walk(decoder)
}

// walk reads one value.
func walk(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	switch value := token.(type) {
	case string:
		if strings.ContainsRune(value, 0) {
			return errors.New("a NUL")
		}
	case json.Delim:
		return walkInto(decoder, value == '{')
	}
	return nil
}

func walkInto(decoder *json.Decoder, object bool) error {
	seen := map[string]bool{}
	for decoder.More() {
		if object {
			token, err := decoder.Token()
			if err != nil {
				return fmt.Errorf("read: %w", err)
			}
			name, _ := token.(string)
			if seen[name] || strings.ContainsRune(name, 0) {
				return fmt.Errorf("the name %q twice, or with a NUL", name)
			}
			seen[name] = true
		}
		if err := walk(decoder); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

var escape = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

// hasLoneSurrogate looks at the escapes of valid JSON in the order they come.
func hasLoneSurrogate(body []byte) bool {
	high := -1 // where the pair of the high half before must begin
	for _, at := range escape.FindAllIndex(body, -1) {
		unit, err := strconv.ParseUint(string(body[min(at[0]+2, at[1]):at[1]]), 16, 32)
		isUnit := err == nil && body[at[0]+1] == 'u' && utf16.IsSurrogate(rune(unit))
		low := isUnit && unit >= 0xdc00
		if (high >= 0) != low || (low && high != at[0]) {
			return true
		}
		high = -1
		if isUnit && !low {
			high = at[1]
		}
	}
	return high >= 0
}

func bodyRequest(body []byte) *middleware.Request {
	return &middleware.Request{Header: http.Header{"Content-Type": {jsonType}}, Body: body}
}

// A body is taken only if an independent reader finds nothing wrong with it, and
// is called malformed only if that one finds something, too.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `null`, `[]`, `{"name":"Ada"}`, `{"name":null}`, `{"name":1}`, `{"nam":"Ada"}`, `{"Name":"Ada"}`, `{"name":"a","name":"b"}`,
		`{"name":"a","n\u0061me":"b"}`, `{"name":"\u0000"}`, `{"attributes":{"a\u0000":1}}`, `{"name":"\ud800"}`, `{"name":"\udc00\ud800"}`,
		`{"name":"\ud83d\ude00"}`, `{"name":"\\ud800"}`, "{\"name\":\"\xff\"}", "\xef\xbb\xbf{}", `{} {}`, `{"attributes":{"a":{"b":1,"b":2}}}`,
		`{"attributes":{"n":-0,"e":1e999,"big":12345678901234567890.1230}}`, `{"attributes":` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) + `}`,
		`{"tags":["a",1]}`, `{"identities":{"telegram":null}}`, `{"name":"` + strings.Repeat("a", 1500) + `"}`, `{"` + strings.Repeat("a", 1500) + `":1}`,
	} {
		f.Add([]byte(seed))
	}
	known := []string{"external_id", "name", "email", "phone", "identities", "tags", "attributes"}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := decode[api.ContactCreate](bodyRequest(body))
		verdict := judge(body)
		if err != nil {
			refused := models.AsError(err)
			require.Contains(t, []models.Code{models.CodeMalformedJSON, models.CodeValidationFailed}, refused.Code)
			require.True(t, refused.Code != models.CodeMalformedJSON || verdict != nil, "%s", err)
			require.NotEmpty(t, refused.Fields)
			return
		}
		require.NoError(t, verdict)
		var names map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(body, &names))
		for name := range names {
			require.True(t, slices.Contains(known, name), name)
		}
	})
}
