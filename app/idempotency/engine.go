package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// How a lost answer to COMMIT is settled: the look-up is repeated while the
// first connection's backend still holds the key, for as long as a client can
// be expected to wait.
const (
	settleDeadline = 5 * time.Second
	settlePause    = 100 * time.Millisecond
)

// Operation is one mutating request as the protocol sees it.
type Operation struct {
	Project     models.ProjectID
	Key         string
	Fingerprint []byte // see [Fingerprint]
	Method      string
	Path        string // escaped, with the query, for people
	RequestID   string // of this physical request
	TTL         time.Duration
	// WriteOnly: the execution reads nothing in its transaction, so that it can be
	// carried out in one round trip, unseen whether the key is free.
	WriteOnly bool
	// Asked, optional, is what [Cache.Ask] returned, sent.
	Asked *Question
}

// Execution does the operation's work inside the transaction and returns its
// answer. It is called a second time, in a new transaction, when the first was
// rolled back because nobody had looked whether the key is free: it must have no
// effect but what it queues.
type Execution func(ctx context.Context, tx *store.Tx) (models.Answer, error)

// Result is how an operation was answered.
type Result struct {
	Answer   models.Answer
	Replayed bool
	// FirstRequestID is the physical request that executed the operation.
	FirstRequestID string
}

// Engine runs operations. It is safe for concurrent use.
type Engine struct {
	store  *store.Store
	cache  *Cache
	render func(err *models.Error, requestID string) models.Answer
	hint   func([]store.Lane)
	log    *slog.Logger
}

// NewEngine returns an engine. cache, optional, spares PostgreSQL repeats. render turns an error into the answer that is
// stored and sent; hint is told after a commit which endpoints have something
// due, and must not block.
func NewEngine(
	s *store.Store, cache *Cache, render func(*models.Error, string) models.Answer, hint func([]store.Lane), log *slog.Logger,
) *Engine {
	return &Engine{store: s, cache: cache, render: render, hint: hint, log: log}
}

// Run answers an operation: by replaying what its key already has, by refusing,
// or by executing it. The effect of execute, the events it appended and the
// stored answer are committed together or not at all.
//
// ctx carries the operation's own deadline, not the client's connection. The
// error, when there is one, is always a [*models.Error] about an operation of
// which nothing was applied, unless its outcome says otherwise.
func (e *Engine) Run(ctx context.Context, op Operation, execute Execution) (Result, error) {
	cached, asOf := e.cache.find(ctx, op)
	if cached != nil {
		return *cached, nil
	}
	if op.WriteOnly {
		result, err := e.runUnseen(ctx, op, execute)
		if !errors.Is(err, store.ErrNotClaimed) {
			return result, err
		}
	}
	tx, known, err := e.begin(ctx, op, asOf)
	if tx == nil {
		return known, err
	}
	defer tx.Rollback(ctx)
	result, err := e.carryOut(ctx, op, tx, execute)
	if err != nil {
		return e.failed(ctx, op, tx, err)
	}
	return result, nil
}

// runUnseen carries an operation out as if its key were free; the claim travels
// with the commit, and keeps it from being applied if it is not. Whatever else
// the caller could be told, a refusal included, depends on what has the key:
// [store.ErrNotClaimed] asks to look it up, and to begin anew.
func (e *Engine) runUnseen(ctx context.Context, op Operation, execute Execution) (Result, error) {
	tx, err := e.store.BeginUnseen(ctx, op.Project)
	if err != nil {
		return Result{}, unseen(err)
	}
	defer tx.Rollback(ctx)
	result, err := e.carryOut(ctx, op, tx, execute)
	if errors.Is(err, store.ErrCommitUnknown) {
		return e.settle(ctx, op, tx.Until(), err)
	}
	return result, unseen(err)
}

// unseen is what an error means of which nothing was applied, while it is not
// known what has the key.
func unseen(err error) error {
	switch {
	case err == nil:
		return nil
	case store.IsUnavailable(err):
		return unreached(err)
	default:
		return store.ErrNotClaimed
	}
}

// Find answers an operation if that needs no execution. known is false when the
// key is free; the operation must then be run.
func (e *Engine) Find(ctx context.Context, op Operation) (result Result, known bool, err error) {
	cached, asOf := e.cache.find(ctx, op)
	if cached != nil {
		return *cached, true, nil
	}
	tx, result, err := e.begin(ctx, op, asOf)
	if tx == nil {
		return result, true, err
	}
	tx.Rollback(ctx)
	return Result{}, false, nil
}

// begin looks an operation's key up. It returns the transaction that holds a
// free key, or else, with a nil transaction, what is already known: the answer
// or the refusal. asOf is [Cache.find]'s.
func (e *Engine) begin(ctx context.Context, op Operation, asOf string) (*store.Tx, Result, error) {
	tx, claim, err := e.store.BeginOperation(ctx, op.Project, op.Key)
	if err != nil {
		return nil, Result{}, unreached(err)
	}
	switch found := stateOf(claim, op.Fingerprint); found {
	case stateUnused:
		return tx, Result{}, nil
	case stateForgotten:
		tx.Forget()
		return tx, Result{}, nil
	case stateCompleted:
		tx.Rollback(ctx) // before Redis is spoken to
		e.cache.keep(ctx, claim.Record, asOf)
		return nil, replay(claim.Record), nil
	default:
		tx.Rollback(ctx)
		return nil, Result{}, refusal(found, claim.Record)
	}
}

