-- +goose Up
SET lock_timeout = '5s';

-- One object in the bucket, and what is in it. It is made before the object is
-- written: whoever finds it unwritten and its lease over goes on with it.
CREATE TABLE archives (
    project_id       text COLLATE "C" NOT NULL,
    id               text COLLATE "C" NOT NULL,
    object           text        NOT NULL, -- its key in the bucket
    letters          int         NOT NULL DEFAULT 0,
    first_at         timestamptz, -- the oldest and the newest dead letter in it
    last_at          timestamptz,
    token            uuid        NOT NULL,
    lease_expires_at timestamptz, -- NULL: written, and its dead letters deleted
    created_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, id),
    CONSTRAINT archives_object UNIQUE (project_id, object)
);
CREATE INDEX archives_unwritten ON archives (lease_expires_at) WHERE lease_expires_at IS NOT NULL;

ALTER TABLE dead_letters ADD COLUMN archive_id text COLLATE "C"; -- the archive that it is on its way to
CREATE INDEX dead_letters_expiry ON dead_letters (project_id, expires_at);
CREATE INDEX dead_letters_archiving ON dead_letters (project_id, archive_id) WHERE archive_id IS NOT NULL;

-- The last attempts of dead letters that outlive their day's partition, moved here
-- before it is dropped.
CREATE TABLE dead_letter_attempts (LIKE webhook_attempts INCLUDING DEFAULTS, PRIMARY KEY (project_id, id));

CREATE INDEX webhook_deliveries_held ON webhook_deliveries (project_id, updated_at) WHERE status = 'held';

-- +goose Down
SET lock_timeout = '5s';
DROP INDEX webhook_deliveries_held;
DROP TABLE dead_letter_attempts;
DROP INDEX dead_letters_archiving;
DROP INDEX dead_letters_expiry;
ALTER TABLE dead_letters DROP COLUMN archive_id;
DROP TABLE archives;
