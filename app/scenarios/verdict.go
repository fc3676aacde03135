package scenarios

import (
	"fmt"
	"net/http"
	"time"
)

// answer is what came of one request.
type answer struct {
	status    int           // 0: no answer
	body      []byte        // at most maxBody bytes
	truncated bool          // there was more, or the body broke off
	after     time.Duration // what Retry-After asks for; 0: nothing
	problem   string        // why there is no answer, a sentence without its full stop
	unsent    bool          // provably nothing arrived
	refused   bool          // the address may not be reached: trying again cannot help
}

// verdict is what an answer means for the step.
type verdict struct {
	done  bool
	retry bool // with the same key
	// maybe: the receiver may have done what it was asked for.
	maybe  bool
	detail string
}

// maxAfter500 is how often a 500 is answered with another try: it is more likely
// to be a fault that stays than a bad moment.
const maxAfter500 = 3

// judge is the decision matrix for a request that carries a key of ours, on its
// attempt's number. A repeat is allowed wherever the first one did nothing or the
// key lets the receiver recognise it; what the receiver refused for good is not
// asked again.
func judge(a answer, attempts int) verdict {
	v := verdict{detail: a.problem}
	if a.status != 0 {
		v.detail = fmt.Sprintf("the receiver answered %d %s", a.status, http.StatusText(a.status))
	}
	switch {
	case a.refused:
	case a.status == 0:
		v.retry, v.maybe = true, !a.unsent
	case a.status >= 200 && a.status < 300:
		v.done = true
	case a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly, a.status == http.StatusTooManyRequests,
		a.status == http.StatusServiceUnavailable && a.after > 0:
		v.retry = true
	case a.status == http.StatusConflict && a.after > 0: // the first one is still running
		v.retry, v.maybe = true, true
	case a.status == http.StatusInternalServerError:
		v.retry, v.maybe = attempts < maxAfter500, true
	case a.status == http.StatusBadGateway, a.status == http.StatusServiceUnavailable, a.status == http.StatusGatewayTimeout:
		v.retry, v.maybe = true, true
	}
	return v
}
