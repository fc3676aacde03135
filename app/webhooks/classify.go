package webhooks

import (
	"net/http"
	"strconv"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// VerdictKind is what an attempt's outcome asks for.
type VerdictKind int

// The verdicts, contract §5.
const (
	// Retry goes to the next step of the schedule.
	Retry VerdictKind = iota
	// Delivered is a 2xx.
	Delivered
	// CloseLane stops sending to the endpoint for a while.
	CloseLane
	// DeadLetter gives the delivery up at once.
	DeadLetter
	// DeadLetterAndDisable gives it up and disables the endpoint: 410.
	DeadLetterAndDisable
	// Lost is a send whose worker ended before the answer: it costs no step.
	Lost
)

// Verdict is the contract's table applied to one outcome.
type Verdict struct {
	Kind  VerdictKind
	Pause time.Duration          // CloseLane: from the answer on
	Class models.ErrorClass      // empty when delivered
	Cause models.DeadLetterCause // the two dead letters: "http_401"
}

// Classify judges one outcome. status is 0 when there was no answer, and then
// class says why; with an answer the status alone decides, so a fault that came
// after it (a body that broke off) changes nothing. retryAfter comes from
// egress.ParseRetryAfter.
func Classify(status int, retryAfter time.Duration, class models.ErrorClass) Verdict {
	if status == 0 {
		return verdictWithoutAnswer(class)
	}
	v := Verdict{Class: StatusClass(status)}
	switch {
	case v.Class == "":
		v.Kind = Delivered
	case retryAfter > 0 && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable):
		v.Kind, v.Pause = CloseLane, retryAfter
	case status == http.StatusTooManyRequests || v.Class != models.ErrorHTTP4xx:
		v.Kind = Retry
	case status == http.StatusGone:
		v.Kind, v.Cause = DeadLetterAndDisable, statusCause(status)
	default:
		v.Kind, v.Cause = DeadLetter, statusCause(status)
	}
	return v
}

func verdictWithoutAnswer(class models.ErrorClass) Verdict {
	switch class {
	case models.ErrorWorkerLost:
		return Verdict{Kind: Lost, Class: class}
	case "":
		return Verdict{Kind: Retry, Class: models.ErrorConnection}
	default:
		return Verdict{Kind: Retry, Class: class}
	}
}

// StatusClass returns the error class of an answer's status, empty for 2xx. A
// number that is no HTTP status at all is a bad response.
func StatusClass(status int) models.ErrorClass {
	switch status / 100 {
	case 1:
		return models.ErrorHTTP1xx
	case 2:
		return ""
	case 3:
		return models.ErrorRedirect
	case 4:
		return models.ErrorHTTP4xx
	case 5:
		return models.ErrorHTTP5xx
	}
	return models.ErrorBadResponse
}

func statusCause(status int) models.DeadLetterCause {
	return models.DeadLetterCause("http_" + strconv.Itoa(status))
}
