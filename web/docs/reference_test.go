package docs_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/botix-pro/platform/api"
)

// maxPage is how large a page may be.
const maxPage = 300 << 10

// description is openapi.yaml as another reader understands it.
func description(t *testing.T) *openapi3.T {
	t.Helper()
	described, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	return described
}

// Every operation of the description is shown, under its tag, with all of its
// parameters, fields, answers and errors.
func TestTheReferenceHasEveryOperation(t *testing.T) {
	t.Parallel()
	overview := text(parse(t, "/docs/api"))
	count := 0
	for path, item := range description(t).Paths.Map() {
		for method, o := range item.Operations() {
			count++
			require.Contains(t, overview, method+" "+path)
			page := parse(t, "/docs/api/"+strings.ReplaceAll(strings.ToLower(o.Tags[0]), " ", "-"))
			sections := elements(page, func(n *html.Node) bool {
				return n.Data == "section" && attribute(n, "aria-labelledby") == o.OperationID
			})
			require.Len(t, sections, 1, o.OperationID)
			requireOperation(t, sections[0], o)
		}
	}
	require.Greater(t, count, 40)
}

func requireOperation(t *testing.T, section *html.Node, o *openapi3.Operation) {
	t.Helper()
	shown := text(section)
	for _, p := range o.Parameters {
		require.Contains(t, shown, p.Value.Name, o.OperationID)
	}
	if o.RequestBody != nil {
		for _, content := range o.RequestBody.Value.Content {
			requireFields(t, shown, o.OperationID, content.Schema, 0)
		}
	}
	for status, response := range o.Responses.Map() {
		require.Contains(t, texts(section, "code"), status, o.OperationID)
		for kind, content := range response.Value.Content {
			if kind != "application/problem+json" {
				requireFields(t, shown, o.OperationID, content.Schema, 0)
				continue
			}
			for _, example := range content.Examples {
				problem, err := json.Marshal(example.Value.Value)
				require.NoError(t, err)
				var said struct{ Code string }
				require.NoError(t, json.Unmarshal(problem, &said))
				require.Contains(t, texts(section, "a"), said.Code, o.OperationID)
			}
		}
	}
}

// requireFields looks for every field of a shape, some levels down.
func requireFields(t *testing.T, shown, operation string, schema *openapi3.SchemaRef, depth int) {
	t.Helper()
	if schema == nil || schema.Value == nil || depth > 6 {
		return
	}
	for name, field := range schema.Value.Properties {
		require.Contains(t, shown, name, operation)
		requireFields(t, shown, operation, field, depth+1)
	}
	requireFields(t, shown, operation, schema.Value.Items, depth+1)
	for _, list := range []openapi3.SchemaRefs{schema.Value.AllOf, schema.Value.OneOf, schema.Value.AnyOf} {
		for _, part := range list {
			requireFields(t, shown, operation, part, depth+1)
		}
	}
}

// The event that the guide shows has the fields of a contact, and no others.
func TestTheEventShownIsAContacts(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs/webhooks", "/ru/docs/webhooks"} {
		var event struct{ Data map[string]any }
		for _, code := range texts(parse(t, path), "code") {
			if strings.HasPrefix(code, "{") {
				require.NoError(t, json.Unmarshal([]byte(code), &event), path)
			}
		}
		shown := slices.Collect(maps.Keys(event.Data))
		require.ElementsMatch(t, description(t).Components.Schemas["Contact"].Value.Required, shown, path)
	}
}

// No page is so large that it is slow on a telephone.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	for _, path := range allPages(t) {
		require.LessOrEqual(t, get(t, path).Body.Len(), maxPage, path)
	}
}

// Examples of bodies are JSON, whatever YAML they are written in.
func TestExamplesAreJSON(t *testing.T) {
	t.Parallel()
	count := 0
	for _, path := range allPages(t) {
		if !strings.HasPrefix(path, "/docs/api/") {
			continue
		}
		for _, code := range elements(parse(t, path), func(n *html.Node) bool { return n.Data == "code" && attribute(n, "class") == "json" }) {
			if shown := text(code); strings.HasPrefix(shown, "{") || strings.HasPrefix(shown, "[") {
				decoder := json.NewDecoder(strings.NewReader(shown)) // several lines: NDJSON
				for decoder.More() {
					var value any
					require.NoError(t, decoder.Decode(&value), "%s: %s", path, shown)
				}
				count++
			}
		}
	}
	require.Greater(t, count, 60)
}
