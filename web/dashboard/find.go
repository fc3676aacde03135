package dashboard

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// find leads to the page of whatever has the given id. What has no prefix of
// ours is searched for among the deliveries.
func find(v *ui.Visit) (ui.Reply, error) {
	id := strings.TrimSpace(v.URL.Query().Get("id"))
	if id == "" {
		return ui.Redirect(pathHome), nil
	}
	return ui.Reply{Status: http.StatusSeeOther, Header: http.Header{"Location": {addressOf(id)}}}, nil
}

// addressOf is the page about an id.
func addressOf(id string) string {
	for prefix, base := range map[string]string{
		models.PrefixAttempt: "/attempts/", models.PrefixDelivery: "/deliveries/", models.PrefixEvent: "/deliveries?id=",
		models.PrefixRequest: "/deliveries?id=", models.PrefixEndpoint: "/endpoints/", models.PrefixContact: "/contacts/",
		models.PrefixMessage: "/messages/", models.PrefixScenario: "/scenarios/", models.PrefixRun: "/runs/", models.PrefixCaptured: "/inspector/requests/", models.PrefixJob: "/jobs/",
	} {
		if models.ValidID(prefix, id) {
			return pathRoot + base + id
		}
	}
	return pathRoot + "/deliveries?" + url.Values{"id": {id}}.Encode()
}
