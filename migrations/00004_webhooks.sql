-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE webhook_endpoints (
    project_id      text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    url             text        NOT NULL CHECK (char_length(url) <= 2048),
    description     text        NOT NULL DEFAULT '',
    event_types     jsonb       NOT NULL CHECK (jsonb_typeof(event_types) = 'array'),
    status          text        NOT NULL CHECK (status IN ('active', 'paused', 'disabled', 'deleted')),
    max_in_flight   int         NOT NULL CHECK (max_in_flight BETWEEN 1 AND 100),
    rate_per_second int         CHECK (rate_per_second BETWEEN 1 AND 1000),
    secrets         bytea       NOT NULL,
    headers         bytea       NOT NULL,
    version         bigint      NOT NULL DEFAULT 1, -- the ETag; one more with every change
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    status_since    timestamptz NOT NULL, -- the status is what it is since then
    PRIMARY KEY (project_id, id)
);
COMMENT ON COLUMN webhook_endpoints.secrets IS 'Encrypted JSON list of signing secrets, newest first.';
COMMENT ON COLUMN webhook_endpoints.headers IS 'Encrypted JSON object of custom request headers.';

CREATE TABLE webhook_deliveries (
    project_id       text COLLATE "C" NOT NULL,
    id               text COLLATE "C" NOT NULL,
    event_id         text COLLATE "C" NOT NULL,
    event_type       text        NOT NULL,
    endpoint_id      text COLLATE "C" NOT NULL,
    status           text        NOT NULL,
    step             smallint    NOT NULL DEFAULT 1,
    step_started_at  timestamptz,
    attempt_count    int         NOT NULL DEFAULT 0,
    worker_losses    smallint    NOT NULL DEFAULT 0,
    manual           boolean     NOT NULL DEFAULT false,
    next_attempt_at  timestamptz,
    -- Who holds a delivery that is in flight, until when, and the attempt's id:
    -- given at the claim, so that a send lost with its worker can be recorded.
    claim_token      uuid,
    attempt_id       uuid, -- compact
    lease_expires_at timestamptz,
    last_status_code int,
    last_error_class text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    -- Fan-out makes one delivery per event and endpoint, whatever is repeated: the
    -- id is made of both. It begins with the event's time, by which an event's
    -- deliveries are found.
    PRIMARY KEY (project_id, id),
    -- Due exactly when there is a time at which it is due; in flight exactly when
    -- somebody holds it, for a bounded time. One CHECK, since PostgreSQL parses
    -- each of them again for every statement that writes.
    CONSTRAINT webhook_deliveries_state CHECK (CASE status
        WHEN 'in_flight' THEN num_nulls(claim_token, attempt_id, lease_expires_at) = 0 AND next_attempt_at IS NULL
        WHEN 'pending' THEN num_nonnulls(claim_token, attempt_id, lease_expires_at) = 0 AND next_attempt_at IS NOT NULL
        WHEN 'waiting' THEN num_nonnulls(claim_token, attempt_id, lease_expires_at) = 0 AND next_attempt_at IS NOT NULL
        ELSE status IN ('delivered', 'dead_letter', 'held', 'cancelled')
             AND num_nonnulls(claim_token, attempt_id, lease_expires_at, next_attempt_at) = 0 END)
);
CREATE INDEX webhook_deliveries_to_send ON webhook_deliveries (project_id, endpoint_id, next_attempt_at)
    WHERE status IN ('pending', 'waiting');
CREATE INDEX webhook_deliveries_in_flight ON webhook_deliveries (project_id, endpoint_id, lease_expires_at) WHERE status = 'in_flight';
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (project_id, endpoint_id, id);

-- A lane is one endpoint's queue. Whoever holds its lease drains it; "again"
-- tells the holder that somebody knocked meanwhile.
CREATE TABLE webhook_lanes (
    project_id       text COLLATE "C" NOT NULL,
    endpoint_id      text COLLATE "C" NOT NULL,
    holder           uuid,
    lease_expires_at timestamptz,
    again            boolean     NOT NULL DEFAULT false,
    closed_until     timestamptz, -- the receiver asked for a pause
    paced_until      timestamptz, -- what the endpoint's rate has used up
    PRIMARY KEY (project_id, endpoint_id),
    CONSTRAINT webhook_lanes_held CHECK ((holder IS NULL) = (lease_expires_at IS NULL))
);

-- One row per physical request, by day, dropped by day. Partitions are made
-- ahead by the worker.
--
-- There are more of these than of anything else, so a row holds what cannot be
-- had elsewhere, the widest first. Identifiers are compact; the event is the
-- delivery's; the request's headers are made again of what stands here,
-- see models.SentRequest.
CREATE TABLE webhook_attempts (
    started_at         timestamptz NOT NULL,
    number             int         NOT NULL CHECK (number >= 1),
    body_bytes         int         NOT NULL DEFAULT 0,
    dns_ms             int, -- NULL, like the next two: a kept connection needed none
    connect_ms         int,
    tls_ms             int,
    first_byte_ms      int         NOT NULL DEFAULT 0,
    duration_ms        int         NOT NULL DEFAULT 0,
    status_code        smallint,
    step               smallint    NOT NULL,
    manual             boolean     NOT NULL,
    fresh              boolean     NOT NULL DEFAULT false, -- on a connection of its own
    response_truncated boolean     NOT NULL DEFAULT false,
    id                 uuid        NOT NULL,
    delivery_id        uuid        NOT NULL,
    endpoint_id        uuid        NOT NULL,
    project_id         text COLLATE "C" NOT NULL,
    event_type         text        NOT NULL, -- the delivery's, for who looks for a rare one
    url                text        NOT NULL,
    user_agent         text,
    signatures         bytea, -- NULL: nothing is known to have been sent
    own_headers        json,  -- the names of the endpoint's own headers
    error_class        text,
    error              text,
    response_headers   json,
    response_body      bytea,
    PRIMARY KEY (project_id, id, started_at)
) PARTITION BY RANGE (started_at);
-- Without the project, which these ids say as well: a third of their size.
CREATE INDEX webhook_attempts_of_delivery ON webhook_attempts (delivery_id, number);
-- What the lists of attempts are filtered by. The second has the failed ones only,
-- by why they failed: what was delivered at once costs nothing there.
CREATE INDEX webhook_attempts_of_endpoint ON webhook_attempts (endpoint_id, id);
CREATE INDEX webhook_attempts_failed ON webhook_attempts (project_id, error_class, id) WHERE error_class IS NOT NULL;

CREATE TABLE dead_letters (
    project_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    delivery_id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    event_type  text        NOT NULL,
    cause       text        NOT NULL,
    attempt_id  text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    CONSTRAINT dead_letters_once UNIQUE (project_id, delivery_id)
);
CREATE INDEX dead_letters_by_cause ON dead_letters (project_id, endpoint_id, cause, id);

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE dead_letters;
DROP TABLE webhook_attempts;
DROP TABLE webhook_lanes;
DROP TABLE webhook_deliveries;
DROP TABLE webhook_endpoints;
