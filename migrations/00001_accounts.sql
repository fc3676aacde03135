-- +goose Up
SET lock_timeout = '5s';

-- Who may call the platform, and how much.
--
-- Identifiers sort by byte (COLLATE "C"), so that keyset pages come out in the
-- order in which rows were made whatever the database's own locale is.

CREATE TABLE installation (
    id         uuid        NOT NULL DEFAULT gen_random_uuid(),
    singleton  boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (singleton),
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE installation IS 'One row: tells this database from another one, a restored copy included.';
INSERT INTO installation DEFAULT VALUES;

CREATE TABLE plans (
    id         text        PRIMARY KEY CHECK (id ~ '^[a-z][a-z0-9_]{0,31}$'),
    name       text        NOT NULL,
    limits     jsonb       NOT NULL CHECK (
        (limits ->> 'api_rate_per_minute')::int BETWEEN 1 AND 10000000
        AND (limits ->> 'idempotency_ttl_hours')::int BETWEEN 1 AND 72
        AND (limits ->> 'dead_letter_retention_days')::int BETWEEN 1 AND 3650
        AND jsonb_typeof(coalesce(limits -> 'archive', 'false')) = 'boolean' -- left out: none
    ),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO plans (id, name, limits) VALUES
    ('trial',      'Trial',      '{"api_rate_per_minute": 30,    "idempotency_ttl_hours": 24, "dead_letter_retention_days": 14}'),
    ('start',      'Start',      '{"api_rate_per_minute": 60,    "idempotency_ttl_hours": 24, "dead_letter_retention_days": 14}'),
    ('business',   'Business',   '{"api_rate_per_minute": 2000,  "idempotency_ttl_hours": 24, "dead_letter_retention_days": 14}'),
    ('enterprise', 'Enterprise', '{"api_rate_per_minute": 10000, "idempotency_ttl_hours": 72, "dead_letter_retention_days": 90, "archive": true}');

CREATE TABLE projects (
    id          text COLLATE "C" PRIMARY KEY,
    name        text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    mode        text        NOT NULL CHECK (mode IN ('live', 'test')),
    plan_id     text        NOT NULL REFERENCES plans (id),
    api_version text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    id           text COLLATE "C" PRIMARY KEY,
    project_id   text COLLATE "C" NOT NULL REFERENCES projects (id),
    name         text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    prefix       text        NOT NULL,
    hash         bytea       NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    scopes       text[]      NOT NULL CHECK (scopes <@ ARRAY['read', 'write'] AND cardinality(scopes) > 0),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_by_project ON api_keys (project_id, id);

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE api_keys;
DROP TABLE projects;
DROP TABLE plans;
DROP TABLE installation;
