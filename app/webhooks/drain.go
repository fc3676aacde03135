package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// How long a claim is the worker's, and what that is made of: a send may take
// 40 s, and must not begin unless its outcome can still be recorded in time.
const (
	claimLease = 60 * time.Second
	latestSend = 15 * time.Second // after the claim: 45 s of the lease are left
	// laneLease is far longer than the pause between two claims and far shorter
	// than a claim's: when a worker dies, its lanes are free again soon.
	laneLease = 10 * time.Second
)

const (
	// MaxInFlight is the highest cap that an endpoint may have on its requests in
	// flight: a connection kept for each spares the dialling.
	MaxInFlight = 100
	// claimBatch is how many deliveries one statement claims at most.
	claimBatch = MaxInFlight
	// sliceLength bounds how long one lane keeps its place in the worker while
	// others wait.
	sliceLength = 20 * time.Second
	// peek is how often a drain that waits for slow answers looks whether
	// something else became due.
	peek = 250 * time.Millisecond
	// maxIdle is how many looks in a row may find nothing new before a drain
	// leaves slow answers to themselves.
	maxIdle      = 4
	leaveTimeout = 5 * time.Second
	// Of what a claim took, so many are sent at first, and twice as many at once
	// after every so long that some still wait: a hundred after 6 ms.
	firstSenders = 2
	sendersAfter = time.Millisecond
)

// Drainer empties lanes: it claims what is due, sends it, and records what came
// of it. It is safe for concurrent use; a lane is drained by one holder at a
// time, on any worker.
type Drainer struct {
	store    *store.Store
	sender   *Sender
	recorder *recorder
	schedule Schedule
	clock    clock.Clock
	log      *slog.Logger
	presence *presence      // of the worker, from its start on
	sends    sync.WaitGroup // not recorded yet; they outlive the turn that began them

	mu      sync.Mutex
	running map[store.Lane]chan struct{} // drains of this process, to be nudged
}

func newDrainer(s *store.Store, sender *Sender, rec *recorder, schedule Schedule, clk clock.Clock, log *slog.Logger) *Drainer {
	return &Drainer{
		store: s, sender: sender, recorder: rec, schedule: schedule, clock: clk, log: log,
		running: map[store.Lane]chan struct{}{},
	}
}

// Drain sends what is due in the lane until nothing is, its slice is over, only
// slow answers are left to wait for, or stop is closed. It does not wait for
// what is in flight then: a slow endpoint must not keep a place that others
// need, and the cap on requests in flight holds without it. When the lane is
// being drained already, its holder is told to look again.
//
// ctx must not end while stop is open: a claim that was cut off would leave
// deliveries that nobody sends.
func (d *Drainer) Drain(ctx context.Context, lane store.Lane, stop <-chan struct{}) error {
	for {
		nudge, first := d.enter(lane)
		if !first {
			return nil
		}
		emptied, err := d.turn(ctx, lane, nudge, stop)
		nudged := d.leave(lane, nudge)
		if err != nil || !emptied || !nudged {
			return err // what is still due is found by the next hint or by the sweeper
		}
	}
}

func (d *Drainer) turn(ctx context.Context, lane store.Lane, nudge, stop <-chan struct{}) (emptied bool, err error) {
	holder, _ := d.presence.token()
	mine, err := d.store.AcquireLane(ctx, lane, holder, laneLease)
	if err != nil || !mine {
		return false, err
	}
	run := &drain{Drainer: d, lane: lane, holder: holder, nudge: nudge, stop: stop, done: make(chan struct{}, claimBatch)}
	return run.run(ctx)
}

// enter makes the caller the lane's drain in this process, or nudges the one
// there is.
func (d *Drainer) enter(lane store.Lane) (nudge chan struct{}, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	nudge, running := d.running[lane]
	if !running {
		nudge = make(chan struct{}, 1)
		d.running[lane] = nudge
		return nudge, true
	}
	select {
	case nudge <- struct{}{}:
	default: // a nudge is waiting already
	}
	return nil, false
}

// leave reports whether somebody nudged after the drain's last look.
func (d *Drainer) leave(lane store.Lane, nudge <-chan struct{}) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, lane)
	return len(nudge) > 0
}

