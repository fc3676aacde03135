-- +goose Up
SET lock_timeout = '5s';

-- Tables that grow carry project_id first in their keys, so that they can be
-- distributed by it, and have no foreign key to projects: the check would lock
-- the project's row in every insert.
CREATE TABLE contacts (
    project_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    -- What these may hold is checked once, by models.Contact.Check: PostgreSQL
    -- parses every CHECK again for each statement that writes.
    external_id text,
    name        text,
    email       text,
    phone       text,
    identities  jsonb       NOT NULL DEFAULT '{}',
    tags        jsonb       NOT NULL DEFAULT '[]',
    -- json, not jsonb: what was given is given back, number and key order included.
    attributes  json        NOT NULL DEFAULT '{}',
    version     bigint      NOT NULL DEFAULT 1, -- the ETag; one more with every change
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX contacts_external_id_unique ON contacts (project_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX contacts_by_email ON contacts (project_id, lower(email), id) WHERE email IS NOT NULL;
CREATE INDEX contacts_by_phone ON contacts (project_id, phone, id) WHERE phone IS NOT NULL;

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE contacts;
