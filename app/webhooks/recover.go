package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	// recoverBatch is how many deliveries one transaction sends again.
	recoverBatch = 100
	// recoverScan bounds what one statement looks through to find them.
	recoverScan = 5000
	// recoverAhead is how much may be due in a lane before a recovery waits: new
	// events queue behind no more than that.
	recoverAhead = 500
	recoverPause = 250 * time.Millisecond
	// releaseBatch is how many held deliveries one transaction lets go.
	releaseBatch = 500
)

// Recover is the step of a recovery: the next batch is sent again by hand. What
// moved meanwhile by itself, or by somebody else's hand, is passed over.
func Recover(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
	var r models.Recovery
	if err := json.Unmarshal(job.Params, &r); err != nil {
		return models.JobStep{}, fmt.Errorf("decode a recovery: %w", err)
	}
	switch {
	case len(r.DeliveryIDs) > 0:
		return recoverSelection(ctx, tx, r)
	case r.Everywhere:
		return recoverEverywhere(ctx, tx, r, job.Position)
	default:
		return recoverEndpoint(ctx, tx, r, job.Position)
	}
}

// A position in a recovery of all endpoints is an endpoint's id, the mark and a
// place among its deliveries. What ends with "~" is behind the endpoint.
const (
	endpointMark   = "/"
	behindEndpoint = "~"
)

// recoverEverywhere goes through the active endpoints in the order of their ids.
// One that stops being active meanwhile is passed over.
func recoverEverywhere(ctx context.Context, tx *store.Tx, r models.Recovery, position string) (models.JobStep, error) {
	at, within, _ := strings.Cut(position, endpointMark)
	endpoint, err := tx.NextActiveEndpoint(ctx, at)
	if err != nil || endpoint == "" {
		return models.JobStep{Position: position, Done: true}, err
	}
	if endpoint != at {
		within = ""
	}
	r.EndpointID = endpoint
	step, err := recoverEndpoint(ctx, tx, r, within)
	if step.Done || step.Failure != "" {
		step.Done, step.Failure, step.Position = false, "", endpoint+behindEndpoint
	} else {
		step.Position = endpoint + endpointMark + step.Position
	}
	return step, err
}

// recoverEndpoint sends again the next batch of one endpoint's.
func recoverEndpoint(ctx context.Context, tx *store.Tx, r models.Recovery, position string) (models.JobStep, error) {
	room, stay, err := roomInLane(ctx, tx, r.EndpointID, position)
	if err != nil || stay != nil {
		return valueOf(stay), err
	}
	limit := min(recoverBatch, room)
	if r.RatePerSecond != nil {
		limit = min(limit, *r.RatePerSecond)
	}
	part, err := tx.Recoverable(ctx, r, position, limit, recoverScan)
	if err != nil {
		return models.JobStep{}, err
	}
	locked, err := tx.LockDeliveries(ctx, part.IDs)
	if err != nil {
		return models.JobStep{}, err
	}
	var ids []string
	for i := range locked {
		if d := &locked[i]; d.EventKept && r.Takes(d.Status) {
			ids = append(ids, d.ID)
		}
	}
	tx.RetryDeliveries(ids)
	step := models.JobStep{Position: part.Position, Succeeded: len(ids), Done: part.Last}
	if r.RatePerSecond != nil {
		step.Pause = time.Duration(len(ids)) * time.Second / time.Duration(*r.RatePerSecond)
	}
	return step, nil
}

// recoverSelection sends again what was named, in one batch.
func recoverSelection(ctx context.Context, tx *store.Tx, r models.Recovery) (models.JobStep, error) {
	locked, err := tx.LockDeliveries(ctx, r.DeliveryIDs)
	if err != nil {
		return models.JobStep{}, err
	}
	var ids []string
	for i := range locked {
		if locked[i].Refusal() == nil {
			ids = append(ids, locked[i].ID)
		}
	}
	tx.RetryDeliveries(ids)
	return models.JobStep{Succeeded: len(ids), Failed: len(r.DeliveryIDs) - len(ids), Done: true}, nil
}

// Release is the step that goes on with what was held for an endpoint.
func Release(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
	var r models.HeldRelease
	if err := json.Unmarshal(job.Params, &r); err != nil {
		return models.JobStep{}, fmt.Errorf("decode a release: %w", err)
	}
	limit := releaseBatch
	if r.To == models.DeliveryPending {
		room, stay, err := roomInLane(ctx, tx, r.EndpointID, job.Position)
		if err != nil || stay != nil {
			return valueOf(stay), err
		}
		limit = min(limit, room)
	}
	count, last, err := tx.ReleaseHeld(ctx, r, job.Position, limit)
	return models.JobStep{Position: last, Succeeded: count, Done: count < limit}, err
}

// roomInLane is how many more deliveries may be made due for an endpoint. stay,
// when not nil, is the step instead: to wait, or to end because the endpoint no
// longer sends.
func roomInLane(ctx context.Context, tx *store.Tx, endpoint, position string) (room int, stay *models.JobStep, err error) {
	status, err := tx.ShareEndpoint(ctx, endpoint)
	if err != nil {
		return 0, nil, err
	}
	if status != models.EndpointActive {
		return 0, &models.JobStep{Position: position, Failure: fmt.Sprintf("The endpoint is %s now; what is left was not touched.", status)}, nil
	}
	due, err := tx.DueNow(ctx, endpoint, recoverAhead)
	if err != nil {
		return 0, nil, err
	}
	if due == recoverAhead {
		return 0, &models.JobStep{Position: position, Pause: recoverPause}, nil
	}
	return recoverAhead - due, nil, nil
}

func valueOf(step *models.JobStep) models.JobStep {
	if step == nil {
		return models.JobStep{}
	}
	return *step
}