// drain is one holder's turn at a lane.
type drain struct {
	*Drainer

	lane     store.Lane
	holder   string
	nudge    <-chan struct{}
	stop     <-chan struct{}
	done     chan struct{} // a send has been recorded
	inFlight int
	idle     int // looks in a row that found nothing new
}

// run takes turns until one of them is the last, and gives the lane back.
// emptied says that nothing was due at the last look.
func (r *drain) run(ctx context.Context) (emptied bool, err error) {
	slice := time.NewTimer(sliceLength)
	defer slice.Stop()
	emptied, err = r.turns(ctx, slice.C)
	if emptied {
		return true, err // released in the statement that saw that nobody knocked
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	return false, errors.Join(err, r.store.LeaveLane(ctx, r.lane, r.holder))
}

// turns claims and sends until the lane is empty and nobody knocked, which is
// the only end that emptied stands for.
func (r *drain) turns(ctx context.Context, slice <-chan time.Time) (emptied bool, err error) {
	for !closed(r.stop) {
		seen, err := r.claim(ctx)
		if err != nil {
			return false, err
		}
		if seen > 0 {
			r.idle = 0
		}
		if seen == 0 && r.inFlight == 0 {
			kept, err := r.store.ReleaseLane(ctx, r.lane, r.holder)
			if err != nil || !kept {
				return err == nil, err
			}
			continue
		}
		if !r.wait(seen, slice) {
			return false, nil
		}
	}
	return false, nil
}

func closed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// wait blocks until another claim makes sense; false ends the turn.
func (r *drain) wait(seen int, slice <-chan time.Time) bool {
	select {
	case <-slice:
		return false
	default:
	}
	if seen > 0 && r.inFlight < claimBatch {
		return r.collect()
	}
	select {
	case <-r.done:
		r.inFlight--
		r.idle = 0
		return r.collect()
	case <-r.nudge:
		return true
	case <-time.After(peek):
		r.idle++
		return r.idle < maxIdle
	case <-r.stop:
		return false
	case <-slice:
		return false
	}
}

// collect takes note of every send that has ended.
func (r *drain) collect() bool {
	for {
		select {
		case <-r.done:
			r.inFlight--
		default:
			return true
		}
	}
}

// claim takes what is due and starts sending it.
func (r *drain) claim(ctx context.Context) (seen int, err error) {
	asked := r.clock.Now()
	token, worker := r.presence.token()
	list, seen, err := r.store.ClaimDue(ctx, store.ClaimRequest{
		Lane: r.lane, Holder: r.holder, Token: token, Max: claimBatch - r.inFlight, Lease: claimLease, LaneLease: laneLease,
	})
	if err != nil {
		return 0, err
	}
	if len(list) > 0 && list[0].RatePerSecond != nil {
		if err := r.store.PaceLane(ctx, r.lane, r.holder, len(list), *list[0].RatePerSecond); err != nil {
			r.log.WarnContext(ctx, "a rate could not be kept", "endpoint", r.lane.EndpointID, "error", err)
		}
	}
	r.inFlight += len(list)
	r.sends.Add(len(list))
	go r.sendAll(context.WithoutCancel(ctx), list, claimMade{at: asked, by: worker})
	return seen, nil
}

// sendAll sends what was claimed: a few at once, and soon all at once while
// answers keep them waiting. So a receiver that answers in a millisecond gets it
// all over a few connections, and not over a hundred new ones.
func (r *drain) sendAll(ctx context.Context, list []store.Claimed, made claimMade) {
	queue := make(chan store.Claimed, len(list))
	for _, claimed := range list {
		queue <- claimed
	}
	close(queue)
	recorded := func() {
		r.done <- struct{}{} // has room for all of them, read or not
		r.sends.Done()
	}
	for running, more := 0, firstSenders; len(queue) > 0; running, more = running+more, running+more {
		for range min(more, len(queue)) {
			go func() {
				for claimed := range queue {
					r.deliver(ctx, claimed, made, recorded)
				}
			}()
		}
		<-time.After(sendersAfter)
	}
}

// claimMade is when a claim was asked for, and as whom.
type claimMade struct {
	at time.Time
	by store.WorkerID
}
