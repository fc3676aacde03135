package scenarios_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
)

const whole = `[
	{"id":"hello","type":"send_message","channel":"sandbox","template":"Hi {{name}}","on_unknown":"fail"},
	{"id":"pause","type":"wait","duration":"90s"},
	{"id":"mark","type":"update_contact","set":{"name":"Ada","phone":null},"add_tags":["vip"],"remove_tags":["new"],"attributes":{"plan":"pro","old":null}},
	{"id":"rich","type":"condition","if":{"field":"contact.attributes.plan","op":"eq","value":"pro"},"then":"tell","else":"end"},
	{"id":"ask","type":"http_request","method":"POST","url":"https://example.com/x/{{contact.id}}?q={{variables.q}}","headers":{"X-A":"b"},"body":{"to":"{{contact.email}}"},"save_as":"answer","next":"end"},
	{"id":"tell","type":"emit_event","event_type":"order.paid","data":{"n":"{{variables.n}}"}}
]`

func TestWholeDefinitionIsRead(t *testing.T) {
	t.Parallel()
	d, faults := scenarios.Parse("/steps", jsontext.Value(whole))
	require.Empty(t, faults)
	require.Len(t, d.Steps, 6)
	require.Equal(t, 90*time.Second, d.Steps[1].Wait.For)
	require.Equal(t, []int{5, 6}, []int{d.Steps[3].Condition.Yes, d.Steps[3].Condition.No}, "then and else lead to their steps")
	require.Equal(t, 6, d.Steps[4].Next, `"end" is behind the last step`)
	require.Equal(t, 6, d.Steps[5].Next)
}

