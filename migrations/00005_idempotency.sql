-- +goose Up
SET lock_timeout = '5s';

-- A row exists only for an operation that was committed: it is written in the
-- transaction of the operation itself. "In progress" is an advisory lock, not a row.
CREATE TABLE idempotency_keys (
    project_id   text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    fingerprint  bytea       NOT NULL,
    method       text        NOT NULL,
    path         text        NOT NULL,
    request_id   text        NOT NULL,
    status       int         NOT NULL,
    headers      json        NOT NULL,
    body         bytea       NOT NULL,
    sealed       boolean     NOT NULL, -- the body holds a secret and is encrypted
    completed_at timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (project_id, key),
    -- Nothing that may change stands for an answer: no 5xx, and no request that
    -- cannot be told from another.
    CONSTRAINT idempotency_keys_answer CHECK (status BETWEEN 200 AND 499 AND octet_length(fingerprint) = 32)
);
-- Answers to empty, and tombstones to drop: every row is in one of them only, so
-- that storing an answer costs one entry.
CREATE INDEX idempotency_keys_to_empty ON idempotency_keys (expires_at) WHERE octet_length(body) > 0;
CREATE INDEX idempotency_keys_to_drop ON idempotency_keys (expires_at) WHERE octet_length(body) = 0;

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE idempotency_keys;
