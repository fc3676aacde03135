package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

// describedOperation is a copy of an operation with the parameters that its path
// gives it.
func describedOperation(t *testing.T, r routeCase) *openapi3.Operation {
	t.Helper()
	document := description(t)
	_, path, _ := strings.Cut(r.route, " ")
	item := document.Paths.Value(path)
	require.NotNil(t, item, path)
	require.NotNil(t, item.GetOperation(r.method()), r.route)
	operation := *item.GetOperation(r.method())
	operation.Parameters = append(slices.Clone(item.Parameters), operation.Parameters...)
	return &operation
}

// requestExamples are the bodies that the description shows, by their names; one
// without a body where there is none.
func requestExamples(t *testing.T, operation *openapi3.Operation) map[string]string {
	t.Helper()
	if operation.RequestBody == nil {
		return map[string]string{"no body": ""}
	}
	bodies := map[string]string{}
	for kind, media := range operation.RequestBody.Value.Content {
		require.NotEmpty(t, media.Examples, kind)
		for name, example := range media.Examples {
			body, isText := example.Value.Value.(string)
			if !isText {
				encoded, err := json.Marshal(example.Value.Value)
				require.NoError(t, err)
				body = string(encoded)
			}
			bodies[kind+" "+name] = body
		}
	}
	return bodies
}

// parameterExamples are what the description shows for the parameters in query
// or header; each has one.
func parameterExamples(operation *openapi3.Operation, in string) map[string]string {
	values := map[string]string{}
	for _, parameter := range operation.Parameters {
		if parameter.Value.In == in && parameter.Value.Example != nil {
			values[parameter.Value.Name] = fmt.Sprint(parameter.Value.Example)
		}
		if one := parameter.Value.Examples["one"]; parameter.Value.In == in && one != nil {
			values[parameter.Value.Name] = fmt.Sprint(one.Value.Value)
		}
	}
	return values
}

// Who copies an example of the description into a request gets what it says:
// each body, with the headers as they are shown.
func TestEveryRequestExampleIsAnsweredAsDescribed(t *testing.T) {
	t.Parallel()
	for _, route := range routeCases() {
		operation := describedOperation(t, route)
		for name, body := range requestExamples(t, operation) {
			for _, grant := range route.grants {
				if onlyCounts(or(grant.body, route.body)) != onlyCounts(body) {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %d", route.route, name, grant.status), func(t *testing.T) {
					t.Parallel()
					h := newHarness(t, loopback)
					c := call{method: route.method(), path: grant.path(t, h), body: body, header: parameterExamples(operation, "header")}
					if kind, _, _ := strings.Cut(name, " "); body != "" {
						c.header["Content-Type"] = kind
					}
					if tag := c.header["If-Match"]; tag != "" {
						stale := call{method: c.method, path: c.path, body: body, header: maps.Clone(c.header)}
						delete(stale.header, "Idempotency-Key") // the refusal is another operation
						require.Equal(t, http.StatusPreconditionFailed, h.do(t, stale).status, "the example is some other version")
						delete(c.header, "If-Match")
					}
					got := h.do(t, c)
					require.Equal(t, grant.status, got.status, "%s", got.body)
					require.Subset(t, exampleFields(t, operation, grant.status), got.fields(t), "the examples show every field")
				})
			}
		}
	}
}

// fields are the names in an answer's object; none without a body.
func (a answer) fields(t *testing.T) []string {
	t.Helper()
	if len(a.body) == 0 {
		return nil
	}
	return slices.Collect(maps.Keys(a.object(t)))
}

// exampleFields are the names that the examples of an answer have among them.
func exampleFields(t *testing.T, operation *openapi3.Operation, status int) (names []string) {
	t.Helper()
	for _, media := range operation.Responses.Status(status).Value.Content {
		require.NotEmpty(t, media.Examples)
		for _, example := range media.Examples {
			names = slices.AppendSeq(names, maps.Keys(example.Value.Value.(map[string]any)))
		}
	}
	return names
}

// Each filter takes its example, alone and with all the others, and the cursor
// that a list shows leads on in that list.
func TestEveryParameterExampleIsAccepted(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, route := range routeCases() {
		operation := describedOperation(t, route)
		if !strings.HasPrefix(operation.OperationID, "list") {
			continue
		}
		all := url.Values{}
		for name, value := range parameterExamples(operation, "query") {
			all.Set(name, value)
		}
		all.Set("cursor", cursorExample(t, operation))
		queries := []url.Values{all}
		for name := range all {
			queries = append(queries, url.Values{name: all[name]})
		}
		for _, query := range queries {
			got := h.get(t, route.grants[0].path(t, h)+"?"+query.Encode())
			require.Equal(t, http.StatusOK, got.status, "%s?%s: %s", route.route, query.Encode(), got.body)
		}
		for _, parameter := range operation.Parameters {
			require.True(t, parameter.Value.In != "query" || all.Has(parameter.Value.Name), "%s: %s has an example", route.route, parameter.Value.Name)
		}
	}
}

// cursorExample is next_cursor of the page that the description shows.
func cursorExample(t *testing.T, operation *openapi3.Operation) string {
	t.Helper()
	page := operation.Responses.Status(http.StatusOK).Value.Content["application/json"].Examples["page"]
	require.NotNil(t, page)
	cursor, _ := page.Value.Value.(map[string]any)["next_cursor"].(string)
	require.NotEmpty(t, cursor, "%s shows a page with more to come", operation.OperationID)
	return cursor
}

// An object of the examples may be looked for by its id: that it does not exist
// is the only thing wrong with it.
func TestEveryPathExampleIsWellFormed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, route := range routeCases() {
		if !route.reads() || !strings.Contains(route.route, "{") {
			continue
		}
		path := strings.TrimPrefix(route.route, "GET ")
		for name, value := range parameterExamples(describedOperation(t, route), "path") {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
		}
		require.Equal(t, models.CodeNotFound, h.get(t, path).code(t), path)
	}
}

// The problems that the description shows say what the catalogue says.
func TestProblemExamplesAreTheCatalogues(t *testing.T) {
	t.Parallel()
	document := description(t)
	for name, example := range document.Components.Examples {
		if !strings.HasPrefix(name, "Problem") {
			continue
		}
		problem := example.Value.Value.(map[string]any)
		entry := (&models.Error{Code: models.Code(problem["code"].(string))}).Entry()
		require.EqualValues(t, entry.Code, problem["code"], name)
		require.Equal(t, strconv.Itoa(entry.Status), fmt.Sprint(problem["status"]), name)
		require.Equal(t, entry.Title, problem["title"], name)
		require.Equal(t, entry.Retryable, problem["retryable"], name)
		if name != "ProblemOutcomeUnknown" {
			require.EqualValues(t, entry.Outcome, problem["outcome"], name)
		}
		require.Contains(t, problem["type"], "/docs/error-codes#"+string(entry.Code), name)
	}
}