// Each fault is named by where it is and what it is.
func TestFaultsPointIntoTheJSON(t *testing.T) {
	t.Parallel()
	ok := `{"id":"a","type":"wait","duration":"1s"}`
	request := func(rest string) string { return `[{"id":"r","type":"http_request",` + rest + `}]` }
	condition := func(rest string) string {
		return `[{"id":"c","type":"condition",` + rest + `},{"id":"z","type":"wait","duration":"1s"}]`
	}
	for steps, want := range map[string]string{
		`{}`:                                "/steps INVALID_TYPE",
		`null`:                              "/steps INVALID_TYPE",
		`[]`:                                "/steps TOO_SHORT",
		`[1]`:                               "/steps/0 INVALID_TYPE",
		`[{"type":"wait","duration":"1s"}]`: "/steps/0/id INVALID_FORMAT",
		`[{"id":"end","type":"wait","duration":"1s"}]`:                                                    "/steps/0/id RESERVED",
		`[{"id":7,"type":"wait"}]`:                                                                        "/steps/0/id INVALID_TYPE",
		`[{"id":"a"}]`:                                                                                    "/steps/0/type MISSING",
		`[{"id":"a","type":"dance"}]`:                                                                     "/steps/0/type INVALID_FORMAT",
		`[` + ok + `,` + ok + `]`:                                                                         "/steps/1/id DUPLICATE",
		`[{"id":"a","type":"wait","duration":"1s","next":"x"}]`:                                           "/steps/0/next NOT_FOUND",
		`[{"id":"a","type":"wait","duration":"1s","next":"a"}]`:                                           "/steps/0/next OUT_OF_RANGE",
		`[` + ok + `,{"id":"b","type":"wait","duration":"1s","next":"a"}]`:                                "/steps/1/next OUT_OF_RANGE",
		`[{"id":"a","type":"wait"}]`:                                                                      "/steps/0 MISSING",
		`[{"id":"a","type":"wait","duration":"1s","until":"2026-12-01T00:00:00Z"}]`:                       "/steps/0 MISSING",
		`[{"id":"a","type":"wait","duration":"0s"}]`:                                                      "/steps/0/duration OUT_OF_RANGE",
		`[{"id":"a","type":"wait","duration":"367d"}]`:                                                    "/steps/0/duration OUT_OF_RANGE",
		`[{"id":"a","type":"wait","duration":"999999999d"}]`:                                              "/steps/0/duration OUT_OF_RANGE",
		`[{"id":"a","type":"wait","duration":"1w"}]`:                                                      "/steps/0/duration INVALID_FORMAT",
		`[{"id":"a","type":"wait","duration":60}]`:                                                        "/steps/0/duration INVALID_TYPE",
		`[{"id":"a","type":"wait","until":"tomorrow"}]`:                                                   "/steps/0/until INVALID_FORMAT",
		`[{"id":"a","type":"wait","duration":"1s","text":"x"}]`:                                           "/steps/0/text UNKNOWN_FIELD",
		`[{"id":"a","type":"send_message","channel":"pigeon","text":"x"}]`:                                "/steps/0/channel UNKNOWN_CHANNEL",
		`[{"id":"a","type":"send_message","channel":"email"}]`:                                            "/steps/0/text MISSING",
		`[{"id":"a","type":"send_message","channel":"email","template":"{{"}]`:                            "/steps/0/template INVALID_FORMAT",
		`[{"id":"a","type":"send_message","channel":"email","text":"x","on_unknown":"shrug"}]`:            "/steps/0/on_unknown INVALID_FORMAT",
		`[{"id":"a","type":"update_contact"}]`:                                                            "/steps/0 MISSING",
		`[{"id":"a","type":"update_contact","set":{"nme":"x"}}]`:                                          "/steps/0/set/nme UNKNOWN_FIELD",
		`[{"id":"a","type":"update_contact","set":{"email":"x"}}]`:                                        "/steps/0/set/email TOO_SHORT",
		`[{"id":"a","type":"update_contact","set":{"phone":"12"}}]`:                                       "/steps/0/set/phone INVALID_FORMAT",
		`[{"id":"a","type":"update_contact","add_tags":["ok",""]}]`:                                       "/steps/0/add_tags/1 TOO_SHORT",
		`[{"id":"a","type":"update_contact","attributes":[]}]`:                                            "/steps/0/attributes INVALID_TYPE",
		`[{"id":"a","type":"emit_event","event_type":"x"}]`:                                               "/steps/0/event_type INVALID_FORMAT",
		`[{"id":"a","type":"emit_event","event_type":"contact.made"}]`:                                    "/steps/0/event_type RESERVED",
		`[{"id":"a","type":"emit_event","event_type":"a.b","data":[]}]`:                                   "/steps/0/data INVALID_TYPE",
		`[{"id":"a","type":"emit_event","event_type":"a.b","data":{"x":["{{contact.shoe}}"]}}]`:           "/steps/0/data/x/0 NOT_FOUND",
		request(`"method":"post","url":"https://example.com"`):                                            "/steps/0/method INVALID_FORMAT",
		request(`"method":"GET","url":"/x"`):                                                              "/steps/0/url INVALID_FORMAT",
		request(`"method":"GET","url":"ftp://example.com"`):                                               "/steps/0/url INVALID_FORMAT",
		request(`"method":"GET","url":"https://{{variables.host}}/x"`):                                    "/steps/0/url INVALID_FORMAT",
		request(`"method":"GET","url":"https://example.com/{{host}}"`):                                    "/steps/0/url NOT_FOUND",
		request(`"method":"GET","url":"https://example.com","body":{}`):                                   "/steps/0/body INVALID_FORMAT",
		request(`"method":"POST","url":"https://example.com","save_as":"a b"`):                            "/steps/0/save_as INVALID_FORMAT",
		request(`"method":"POST","url":"https://example.com","headers":{"a":1}`):                          "/steps/0/headers/a INVALID_TYPE",
		condition(`"then":"z"`):                                                                           "/steps/0/if MISSING",
		condition(`"if":{"field":"contact.name","op":"exists"}`):                                          "/steps/0/then MISSING",
		condition(`"if":{"field":"contact.name","op":"exists"},"then":"nowhere"`):                         "/steps/0/then NOT_FOUND",
		condition(`"if":{"field":"contact.name","op":"exists"},"else":"c"`):                               "/steps/0/else OUT_OF_RANGE",
		condition(`"if":{"field":"contact.shoe","op":"exists"},"then":"z"`):                               "/steps/0/if/field INVALID_FORMAT",
		condition(`"if":{"field":"contact.name","op":"like","value":1},"then":"z"`):                       "/steps/0/if/op INVALID_FORMAT",
		condition(`"if":{"field":"contact.name","op":"eq"},"then":"z"`):                                   "/steps/0/if/value MISSING",
		condition(`"if":{"field":"contact.name","op":"exists","value":1},"then":"z"`):                     "/steps/0/if/value INVALID_FORMAT",
		condition(`"if":{"field":"contact.name","op":"gt","value":[]},"then":"z"`):                        "/steps/0/if/value INVALID_TYPE",
		condition(`"if":{"field":"contact.name","op":"in","value":"x"},"then":"z"`):                       "/steps/0/if/value INVALID_TYPE",
		condition(`"if":{"field":"contact.name","op":"eq","value":1e999},"then":"z"`):                     "/steps/0/if/value INVALID_TYPE",
		condition(`"if":{"field":"contact.name","op":"exists","than":1},"then":"z"`):                      "/steps/0/if/than UNKNOWN_FIELD",
		`[` + strings.Repeat(ok+",", scenarios.MaxSteps) + ok + `]`:                                       "/steps TOO_MANY",
		`[{"id":"a","type":"send_message","text":"` + strings.Repeat("x", scenarios.MaxStepBytes) + `"}]`: "/steps/0 TOO_LONG",
		`[` + strings.Repeat(" ", scenarios.MaxBytes) + ok + `]`:                                          "/steps TOO_LONG",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, faults := scenarios.Parse("/steps", jsontext.Value(steps))
			require.NotEmpty(t, faults, steps)
			require.Equal(t, want, faults[0].Pointer+" "+faults[0].Code, "%s: %s", steps, faults[0].Detail)
		})
	}
}

