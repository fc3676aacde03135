package store

import (
	"context"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// longestTransaction is far more than the platform's transactions may last: a
// delivery's id is made at most so long after its event's created_at.
const longestTransaction = time.Hour

const (
	// What a recovery may be about, given the bounds of the deliveries' ids; the
	// index knows both sets of states.
	candidates = `d.project_id = @project AND %s AND d.status IN (%s) AND d.id > @after AND d.id < @before`
	// And what it is about.
	recoverable = candidates + `
		  AND (CAST(@since AS timestamptz) IS NULL OR v.created_at >= @since) AND v.created_at < @until
		  AND (@type = '' OR d.event_type = @type)
		  AND (CAST(@classes AS text[]) = '{}' OR d.last_error_class = ANY(CAST(@classes AS text[])))
		  AND (CAST(@cause AS text) IS NULL OR EXISTS (
		        SELECT 1 FROM dead_letters l WHERE l.project_id = d.project_id AND l.delivery_id = d.id AND l.cause = @cause))`
	// A delivery whose event retention took cannot be sent again.
	fromKept            = ` FROM webhook_deliveries d JOIN events v ON v.project_id = d.project_id AND v.id = d.event_id WHERE `
	sqlCountRecoverable = `SELECT count(*)` + fromKept + recoverable
	// How far a bounded number of candidates reaches, so that no statement walks
	// through a million that are not meant.
	sqlScanEnd = `
		SELECT coalesce(max(id), '') AS last, count(*) AS scanned FROM (
			SELECT id FROM webhook_deliveries d WHERE ` + candidates + ` ORDER BY id LIMIT @scan) AS candidates`
	sqlRecoverable = `SELECT d.id` + fromKept + recoverable + ` AND d.id <= @last ORDER BY d.id LIMIT @limit`
	ofOneEndpoint  = `d.endpoint_id = @endpoint`
	ofAllEndpoints = `d.endpoint_id IN (SELECT e.id FROM webhook_endpoints e WHERE e.project_id = @project AND e.status = 'active')`
	sqlNextActive  = `SELECT id FROM webhook_endpoints WHERE project_id = ? AND status = 'active' AND id >= ? ORDER BY id LIMIT 1`
	sqlDueNow      = `
		SELECT count(*) FROM (
			SELECT 1 FROM webhook_deliveries d
			WHERE d.project_id = ? AND d.endpoint_id = ? AND d.status IN ('pending', 'waiting') AND d.next_attempt_at <= now()
			LIMIT ?) AS due`
)

// recoveryBounds are the named parameters of the statements above. The ids'
// bounds say nothing that created_at does not; the index knows them.
func recoveryBounds(project models.ProjectID, r models.Recovery, after string) map[string]any {
	if after == "" && r.Since != nil {
		after = models.FirstID(models.PrefixDelivery, *r.Since)
	}
	return map[string]any{
		"project": string(project), "endpoint": r.EndpointID, "cause": (*string)(r.Cause), "since": r.Since, "until": r.Until, "after": after,
		"type": r.EventType, "classes": textArray(r.ErrorClasses),
		"before": models.FirstID(models.PrefixDelivery, r.Until.Add(longestTransaction)),
	}
}

// forRecovery completes a statement about a recovery's deliveries.
func forRecovery(sql string, r models.Recovery) string {
	states, whose := `'dead_letter', 'held'`, ofOneEndpoint
	if r.Waiting {
		states += `, 'waiting'`
	}
	if r.EndpointID == "" {
		whose = ofAllEndpoints
	}
	return fmt.Sprintf(sql, whose, states)
}

// NextActiveEndpoint returns the first active endpoint's id that is not before
// from, empty when there is none.
func (tx *Tx) NextActiveEndpoint(ctx context.Context, from string) (id string, err error) {
	if err := tx.read(ctx).Raw(sqlNextActive, tx.project, from).Scan(&id).Error; err != nil {
		return "", fmt.Errorf("find the next endpoint: %w", err)
	}
	return id, nil
}

func (tx *Tx) countRecoverable(ctx context.Context, r models.Recovery) (count int, err error) {
	if err := tx.read(ctx).Raw(forRecovery(sqlCountRecoverable, r), recoveryBounds(tx.project, r, "")).Scan(&count).Error; err != nil {
		return 0, fmt.Errorf("count what can be recovered: %w", err)
	}
	return count, nil
}

// Recoverable is a part of what a recovery is about.
type Recoverable struct {
	IDs      []string
	Position string // where the next part begins
	Last     bool   // there is nothing behind it
}

// Recoverable returns at most limit of what a recovery is about, beginning at a
// position, the first of which is empty; it looks at no more than scan
// deliveries and may so return none in the middle. Until must be set.
func (tx *Tx) Recoverable(ctx context.Context, r models.Recovery, position string, limit, scan int) (Recoverable, error) {
	bounds := recoveryBounds(tx.project, r, position)
	bounds["scan"], bounds["limit"] = scan, limit
	var end struct {
		Last    string
		Scanned int
	}
	if err := tx.read(ctx).Raw(forRecovery(sqlScanEnd, r), bounds).Scan(&end).Error; err != nil {
		return Recoverable{}, fmt.Errorf("find what can be recovered: %w", err)
	}
	bounds["last"] = end.Last
	part := Recoverable{Position: end.Last, Last: end.Scanned < scan}
	if err := tx.read(ctx).Raw(forRecovery(sqlRecoverable, r), bounds).Scan(&part.IDs).Error; err != nil {
		return Recoverable{}, fmt.Errorf("find what can be recovered: %w", err)
	}
	if len(part.IDs) == limit {
		// There may be more before the end of what was looked at.
		part.Position, part.Last = part.IDs[limit-1], false
	}
	return part, nil
}

// DueNow counts an endpoint's deliveries that are due, up to a limit.
func (tx *Tx) DueNow(ctx context.Context, endpoint string, limit int) (count int, err error) {
	if err := tx.read(ctx).Raw(sqlDueNow, tx.project, endpoint, limit).Scan(&count).Error; err != nil {
		return 0, fmt.Errorf("count what is due: %w", err)
	}
	return count, nil
}

// ShareEndpoint returns an endpoint's status, deleted included, and keeps it
// until the transaction ends, or returns [ErrNotFound].
func (tx *Tx) ShareEndpoint(ctx context.Context, id string) (models.EndpointStatus, error) {
	var found []models.EndpointStatus
	err := tx.read(ctx).Raw(`SELECT status FROM webhook_endpoints WHERE project_id = ? AND id = ? FOR SHARE`, tx.project, id).
		Scan(&found).Error
	switch {
	case err != nil:
		return "", fmt.Errorf("lock endpoint: %w", err)
	case len(found) == 0:
		return "", notFound("endpoint")
	default:
		return found[0], nil
	}
}

// CountRecovery counts what a recovery would send again now. Errors:
// [ErrNotFound] about the endpoint.
func (tx *Tx) CountRecovery(ctx context.Context, r models.Recovery) (int, error) {
	if r.Everywhere {
		return tx.countRecoverable(ctx, r.Bounded(tx.Now()))
	}
	if r.EndpointID == "" {
		return tx.countRetryable(ctx, r.DeliveryIDs)
	}
	status, err := tx.ShareEndpoint(ctx, r.EndpointID)
	switch {
	case err != nil:
		return 0, err
	case status == models.EndpointDeleted:
		return 0, notFound("endpoint")
	default:
		return tx.countRecoverable(ctx, r.Bounded(tx.Now()))
	}
}

// StartRecovery queues a job for a recovery and returns it. job has what the
// caller knows of it: the API's version and the request. Errors: [ErrNotFound]
// about the endpoint, ENDPOINT_NOT_ACTIVE.
func (tx *Tx) StartRecovery(ctx context.Context, r models.Recovery, job models.Job) (*models.Job, error) {
	job.Type, job.Total = models.JobWebhookRecovery, len(r.DeliveryIDs)
	if r.EndpointID == "" && !r.Everywhere {
		return tx.NewJob(job, r)
	}
	r = r.Bounded(tx.Now())
	var err error
	if job.Total, err = tx.CountRecovery(ctx, r); err != nil {
		return nil, err
	}
	if r.Everywhere {
		return tx.NewJob(job, r)
	}
	status, err := tx.ShareEndpoint(ctx, r.EndpointID)
	if err != nil {
		return nil, err
	}
	if status != models.EndpointActive {
		return nil, NotActive(status)
	}
	return tx.NewJob(job, r)
}

// NotActive is the refusal to send to an endpoint whose deliveries are held.
func NotActive(status models.EndpointStatus) *models.Error {
	return models.NewError(models.CodeEndpointNotActive, "The endpoint is %s: what was sent now would be held. Resume it first.", status)
}

func (tx *Tx) countRetryable(ctx context.Context, ids []string) (count int, err error) {
	rows, err := tx.LockDeliveries(ctx, ids)
	for i := range rows {
		if rows[i].Refusal() == nil {
			count++
		}
	}
	return count, err
}

// AtOnce is how many deliveries a change of their endpoint moves in its own
// transaction.
const AtOnce = 1000

const (
	sqlCountHeld = `SELECT count(*) FROM webhook_deliveries WHERE project_id = ? AND endpoint_id = ? AND status = 'held' AND id > ?`
	sqlHeld      = `
		SELECT id FROM webhook_deliveries
		WHERE project_id = ? AND endpoint_id = ? AND status = 'held' AND id > ? ORDER BY id LIMIT ? FOR UPDATE`
	// What was held goes on where it stood: this is no retry by hand.
	sqlReleaseHeld = `
		WITH moved AS (
			UPDATE webhook_deliveries SET status = $3, next_attempt_at = CASE WHEN $3 = 'pending' THEN $4::timestamptz END, updated_at = $4
			WHERE project_id = $1 AND id = ANY($2) AND status = 'held'
			RETURNING endpoint_id, status
		)
		SELECT DISTINCT endpoint_id FROM moved WHERE status = 'pending'`
)

// ReleaseAllHeld queues what becomes of everything held for an endpoint that
// this transaction has locked: the first ones at once, the rest, if there is
// one, by a job, because no transaction may last as long as a million rows take.
func (tx *Tx) ReleaseAllHeld(ctx context.Context, r models.HeldRelease, job models.Job) error {
	count, last, err := tx.ReleaseHeld(ctx, r, "", AtOnce)
	if err != nil || count < AtOnce {
		return err
	}
	job.Type, job.Position = models.JobWebhookRelease, last
	err = tx.read(ctx).Raw(sqlCountHeld, tx.project, r.EndpointID, last).Scan(&job.Total).Error
	if err != nil {
		return fmt.Errorf("count held deliveries: %w", err)
	}
	_, err = tx.NewJob(job, r)
	return err
}

// ReleaseHeld queues what becomes of at most limit held deliveries of an
// endpoint, pending or cancelled, beginning behind the id after. It returns how
// many, and the last one's id.
func (tx *Tx) ReleaseHeld(ctx context.Context, r models.HeldRelease, after string, limit int) (count int, last string, err error) {
	var ids []string
	if err := tx.read(ctx).Raw(sqlHeld, tx.project, r.EndpointID, after, limit).Scan(&ids).Error; err != nil {
		return 0, "", fmt.Errorf("find held deliveries: %w", err)
	}
	if len(ids) == 0 {
		return 0, after, nil
	}
	tx.query(tx.collectLanes, sqlReleaseHeld, string(tx.project), ids, string(r.To), tx.now)
	return len(ids), ids[len(ids)-1], nil
}
