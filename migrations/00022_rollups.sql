-- +goose Up
SET lock_timeout = '5s';

-- What charts are drawn from: attempts by the hour in which they began, made once
-- the hour is over, and made again when something late changes it.
CREATE TABLE webhook_rollups (
    project_id  text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    hour        timestamptz NOT NULL,
    attempts    bigint      NOT NULL,
    successes   bigint      NOT NULL,
    failures    jsonb       NOT NULL, -- {error class: count}
    answered    bigint      NOT NULL, -- attempts with an HTTP answer, which the latency is of
    latency_ms  bigint      NOT NULL, -- their sum
    latencies   jsonb       NOT NULL, -- {bucket: count}, see app/store
    PRIMARY KEY (project_id, endpoint_id, hour)
);
CREATE INDEX webhook_rollups_by_hour ON webhook_rollups (hour);

-- Everything before "until" is rolled up.
CREATE TABLE webhook_rollup_state (
    singleton boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (singleton),
    until     timestamptz
);
INSERT INTO webhook_rollup_state DEFAULT VALUES;

-- Hours that changed after they may have been rolled up. Rows without a key: two
-- marks of one hour must not be mistaken for one.
CREATE TABLE webhook_rollup_stale (hour timestamptz NOT NULL);

CREATE INDEX webhook_attempts_by_start ON webhook_attempts USING brin (started_at) WITH (pages_per_range = 32, autosummarize = on);

-- +goose Down
SET lock_timeout = '5s';
DROP INDEX webhook_attempts_by_start;
DROP TABLE webhook_rollup_stale;
DROP TABLE webhook_rollup_state;
DROP TABLE webhook_rollups;
