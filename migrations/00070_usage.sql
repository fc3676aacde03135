-- +goose Up
SET lock_timeout = '5s';

-- API requests by the hour in which they began, kept up with every batch of the
-- request log: what charts are drawn from. A request counts once.
CREATE TABLE request_rollups (
    project_id text COLLATE "C" NOT NULL,
    hour       timestamptz NOT NULL,
    succeeded  bigint      NOT NULL, -- below 400, and no replay
    replayed   bigint      NOT NULL, -- a stored answer, whatever it says
    refused    bigint      NOT NULL, -- 4xx but for 429
    limited    bigint      NOT NULL, -- 429
    failed     bigint      NOT NULL, -- 5xx
    PRIMARY KEY (project_id, hour)
);
CREATE INDEX request_rollups_by_hour ON request_rollups (hour);

-- The same by key and minute, the window of the rate limit: how near a key came
-- to it. By day, dropped by day.
CREATE TABLE request_minutes (
    project_id text COLLATE "C" NOT NULL,
    key_id     text COLLATE "C" NOT NULL,
    minute     timestamptz NOT NULL,
    admitted   bigint      NOT NULL, -- counted against the limit
    limited    bigint      NOT NULL, -- refused with 429
    PRIMARY KEY (project_id, minute, key_id)
) PARTITION BY RANGE (minute);

-- One project's hours, wherever its endpoints are in the key.
CREATE INDEX webhook_rollups_of_project ON webhook_rollups (project_id, hour);

CREATE INDEX notices_of_endpoint ON notices (project_id, endpoint_id, id);

-- +goose Down
SET lock_timeout = '5s';
DROP INDEX notices_of_endpoint;
DROP INDEX webhook_rollups_of_project;
DROP TABLE request_minutes;
DROP TABLE request_rollups;
