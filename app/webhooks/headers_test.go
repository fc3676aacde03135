package webhooks_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/webhooks"
)

func TestCheckHeadersAccepts(t *testing.T) {
	t.Parallel()
	require.Empty(t, webhooks.CheckHeaders(nil))
	require.Empty(t, webhooks.CheckHeaders(map[string]string{
		"Authorization": "Bearer abc.def", "x-api-key": "", "X_Tenant!": "a\tb c", "Idempotency-Key": "1",
		"Webhooks": "1", "X-Eventual": "1",
		strings.Repeat("n", 128): "1", "X-Long": strings.Repeat("v", 2048),
	}))
}

// Guarantee: nothing that an endpoint's owner stores can replace a header of
// ours, break the framing or inject a line; the reason never repeats the value.
func TestCheckHeadersRefuses(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{
		"": "not a valid header name", "a b": "not a valid header name", "a:b": "not a valid header name",
		"a\r\nb": "not a valid header name", "ä": "not a valid header name", "a\x00": "not a valid header name",
		strings.Repeat("n", 129): "longer than 128 bytes",
		"Host":                   "set by the platform", "content-type": "set by the platform",
		"CONTENT-LENGTH": "set by the platform", "Content-Encoding": "set by the platform",
		"User-Agent": "set by the platform", "Accept-Encoding": "set by the platform",
		"X-BOTIX-Signature": "set by the platform", "x-botix-anything": "set by the platform",
		"X-Event-Id": "set by the platform", "X-Event-Type": "set by the platform",
		"X-Delivery-Attempt": "set by the platform", "x-request-id": "set by the platform",
		"Webhook-Id": "set by the platform", "webhook-signature": "set by the platform",
		"Transfer-Encoding": "set by the platform", "Connection": "set by the platform",
		"Keep-Alive": "set by the platform", "Upgrade": "set by the platform", "TE": "set by the platform",
		"Trailer": "set by the platform", "Expect": "set by the platform",
		"Proxy-Authorization": "set by the platform", "Proxy-Connection": "set by the platform",
	} {
		faults := webhooks.CheckHeaders(map[string]string{name: "secret-value"})
		require.Len(t, faults, 1, "%q", name)
		require.Equal(t, name, faults[0].Name)
		require.Contains(t, faults[0].Reason, reason, "%q", name)
		require.NotContains(t, faults[0].Reason, "secret-value")
	}
	for value, reason := range map[string]string{
		"a\r\nX-Event-Id: evt_2":  "visible ASCII",
		"a\nb":                    "visible ASCII",
		"a\x00":                   "visible ASCII",
		"a\x7f":                   "visible ASCII",
		"grüße":                   "visible ASCII",
		" a":                      "white space",
		"a\t":                     "white space",
		strings.Repeat("v", 2049): "longer than 2048 bytes",
	} {
		faults := webhooks.CheckHeaders(map[string]string{"X-Key": value})
		require.Len(t, faults, 1, "%.20q", value)
		require.Contains(t, faults[0].Reason, reason, "%.20q", value)
	}
}

func TestCheckHeadersTogether(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 21 {
		many["X-"+strconv.Itoa(i)] = "1"
	}
	require.Equal(t, []webhooks.HeaderFault{{Reason: "there are more than 20 headers"}}, webhooks.CheckHeaders(many))

	require.Equal(t, []webhooks.HeaderFault{{Reason: "the headers are longer than 4096 bytes together"}},
		webhooks.CheckHeaders(map[string]string{
			"X-A": strings.Repeat("v", 2048), "X-B": strings.Repeat("v", 2048),
		}))
	require.Equal(t, []webhooks.HeaderFault{{Name: "x-a", Reason: "the header is given twice in different case"}},
		webhooks.CheckHeaders(map[string]string{"X-A": "1", "x-a": "2"}))
}
