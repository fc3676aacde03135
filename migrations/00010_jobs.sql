-- +goose Up
SET lock_timeout = '5s';

-- Long work, done in batches by whichever worker holds the lease. The position
-- moves in the transaction of a batch's effects, so none is skipped or repeated.
CREATE TABLE jobs (
    project_id       text COLLATE "C" NOT NULL,
    id               text COLLATE "C" NOT NULL,
    type             text        NOT NULL,
    status           text        NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    params           jsonb       NOT NULL,
    position         text        NOT NULL DEFAULT '',
    total            int         NOT NULL CHECK (total >= 0),
    processed        int         NOT NULL DEFAULT 0,
    succeeded        int         NOT NULL DEFAULT 0 CHECK (succeeded >= 0),
    failed           int         NOT NULL DEFAULT 0 CHECK (failed >= 0),
    cancel_requested boolean     NOT NULL DEFAULT false,
    error            text        NOT NULL DEFAULT '',
    failures         smallint    NOT NULL DEFAULT 0,
    api_version      text        NOT NULL,
    request_id       text        NOT NULL,
    run_at           timestamptz, -- when the next batch is due
    holder           uuid,
    lease_expires_at timestamptz,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    started_at       timestamptz,
    finished_at      timestamptz,
    PRIMARY KEY (project_id, id),
    CONSTRAINT jobs_sum CHECK (processed = succeeded + failed),
    CONSTRAINT jobs_due CHECK ((status IN ('queued', 'running')) = (run_at IS NOT NULL)),
    CONSTRAINT jobs_ended CHECK ((run_at IS NULL) = (finished_at IS NOT NULL)),
    CONSTRAINT jobs_held CHECK ((holder IS NULL) = (lease_expires_at IS NULL) AND (holder IS NULL OR status = 'running'))
);
CREATE INDEX jobs_to_run ON jobs (run_at) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_ended ON jobs (finished_at) WHERE finished_at IS NOT NULL;

-- What a person may send again, in the order in which a recovery goes through it.
CREATE INDEX webhook_deliveries_to_recover ON webhook_deliveries (project_id, endpoint_id, id)
    WHERE status IN ('dead_letter', 'held', 'waiting');
CREATE INDEX dead_letters_by_endpoint ON dead_letters (project_id, endpoint_id, id);

-- +goose Down
SET lock_timeout = '5s';
DROP INDEX dead_letters_by_endpoint;
DROP INDEX webhook_deliveries_to_recover;
DROP TABLE jobs;
