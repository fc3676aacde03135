-- +goose Up
SET lock_timeout = '5s';

-- How an endpoint does, kept up with every recorded batch, so that judging it
-- reads one row and never its attempts. There is a row once there was an attempt.
CREATE TABLE webhook_endpoint_health (
    project_id      text COLLATE "C" NOT NULL,
    endpoint_id     text COLLATE "C" NOT NULL,
    failing_since   timestamptz, -- the first failure since the last success
    failures        int         NOT NULL DEFAULT 0 CHECK (failures >= 0), -- since then
    failed_days     int         NOT NULL DEFAULT 0 CHECK (failed_days >= 0), -- days (UTC) with a failure since then
    last_failed_on  date,
    last_success_at timestamptz, -- to the minute
    last_failure_at timestamptz, -- that counted
    level           smallint    NOT NULL DEFAULT 0 CHECK (level IN (0, 50, 70, 90, 100)), -- what its owner was told last
    PRIMARY KEY (project_id, endpoint_id),
    CONSTRAINT webhook_endpoint_health_failing CHECK ((failing_since IS NULL) = (failures = 0) AND (failures = 0) = (failed_days = 0))
);
CREATE INDEX webhook_endpoint_health_to_judge ON webhook_endpoint_health (project_id, endpoint_id)
    WHERE failing_since IS NOT NULL OR level > 0;

-- What a project's owner is told: in the dashboard until dismissed, and by mail.
CREATE TABLE notices (
    project_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('endpoint_failing', 'endpoint_recovered', 'endpoint_disabled')),
    endpoint_id text COLLATE "C" NOT NULL,
    level       smallint    NOT NULL,
    params      jsonb       NOT NULL, -- what its text is made of
    created_at  timestamptz NOT NULL DEFAULT now(),
    read_at     timestamptz,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX notices_unread ON notices (project_id, id) WHERE read_at IS NULL;

-- The mails of a notice, one an address, so that a bad address keeps nobody else
-- from theirs. A claim moves due_at on; attempts tells claims apart.
CREATE TABLE notice_mails (
    project_id text COLLATE "C" NOT NULL,
    notice_id  text COLLATE "C" NOT NULL,
    email      text        NOT NULL,
    due_at     timestamptz DEFAULT now(), -- NULL: sent, or given up
    attempts   int         NOT NULL DEFAULT 0,
    mailed_at  timestamptz,
    error      text        NOT NULL DEFAULT '',
    PRIMARY KEY (project_id, notice_id, email),
    FOREIGN KEY (project_id, notice_id) REFERENCES notices (project_id, id) ON DELETE CASCADE
);
CREATE INDEX notice_mails_due ON notice_mails (due_at) WHERE due_at IS NOT NULL;

-- Deliveries that contradict their endpoint's deletion are looked for here.
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (updated_at) WHERE status = 'deleted';

-- +goose Down
SET lock_timeout = '5s';
DROP INDEX webhook_endpoints_deleted;
DROP TABLE notice_mails;
DROP TABLE notices;
DROP TABLE webhook_endpoint_health;
