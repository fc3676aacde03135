-- +goose Up
SET lock_timeout = '5s';

-- A row exists only for an operation that was committed: it is written in the
-- transaction of the operation itself. "In progress" is an advisory lock, not a row.
CREATE TABLE idempotency_keys (
    project_id   text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
    fingerprint  bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
    method       text        NOT NULL,
    path         text        NOT NULL,
    request_id   text        NOT NULL,
    status       int         NOT NULL CHECK (status BETWEEN 200 AND 499),
    headers      json        NOT NULL,
    body         bytea       NOT NULL,
    sealed       boolean     NOT NULL, -- the body holds a secret and is encrypted
    completed_at timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (project_id, key)
);
-- Answers to empty, and tombstones to drop: every row is in one of them only, so
-- that storing an answer costs one entry.
CREATE INDEX idempotency_keys_to_empty ON idempotency_keys (expires_at) WHERE octet_length(body) > 0;
CREATE INDEX idempotency_keys_to_drop ON idempotency_keys (expires_at) WHERE octet_length(body) = 0;

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE idempotency_keys;
