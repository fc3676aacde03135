package store

import (
	"context"
	"fmt"

	"github.com/botix-pro/platform/app/models"
)

// MaxPlanned is where counting for a plan ends: beyond it the plan says "more
// than".
const MaxPlanned = 20_000

const (
	sqlPlanRecovery = `
		SELECT endpoint_id, status, kept, count(*) AS count FROM (
			SELECT d.endpoint_id, d.status, v.id IS NOT NULL AS kept
			FROM webhook_deliveries d LEFT JOIN events v ON v.project_id = d.project_id AND v.id = d.event_id
			WHERE d.project_id = @project AND %[1]s AND d.status IN (%[2]s) AND d.id > @after AND d.id < @before
			  AND (CAST(@since AS timestamptz) IS NULL OR d.created_at >= @since) AND d.created_at < @until
			  AND (@type = '' OR d.event_type = @type)
			  AND (CAST(@classes AS text[]) = '{}' OR d.last_error_class = ANY(CAST(@classes AS text[])))
			  AND (CAST(@cause AS text) IS NULL OR EXISTS (
			        SELECT 1 FROM dead_letters l WHERE l.project_id = d.project_id AND l.delivery_id = d.id AND l.cause = @cause))
			LIMIT @most) AS planned
		GROUP BY endpoint_id, status, kept`
	// Each of the two states has an index of its own.
	sqlPlanQueued = `
		SELECT count(*) AS count FROM (
			(SELECT 1 FROM webhook_deliveries d WHERE d.project_id = @project AND %[1]s AND d.status = 'pending'
			  AND d.id > @after AND d.id < @before AND (@type = '' OR d.event_type = @type) LIMIT @most)
			UNION ALL
			(SELECT 1 FROM webhook_deliveries d WHERE d.project_id = @project AND %[1]s AND d.status = 'in_flight'
			  AND d.id > @after AND d.id < @before AND (@type = '' OR d.event_type = @type) LIMIT @most)) AS queued`
)

// RecoveryPlan is what a recovery would do, in numbers: what a person sees before
// they say yes. Each number ends at [MaxPlanned].
type RecoveryPlan struct {
	ByStatus  map[models.DeliveryStatus]int64
	Endpoints int   // to how many endpoints
	Queued    int64 // due or being sent already: left alone
	Expired   int64 // their events are no longer kept: they cannot be sent
	Inactive  int64 // their endpoints are paused or disabled: not sent
	More      bool  // counting ended before everything was counted
}

// Sent is how many would be sent.
func (p RecoveryPlan) Sent() (sum int64) {
	for _, count := range p.ByStatus {
		sum += count
	}
	return sum
}

// plannedPart is a group of what a recovery would do.
type plannedPart struct {
	EndpointID string
	Status     models.DeliveryStatus
	Kept       bool
	Count      int64
}

// PlanRecovery counts what a recovery would do now.
func (s *Store) PlanRecovery(ctx context.Context, project models.ProjectID, r models.Recovery) (RecoveryPlan, error) {
	now, err := s.now(ctx)
	if err != nil {
		return RecoveryPlan{}, err
	}
	bounds := recoveryBounds(project, r.Bounded(now), "")
	bounds["most"] = MaxPlanned + 1
	rows, err := planned[plannedPart](ctx, s, forRecovery(sqlPlanRecovery, r), bounds)
	if err != nil {
		return RecoveryPlan{}, fmt.Errorf("plan a recovery: %w", err)
	}
	plan := RecoveryPlan{ByStatus: map[models.DeliveryStatus]int64{}}
	endpoints, counted := map[string]bool{}, int64(0)
	for _, row := range rows {
		counted += row.Count
		if !row.Kept {
			plan.Expired += row.Count
			continue
		}
		plan.ByStatus[row.Status] += row.Count
		endpoints[row.EndpointID] = true
	}
	plan.Endpoints, plan.More = len(endpoints), counted > MaxPlanned
	queued, err := planned[struct{ Count int64 }](ctx, s, forRecovery(sqlPlanQueued, r), bounds)
	if err != nil {
		return RecoveryPlan{}, fmt.Errorf("plan a recovery: %w", err)
	}
	plan.Queued = queued[0].Count
	return plan, nil
}

// PlanSelection is [Store.PlanRecovery] for named deliveries. Those that do not
// exist in the project are not counted.
func (s *Store) PlanSelection(ctx context.Context, project models.ProjectID, ids []string) (RecoveryPlan, error) {
	plan := RecoveryPlan{ByStatus: map[models.DeliveryStatus]int64{}}
	_, err := s.Write(ctx, project, func(tx *Tx) error {
		rows, err := tx.LockDeliveries(ctx, ids)
		endpoints := map[string]bool{}
		for i := range rows {
			d := &rows[i]
			switch {
			case d.Status == models.DeliveryPending || d.Status == models.DeliveryInFlight:
				plan.Queued++
			case d.Refusal() != nil:
				plan.Expired++
			case d.EndpointStatus != models.EndpointActive:
				plan.Inactive++
			default:
				plan.ByStatus[d.Status]++
				endpoints[d.EndpointID] = true
			}
		}
		plan.Endpoints = len(endpoints)
		return err
	})
	return plan, err
}
