package api_test

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
)

// exampleTypes says which Go type an example is of: by the longest prefix of its
// name.
var exampleTypes = map[string]func() any{
	"Contact":                     func() any { return new(api.Contact) },
	"ContactCreate":               func() any { return new(api.ContactCreate) },
	"ContactReplace":              func() any { return new(api.ContactReplace) },
	"ContactUpdate":               func() any { return new(api.ContactUpdate) },
	"ContactsBulk":                func() any { return new([]api.ContactCreate) },
	"ContactsBulkLines":           func() any { return new(string) },
	"ContactList":                 func() any { return new(api.ContactList) },
	"EmptyList":                   func() any { return new(api.EventList) },
	"DeadLetter":                  func() any { return new(api.DeadLetter) },
	"DeadLetterGroupList":         func() any { return new(api.DeadLetterGroupList) },
	"DeadLetterList":              func() any { return new(api.DeadLetterList) },
	"Event":                       func() any { return new(api.Event) },
	"EventCreate":                 func() any { return new(api.EventCreate) },
	"EventList":                   func() any { return new(api.EventList) },
	"Health":                      func() any { return new(api.Health) },
	"IdempotencyKey":              func() any { return new(api.IdempotencyKey) },
	"Job":                         func() any { return new(api.Job) },
	"JobResultList":               func() any { return new(api.JobResultList) },
	"JobList":                     func() any { return new(api.JobList) },
	"Me":                          func() any { return new(api.Me) },
	"Message":                     func() any { return new(models.MessageView) },
	"MessageCreate":               func() any { return new(api.MessageCreate) },
	"MessageList":                 func() any { return new(models.MessageList) },
	"MessageSettle":               func() any { return new(api.MessageSettle) },
	"MessageWithSettlements":      func() any { return new(models.MessageWithSettlements) },
	"OpenAPIDocument":             func() any { return new(api.OpenAPIDocument) },
	"Problem":                     func() any { return new(api.Problem) },
	"Readiness":                   func() any { return new(api.Readiness) },
	"RecoveryCount":               func() any { return new(api.RecoveryCount) },
	"RecoveryCreate":              func() any { return new(api.RecoveryCreate) },
	"Run":                         func() any { return new(models.RunView) },
	"RunList":                     func() any { return new(page[models.RunView]) },
	"Scenario":                    func() any { return new(models.ScenarioView) },
	"ScenarioCreate":              func() any { return new(api.ScenarioCreate) },
	"ScenarioList":                func() any { return new(page[models.ScenarioView]) },
	"ScenarioRun":                 func() any { return new(api.ScenarioRun) },
	"ScenarioUpdate":              func() any { return new(api.ScenarioUpdate) },
	"InspectorRedirect":           func() any { return new(api.InspectorRedirect) },
	"InspectorRequest":            func() any { return new(api.InspectorRequest) },
	"WebhookDeliveryList":         func() any { return new(api.WebhookDeliveryList) },
	"WebhookDeliveryPending":      func() any { return new(api.WebhookDelivery) },
	"WebhookDeliveryWithAttempts": func() any { return new(api.WebhookDeliveryWithAttempts) },
	"WebhookEndpoint":             func() any { return new(api.WebhookEndpoint) },
	"WebhookEndpointCreate":       func() any { return new(api.WebhookEndpointCreate) },
	"WebhookEndpointList":         func() any { return new(api.WebhookEndpointList) },
	"WebhookEndpointResume":       func() any { return new(api.WebhookEndpointResume) },
	"WebhookEndpointRotateSecret": func() any { return new(api.WebhookEndpointRotateSecret) },
	"WebhookEndpointRotated":      func() any { return new(api.WebhookEndpointWithSecret) },
	"WebhookEndpointUpdate":       func() any { return new(api.WebhookEndpointUpdate) },
	"WebhookEndpointWithSecret":   func() any { return new(api.WebhookEndpointWithSecret) },
}

// page is a list of what has its shape in app/models.
type page[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

func exampleType(t *testing.T, name string) any {
	t.Helper()
	longest := ""
	for prefix := range exampleTypes {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	require.NotEmpty(t, longest, "an example of an unknown type: %s", name)
	return exampleTypes[longest]()
}

// Read strictly into its type and written again, every example is what it was: the
// types have all fields of the description, no others, and keep null and absent
// apart.
func TestTypesCarryTheExamplesUnchanged(t *testing.T) {
	t.Parallel()
	for name, example := range load(t).Components.Examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := stdjson.Marshal(example.Value.Value)
			require.NoError(t, err)
			value := exampleType(t, name)
			require.NoError(t, json.Unmarshal(before, value, json.RejectUnknownMembers(true)))
			after, err := json.Marshal(value)
			require.NoError(t, err)
			require.JSONEq(t, string(before), string(after))
		})
	}
}

// A plain field in a merge patch could not tell absent from null.
func TestMergePatchesHaveOnlyOptionalFields(t *testing.T) {
	t.Parallel()
	for _, patch := range []reflect.Type{reflect.TypeFor[api.ContactUpdate](), reflect.TypeFor[api.WebhookEndpointUpdate](), reflect.TypeFor[api.ScenarioUpdate]()} {
		for i := range patch.NumField() {
			field := patch.Field(i)
			require.True(t, strings.HasPrefix(field.Type.Name(), "Optional["), "%s.%s is a %s", patch.Name(), field.Name, field.Type)
		}
	}
}

// A contact with nothing in it has {} and [], as the description says, not null.
func TestEmptyCollectionsAreNotNull(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(api.Contact{Attributes: api.Attributes("{}")})
	require.NoError(t, err)
	require.Contains(t, string(text), `"identities":{}`)
	require.Contains(t, string(text), `"tags":[]`)
	require.Contains(t, string(text), `"email":null`)
}

// Free JSON is given back digit for digit.
func TestFreeJSONKeepsItsNumbers(t *testing.T) {
	t.Parallel()
	const body = `{"type":"payment.succeeded","data":{"amount":1.10,"id":12345678901234567890123}}`
	var event api.EventCreate
	require.NoError(t, json.Unmarshal([]byte(body), &event))
	require.Equal(t, `{"amount":1.10,"id":12345678901234567890123}`, string(event.Data))
}
