-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE users (
    id            text COLLATE "C" PRIMARY KEY,
    email         text        NOT NULL UNIQUE CHECK (email = lower(email) AND char_length(email) BETWEEN 3 AND 254),
    password_hash text        NOT NULL,
    -- Sessions begun before are over: a changed password ends them all.
    sessions_since timestamptz NOT NULL DEFAULT '-infinity',
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE project_members (
    project_id text COLLATE "C" NOT NULL REFERENCES projects (id),
    user_id    text COLLATE "C" NOT NULL REFERENCES users (id),
    role       text        NOT NULL CHECK (role IN ('owner', 'member')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_members_by_user ON project_members (user_id);

-- Invitations of people who have no account yet. The link's token is stored
-- hashed and works once.
CREATE TABLE invitations (
    project_id text COLLATE "C" NOT NULL REFERENCES projects (id),
    id         text COLLATE "C" NOT NULL,
    token_hash bytea       NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    email      text        NOT NULL CHECK (email = lower(email) AND char_length(email) BETWEEN 3 AND 254),
    role       text        NOT NULL CHECK (role IN ('owner', 'member')),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    CONSTRAINT invitations_once UNIQUE (project_id, email)
);

-- What people did in the dashboard, by whom. Kept; nothing changes or deletes it.
CREATE TABLE audit_entries (
    project_id text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    actor      text        NOT NULL, -- the person's address at that time
    action     text        NOT NULL,
    subject    text        NOT NULL, -- the id of what it was done to
    detail     text        NOT NULL DEFAULT '',
    once       text COLLATE "C", -- of the form: sent twice, it acts once
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX audit_entries_once ON audit_entries (project_id, action, once) WHERE once IS NOT NULL;
CREATE INDEX audit_entries_by_subject ON audit_entries (project_id, subject, id);

-- The shape that the session library (scs) expects. Tokens are stored hashed.
CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea       NOT NULL,
    expiry timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expiry);

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE sessions;
DROP TABLE audit_entries;
DROP TABLE invitations;
DROP TABLE project_members;
DROP TABLE users;
