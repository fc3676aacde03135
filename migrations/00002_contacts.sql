-- +goose Up
SET lock_timeout = '5s';

-- Tables that grow carry project_id first in their keys, so that they can be
-- distributed by it, and have no foreign key to projects: the check would lock
-- the project's row in every insert.
CREATE TABLE contacts (
    project_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    external_id text        CHECK (char_length(external_id) BETWEEN 1 AND 255),
    name        text        CHECK (char_length(name) <= 200),
    email       text        CHECK (char_length(email) <= 254),
    phone       text        CHECK (phone ~ '^\+[1-9][0-9]{6,14}$'),
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
