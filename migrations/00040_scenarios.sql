-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE scenarios (
    project_id text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    status     text        NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    version    int         NOT NULL CHECK (version >= 1), -- of its steps
    revision   bigint      NOT NULL DEFAULT 1,            -- the ETag; one more with every change
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- A version never changes: a run keeps to the one it began with.
CREATE TABLE scenario_versions (
    project_id  text COLLATE "C" NOT NULL,
    scenario_id text COLLATE "C" NOT NULL,
    version     int         NOT NULL,
    steps       bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, scenario_id, version)
);
COMMENT ON COLUMN scenario_versions.steps IS 'Encrypted JSON array: headers of http_request steps are often secrets.';

CREATE TABLE scenario_runs (
    project_id       text COLLATE "C" NOT NULL,
    id               text COLLATE "C" NOT NULL,
    scenario_id      text COLLATE "C" NOT NULL,
    scenario_version int         NOT NULL,
    contact_id       text COLLATE "C" NOT NULL,
    variables        json        NOT NULL DEFAULT '{}',
    status           text        NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
    position         smallint    NOT NULL DEFAULT 0 CHECK (position >= 0), -- of the present step in its version
    due_at           timestamptz,
    claim_token      uuid,
    message_id       text COLLATE "C",
    error_code       text,
    error_detail     text,
    api_version      text        NOT NULL,
    request_id       text        NOT NULL,
    revision         bigint      NOT NULL DEFAULT 1, -- the ETag; one more with every change
    started_at       timestamptz,
    finished_at      timestamptz,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    -- Running exactly while somebody holds it, which has an end.
    CONSTRAINT scenario_runs_claimed CHECK ((status = 'running') = (claim_token IS NOT NULL)),
    -- What is not over comes up by its time or by its message; what is over never does.
    CONSTRAINT scenario_runs_due CHECK (CASE status
        WHEN 'queued' THEN due_at IS NOT NULL
        WHEN 'running' THEN due_at IS NOT NULL
        WHEN 'waiting' THEN due_at IS NOT NULL OR message_id IS NOT NULL
        ELSE due_at IS NULL END),
    CONSTRAINT scenario_runs_over CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CONSTRAINT scenario_runs_failed CHECK ((status = 'failed') = (error_code IS NOT NULL))
);
COMMENT ON COLUMN scenario_runs.due_at IS 'When a worker may take the run. Of a running one: when its worker''s lease ends, so that a lost worker''s run comes up by itself.';
COMMENT ON COLUMN scenario_runs.message_id IS 'The message whose end the run waits for.';

-- The one index that workers look at: a run that waits for 30 days is one entry in it.
CREATE INDEX scenario_runs_to_do ON scenario_runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX scenario_runs_of_scenario ON scenario_runs (project_id, scenario_id, id);
CREATE INDEX scenario_runs_of_contact ON scenario_runs (project_id, contact_id, id);

-- One row for each step that was begun.
CREATE TABLE scenario_run_steps (
    project_id   text COLLATE "C" NOT NULL,
    run_id       text COLLATE "C" NOT NULL,
    step_id      text COLLATE "C" NOT NULL,
    status       text        NOT NULL CHECK (status IN ('running', 'waiting', 'completed', 'failed', 'cancelled')),
    attempts     int         NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    maybe_done   boolean     NOT NULL DEFAULT false,
    error_code   text,
    error_detail text,
    started_at   timestamptz NOT NULL,
    finished_at  timestamptz,
    PRIMARY KEY (project_id, run_id, step_id),
    CONSTRAINT scenario_run_steps_over CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
);
COMMENT ON COLUMN scenario_run_steps.attempts IS 'Requests of an http_request step, begun or done.';
COMMENT ON COLUMN scenario_run_steps.maybe_done IS 'The answer to one of the requests was lost.';

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE scenario_run_steps;
DROP TABLE scenario_runs;
DROP TABLE scenario_versions;
DROP TABLE scenarios;