// Everything that is wrong is told at once.
func TestAllFaultsAreTold(t *testing.T) {
	t.Parallel()
	_, faults := scenarios.Parse("/steps", jsontext.Value(`[{"id":"a","type":"x"},{"id":"a","type":"wait","duration":"y","next":"z"}]`))
	var found []string
	for _, fault := range faults {
		found = append(found, fault.Pointer)
	}
	require.Equal(t, []string{"/steps/0/type", "/steps/1/id", "/steps/1/duration", "/steps/1/next"}, found)
}

func TestWaitsEndInTheFuture(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for until, want := range map[string]int{
		"2026-12-01T00:00:00Z": 1, "2026-11-30T00:00:00Z": 1, "2026-12-01T00:00:01Z": 0, "2027-12-01T00:00:00Z": 0, "2027-12-03T00:00:00Z": 1,
	} {
		d, faults := scenarios.Parse("/steps", jsontext.Value(fmt.Sprintf(`[{"id":"a","type":"wait","until":%q}]`, until)))
		require.Empty(t, faults)
		found := d.CheckTimes("/steps", now)
		require.Len(t, found, want, until)
		if want > 0 {
			require.Equal(t, models.FieldRange, found[0].Code)
			require.Equal(t, "/steps/0/until", found[0].Pointer)
		}
	}
}

// Whatever is sent, reading it ends, and what is accepted leads forward only.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`[{"id":"a","type":"condition","if":{"field":"variables.x","op":"eq","value":1},"then":"end"}]`))
	f.Add([]byte(`[{"id":"a","type":"http_request","method":"GET","url":"http://[::1]:99999/{{}}"}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, faults := scenarios.Parse("/steps", raw)
		if len(faults) > 0 {
			return
		}
		for i, step := range d.Steps {
			require.Greater(t, step.Next, i)
			require.LessOrEqual(t, step.Next, len(d.Steps))
			if c := step.Condition; c != nil {
				require.Greater(t, c.Yes, i)
				require.Greater(t, c.No, i)
			}
		}
	})
}
