-- +goose Up
SET lock_timeout = '5s';

-- One row per physical request with a key, written in batches after the answer:
-- no body, no token, no query. By day, dropped by day.
CREATE TABLE request_log (
    project_id      text COLLATE "C" NOT NULL,
    request_id      text COLLATE "C" NOT NULL,
    key_id          text COLLATE "C" NOT NULL,
    method          text        NOT NULL,
    route           text        NOT NULL,
    status          int         NOT NULL,
    code            text        NOT NULL, -- of the error; empty: none
    idempotency_key text COLLATE "C",     -- null: a read, or none that could be one
    replayed        boolean     NOT NULL,
    duration_ms     int         NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (project_id, request_id, at)
) PARTITION BY RANGE (at);
CREATE INDEX request_log_of_operation ON request_log (project_id, idempotency_key, at) WHERE idempotency_key IS NOT NULL;

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE request_log;
