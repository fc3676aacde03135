package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

var causePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// createRecovery is POST /recoveries: with dry_run a count, else a job.
func (a *API) createRecovery(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.RecoveryCreate](r)
	if err != nil {
		return middleware.Result{}, err
	}
	if err := validateRecovery(input); err != nil {
		return middleware.Result{}, err
	}
	if err := checkSelection(ctx, tx, input.DeliveryIds); err != nil {
		return middleware.Result{}, err
	}
	result, err := startRecovery(ctx, tx, r, recoveryOf(input), valueOr(input.DryRun, false))
	if errors.Is(err, store.ErrNotFound) {
		return middleware.Result{}, models.Invalid(noSuch("/endpoint_id", "endpoint"))
	}
	return result, err
}

func startRecovery(ctx context.Context, tx *store.Tx, r *middleware.Request, recovery models.Recovery, count bool) (middleware.Result, error) {
	if count {
		n, err := tx.CountRecovery(ctx, recovery)
		if err != nil {
			return middleware.Result{}, fmt.Errorf("count a recovery: %w", err)
		}
		return middleware.Result{Status: http.StatusOK, Body: api.RecoveryCount{Count: n}}, nil
	}
	job, err := tx.StartRecovery(ctx, recovery, newJob(r))
	if err != nil {
		return middleware.Result{}, fmt.Errorf("start a recovery: %w", err)
	}
	return acceptedJob(job), nil
}

func recoveryOf(input api.RecoveryCreate) models.Recovery {
	return models.Recovery{
		EndpointID: valueOr(input.EndpointID, ""), Since: (*time.Time)(input.Since), Until: (*time.Time)(input.Until),
		Cause: (*models.DeadLetterCause)(input.Cause), DeliveryIDs: input.DeliveryIds, RatePerSecond: input.RatePerSecond,
	}
}

func validateRecovery(input api.RecoveryCreate) error {
	var found faults
	switch {
	case input.EndpointID == nil && input.DeliveryIds == nil:
		found.add("/endpoint_id", fieldTooShort, "Either endpoint_id or delivery_ids is needed.")
	case input.EndpointID == nil:
		found.selection(input)
	case input.DeliveryIds != nil:
		found.add("/delivery_ids", fieldUnknown, "A selection and an endpoint are two recoveries.")
	}
	if input.Since != nil && input.Until != nil && !input.Since.Time().Before(input.Until.Time()) {
		found.add("/until", fieldRange, "until is after since.")
	}
	if input.Cause != nil && !causePattern.MatchString(*input.Cause) {
		found.add("/cause", fieldFormat, "A cause is lower-case letters, digits and underscores, as in http_401.")
	}
	found.optionalRange("/rate_per_second", input.RatePerSecond, 1, actions.MaxRatePerSecond)
	return found.err()
}

// selection checks the deliveries that a recovery names, and that it says
// nothing else about them.
func (f *faults) selection(input api.RecoveryCreate) {
	const pointer = "/delivery_ids"
	if n := len(input.DeliveryIds); n == 0 || n > models.MaxSelection {
		f.add(pointer, fieldRange, "A selection is 1 to %d deliveries; use endpoint_id for more.", models.MaxSelection)
		return
	}
	seen := map[string]bool{}
	for i, id := range input.DeliveryIds {
		if seen[id] {
			f.add(pointer+"/"+strconv.Itoa(i), fieldDuplicate, "This delivery is there twice.")
		}
		seen[id] = true
	}
	for at, given := range map[string]bool{
		"/since": input.Since != nil, "/until": input.Until != nil, "/cause": input.Cause != nil, "/rate_per_second": input.RatePerSecond != nil,
	} {
		if given {
			f.add(at, fieldUnknown, "This goes with endpoint_id only; a selection is what it names.")
		}
	}
}

// checkSelection refuses deliveries that do not exist in the project.
func checkSelection(ctx context.Context, tx *store.Tx, ids []string) error {
	locked, err := tx.LockDeliveries(ctx, ids)
	if err != nil {
		return fmt.Errorf("check a selection: %w", err)
	}
	exists := map[string]bool{}
	for i := range locked {
		exists[locked[i].ID] = true
	}
	var found faults
	for i, id := range ids {
		if !exists[id] {
			found.Faults = append(found.Faults, noSuch("/delivery_ids/"+strconv.Itoa(i), "delivery"))
		}
	}
	return found.err()
}

func noSuch(pointer, what string) models.FieldError {
	return models.FieldError{Pointer: pointer, Code: fieldNotFound, Detail: "There is no such " + what + " in this project."}
}
