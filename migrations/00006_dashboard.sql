-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE users (
    id            text COLLATE "C" PRIMARY KEY,
    email         text        NOT NULL UNIQUE CHECK (email = lower(email) AND char_length(email) BETWEEN 3 AND 254),
    password_hash text        NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE project_members (
    project_id text COLLATE "C" NOT NULL REFERENCES projects (id),
    user_id    text COLLATE "C" NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_members_by_user ON project_members (user_id);

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
DROP TABLE project_members;
DROP TABLE users;
