package middleware

import (
	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
)

// Keys under which the edge keeps what it learnt about a request.
const (
	keyRequestID = "botix.request_id"
	keyCaller    = "botix.caller"
	keyAsked     = "botix.asked"
	keyOperation = "botix.operation"
	keyFault     = "botix.fault"
	keyCode      = "botix.code"
	keyBodyBegun = "botix.body_begun"
)

// RequestID returns the id of the physical request, or "" outside [Trace].
func RequestID(c echo.Context) string {
	id, _ := c.Get(keyRequestID).(string)
	return id
}

func callerOf(c echo.Context) *models.Caller {
	caller, _ := c.Get(keyCaller).(*models.Caller)
	return caller
}
