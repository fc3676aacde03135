package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/botix-pro/platform/app/models"
)

// Claimed is a delivery that the caller now holds and has to send.
type Claimed struct {
	ProjectID  models.ProjectID
	ID         string
	EventID    string
	EventType  string
	EndpointID string
	AttemptID  string
	Number     int
	Step       int
	// SinceStepBegan is the time since the step's first send, by the database's
	// clock; 0 on that first send.
	SinceStepBegan time.Duration
	Manual         bool
	URL            string
	// Secrets and Headers are shared by all that one claim takes.
	Secrets       []models.EndpointSecret
	Headers       map[string]string
	Body          []byte
	Token         string // proves the claim when the outcome is recorded
	RatePerSecond *int   // the endpoint's; nil: none
	// Unsealed is not nil when the endpoint's secrets cannot be decrypted: the
	// delivery is claimed, but cannot be sent.
	Unsealed error
}

// ClaimRequest asks for deliveries to send.
type ClaimRequest struct {
	Lane   Lane
	Holder string        // of the lane; nothing is claimed without it
	Token  string        // a new UUID
	Max    int           // the caller's free slots
	Lease  time.Duration // how long the deliveries are the caller's
	// LaneLease is how long the lane is: until the next claim, not longer, since
	// a dead holder keeps everybody else from the lane.
	LaneLease time.Duration
}

// One statement decides everything about what is due in a lane: it renews the
// lane's lease (and gives nothing without it), keeps to the endpoint's cap on
// requests in flight, and by the endpoint's state sends, holds or cancels. A
// delivery to be sent gets its number, its attempt's id and a lease.
const (
	sqlClaimDue = `
	WITH lane AS (
		UPDATE webhook_lanes SET lease_expires_at = clock_timestamp() + make_interval(secs => $7)
		WHERE project_id = $1 AND endpoint_id = $2 AND holder = $3
		RETURNING closed_until, paced_until
	), endpoint AS (
		SELECT e.*, CASE WHEN e.rate_per_second IS NULL THEN $5 ELSE
		       -- As many as the time since the last ones has earned, a second's worth at most.
		       floor(least(1, extract(epoch FROM clock_timestamp() - coalesce(lane.paced_until, clock_timestamp() - interval '1 second'))) * e.rate_per_second)::int
		       END AS earned
		FROM webhook_endpoints e, lane
		WHERE e.project_id = $1 AND e.id = $2 AND (lane.closed_until IS NULL OR lane.closed_until <= clock_timestamp())
		-- A claim and a change of the endpoint's state exclude each other: what is
		-- held here is there when a resume looks for it.
		FOR SHARE OF e
	), due AS (
		SELECT d.id FROM webhook_deliveries d
		WHERE d.project_id = $1 AND d.endpoint_id = $2
		  AND d.status IN ('pending', 'waiting')
		  AND d.next_attempt_at <= now() -- not clock_timestamp(): what is volatile cannot use the index
		ORDER BY d.next_attempt_at
		LIMIT (SELECT greatest(0, least($5, e.earned, e.max_in_flight - (
			SELECT count(*) FROM webhook_deliveries f
			WHERE f.project_id = $1 AND f.endpoint_id = $2 AND f.status = 'in_flight'))) FROM endpoint e)
		FOR UPDATE SKIP LOCKED
	)
	UPDATE webhook_deliveries d SET
	       status = CASE e.status WHEN 'active' THEN 'in_flight' WHEN 'deleted' THEN 'cancelled' ELSE 'held' END,
	       attempt_count = d.attempt_count + (e.status = 'active')::int,
	       claim_token = CASE WHEN e.status = 'active' THEN $4::uuid END,
	       attempt_id = CASE WHEN e.status = 'active' THEN new_compact_id() END,
	       lease_expires_at = CASE WHEN e.status = 'active' THEN clock_timestamp() + make_interval(secs => $6) END,
	       step_started_at = CASE WHEN e.status = 'active' THEN coalesce(d.step_started_at, clock_timestamp()) ELSE d.step_started_at END,
	       next_attempt_at = NULL,
	       updated_at = clock_timestamp()
	FROM (SELECT id FROM due LIMIT 100) due, -- tells the planner how few they are; the Max of a claim is no more
	     endpoint e, events v
	WHERE d.project_id = $1 AND d.id = due.id AND v.project_id = $1 AND v.id = d.event_id
	RETURNING d.id, d.event_id, d.event_type, d.attempt_id, d.attempt_count, d.step,
	          extract(epoch FROM clock_timestamp() - d.step_started_at)::float8, d.manual, d.status,
	          e.url, e.secrets, e.headers, v.body, e.rate_per_second`
	// What a lane with a rate has used up; only its holder claims, so nobody
	// comes in between.
	sqlPaceLane = `
	UPDATE webhook_lanes SET paced_until = greatest(coalesce(paced_until, '-infinity'), clock_timestamp() - interval '1 second')
	       + make_interval(secs => $4)
	WHERE project_id = $1 AND endpoint_id = $2 AND holder = $3`
)

