package dashboard

import (
	"net/http"
	"strings"

	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// find leads to the page of whatever has the given id. What has no prefix of
// ours is taken as an Idempotency-Key.
func find(v *ui.Visit) (ui.Reply, error) {
	id := strings.TrimSpace(v.URL.Query().Get("id"))
	if id == "" {
		return ui.Redirect(pathHome), nil
	}
	return ui.Reply{Status: http.StatusSeeOther, Header: http.Header{"Location": {addressOf(id)}}}, nil
}

// addressOf is the page about an id.
func addressOf(id string) string {
	if page := parts.PageOf(id); page != "" {
		return page
	}
	return parts.OperationAddress(id)
}