// unreached is the error of a request whose key could not be looked up: an
// earlier try may have been applied all the same.
func unreached(err error) error {
	known := models.Unavailable(err, models.NotApplied)
	known.Early = true
	return known
}

func replay(record *models.IdempotencyRecord) Result {
	return Result{Answer: record.Answer, Replayed: true, FirstRequestID: record.RequestID}
}

// carryOut does the operation's work and commits it with its answer. After an
// error nothing was applied, unless it is [store.ErrCommitUnknown].
func (e *Engine) carryOut(ctx context.Context, op Operation, tx *store.Tx, execute Execution) (Result, error) {
	answer, err := guarded(ctx, tx, execute)
	if err != nil {
		return Result{}, err
	}
	if err := tx.CommitOperation(ctx, record(op, answer), op.TTL); err != nil {
		return Result{}, fmt.Errorf("commit: %w", err)
	}
	e.hint(tx.Lanes())
	return Result{Answer: answer, FirstRequestID: op.RequestID}, nil
}

// failed decides what becomes of an operation that holds its key and was not
// carried out, as far as anybody knows.
func (e *Engine) failed(ctx context.Context, op Operation, tx *store.Tx, err error) (Result, error) {
	if errors.Is(err, store.ErrKeyTaken) || errors.Is(err, store.ErrCommitUnknown) {
		return e.settle(ctx, op, time.Time{}, err)
	}
	return e.storeRefusal(ctx, op, tx, err)
}

// storeRefusal ends an operation that failed before it was committed: an error that
// the contract stores is committed with the key, alone; any other leaves the
// key free.
func (e *Engine) storeRefusal(ctx context.Context, op Operation, tx *store.Tx, err error) (Result, error) {
	known := notApplied(err)
	if !known.Stored() {
		return Result{}, known
	}
	tx.Reset()
	answer := e.render(known, op.RequestID)
	if err := tx.CommitOperation(ctx, record(op, answer), op.TTL); err != nil {
		if errors.Is(err, store.ErrKeyTaken) || errors.Is(err, store.ErrCommitUnknown) {
			return e.settle(ctx, op, time.Time{}, err)
		}
		return Result{}, models.Unavailable(err, models.NotApplied)
	}
	return Result{Answer: answer, FirstRequestID: op.RequestID}, nil
}

// notApplied is what a caller is told of an error that kept an operation from
// being committed: a database that failed it can be asked again.
func notApplied(err error) *models.Error {
	var known *models.Error
	if !errors.As(err, &known) && store.IsUnavailable(err) {
		return models.Unavailable(err, models.NotApplied)
	}
	return models.AsError(err)
}

// guarded turns a panic into an error, so that it rolls back like one.
func guarded(ctx context.Context, tx *store.Tx, execute Execution) (answer models.Answer, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return execute(ctx, tx)
}

func record(op Operation, answer models.Answer) *models.IdempotencyRecord {
	return &models.IdempotencyRecord{
		ProjectID: op.Project, Key: op.Key, Fingerprint: op.Fingerprint,
		Method: op.Method, Path: op.Path, RequestID: op.RequestID, Answer: answer,
	}
}

// settle finds out what became of an operation whose commit was not answered,
// or whose key somebody else stored: it looks the key up on a new connection
// until it either finds the record or holds the lock itself, after the time until
// which the operation could claim it, which proves that nothing was committed nor
// will be: what was sent may be on its way longer than its connection lasts.
func (e *Engine) settle(ctx context.Context, op Operation, until time.Time, cause error) (Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleDeadline)
	defer cancel()
	e.log.WarnContext(ctx, "settling an operation whose commit was not answered",
		"request_id", op.RequestID, "error", cause)
	for {
		result, settled, err := e.lookUp(ctx, op, until, cause)
		if settled {
			return result, err
		}
		select {
		case <-ctx.Done():
			return Result{}, models.Unavailable(cause, models.OutcomeUnknown)
		case <-time.After(settlePause):
		}
	}
}

// lookUp asks once; settled is false while nobody can tell.
func (e *Engine) lookUp(ctx context.Context, op Operation, until time.Time, cause error) (result Result, settled bool, err error) {
	tx, claim, err := e.store.BeginOperation(ctx, op.Project, op.Key)
	if err != nil {
		return Result{}, false, nil // not reachable yet: the caller asks again
	}
	defer tx.Rollback(ctx)
	switch found := stateOf(claim, op.Fingerprint); found {
	case stateCompleted:
		result = replay(claim.Record)
		// Our own commit did arrive: this is the first answer, not a replay.
		result.Replayed = result.FirstRequestID != op.RequestID
		return result, true, nil
	case stateUnused, stateForgotten:
		return Result{}, tx.Now().After(until), models.Unavailable(cause, models.NotApplied)
	case stateRunning:
		return Result{}, false, nil
	default:
		return Result{}, true, refusal(found, claim.Record)
	}
}