// ClaimDue takes what is due in a lane that the caller holds. What belongs to an
// endpoint that is not active is held or cancelled, and not returned; seen
// counts it too, so 0 means that nothing is due (or that the caller no longer
// holds the lane, or has no room).
func (s *Store) ClaimDue(ctx context.Context, claim ClaimRequest) (list []Claimed, seen int, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sqlClaimDue, string(claim.Lane.ProjectID), claim.Lane.EndpointID, claim.Holder,
			claim.Token, claim.Max, claim.Lease.Seconds(), claim.LaneLease.Seconds())
		if err != nil {
			return fmt.Errorf("claim deliveries: %w", err)
		}
		defer rows.Close()
		var endpoint endpointAsClaimed
		for rows.Next() {
			seen++
			claimed, send, err := s.scanClaimed(rows, claim, &endpoint)
			if err != nil {
				return err
			}
			if send {
				list = append(list, claimed)
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, 0, fmt.Errorf("claim deliveries: %w", err)
	}
	return list, seen, nil
}

// endpointAsClaimed is what every row of a claim says of its one endpoint.
type endpointAsClaimed struct {
	sealedSecrets, sealedHeaders pgtype.DriverBytes
	opened                       bool
	secrets                      []models.EndpointSecret
	headers                      map[string]string
	unsealed                     error
}

// open decrypts the endpoint's secrets at the first row that needs them.
func (e *endpointAsClaimed) open(s *Store, owner string) {
	if e.opened {
		return
	}
	e.opened = true
	e.unsealed = errors.Join(s.openJSON(e.sealedSecrets, owner, &e.secrets), s.openJSON(e.sealedHeaders, owner, &e.headers))
}

func (s *Store) scanClaimed(rows pgx.Rows, claim ClaimRequest, endpoint *endpointAsClaimed) (Claimed, bool, error) {
	c := Claimed{ProjectID: claim.Lane.ProjectID, EndpointID: claim.Lane.EndpointID, Token: claim.Token}
	var status models.DeliveryStatus
	var since *float64
	var attempt pgtype.UUID
	err := rows.Scan(&c.ID, &c.EventID, &c.EventType, &attempt, &c.Number, &c.Step, &since, &c.Manual, &status,
		&c.URL, &endpoint.sealedSecrets, &endpoint.sealedHeaders, &c.Body, &c.RatePerSecond)
	if err != nil {
		return c, false, fmt.Errorf("read a claimed delivery: %w", err)
	}
	c.AttemptID = models.FullID(models.PrefixAttempt, attempt.Bytes)
	if since != nil {
		c.SinceStepBegan = time.Duration(*since * float64(time.Second))
	}
	send := status == models.DeliveryInFlight
	if send {
		endpoint.open(s, secretOwner(endpointsTable, c.ProjectID, c.EndpointID))
		c.Secrets, c.Headers, c.Unsealed = endpoint.secrets, endpoint.headers, endpoint.unsealed
	}
	return c, send, nil
}

// PaceLane takes note that sends to a lane with a rate have begun, so that the
// next claim waits for its turn.
func (s *Store) PaceLane(ctx context.Context, lane Lane, holder string, sends, perSecond int) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, sqlPaceLane, string(lane.ProjectID), lane.EndpointID, holder, float64(sends)/float64(perSecond))
		if err != nil {
			return fmt.Errorf("pace a lane: %w", err)
		}
		return nil
	})
}
