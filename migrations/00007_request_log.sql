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
-- Errors, and replays, are few beside the rest: an entry for each costs little, and
-- lists and counts of them pass over nothing else.
CREATE INDEX request_log_errors ON request_log (project_id, request_id) INCLUDE (at, method, route, status, code, key_id, replayed) WHERE code <> '';
CREATE INDEX request_log_by_code ON request_log (project_id, code, request_id) WHERE code <> '';
CREATE INDEX request_log_replays ON request_log (project_id, request_id) WHERE replayed;

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE request_log;
