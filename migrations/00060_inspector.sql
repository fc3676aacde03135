-- +goose Up
SET lock_timeout = '5s';

-- What captures requests. The id is 128 random bits: whoever knows it may send.
CREATE TABLE inspector_bins (
    project_id   text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    name         text        NOT NULL,
    is_default   boolean     NOT NULL DEFAULT false, -- where redirects land
    secret       bytea       NOT NULL,               -- encrypted; verifies signatures
    endpoint_id  text COLLATE "C",                   -- whose secrets verify as well
    script       json        NOT NULL DEFAULT '{"then": {"status": 200}}',
    script_hits  int         NOT NULL DEFAULT 0,     -- answers given since the script was set
    captured     bigint      NOT NULL DEFAULT 0,     -- requests so far: the newest one's seq
    cleared      bigint      NOT NULL DEFAULT 0,     -- up to this seq nothing is shown
    refused      bigint      NOT NULL DEFAULT 0,     -- requests over a bound, not stored
    stored_on    date        NOT NULL DEFAULT '-infinity',
    stored_bytes bigint      NOT NULL DEFAULT 0,     -- on that day
    last_at      timestamptz,
    version      bigint      NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    CONSTRAINT inspector_bins_id UNIQUE (id)
);
CREATE UNIQUE INDEX inspector_bins_default ON inspector_bins (project_id) WHERE is_default;
CREATE INDEX inspector_bins_expiry ON inspector_bins (expires_at);

-- One row per captured request, by day, dropped by day.
CREATE TABLE inspector_requests (
    project_id     text COLLATE "C" NOT NULL,
    id             text COLLATE "C" NOT NULL,
    bin_id         text COLLATE "C" NOT NULL,
    seq            bigint      NOT NULL, -- 1… within the bin, in the order of the commits
    source         text        NOT NULL CHECK (source IN ('external', 'redirect')),
    delivery_id    text COLLATE "C",     -- of a redirect
    endpoint_id    text COLLATE "C",     -- whose secrets signed a redirect
    method         text        NOT NULL,
    path           text        NOT NULL, -- escaped
    query          text        NOT NULL,
    headers        json        NOT NULL, -- an object of lists
    body           bytea       NOT NULL, -- cut
    body_bytes     bigint      NOT NULL, -- as many as came
    truncated      boolean     NOT NULL,
    remote_addr    text        NOT NULL,
    answer         json,                 -- null: nobody waited for one
    answer_outcome text        NOT NULL, -- what became of it
    duration_ms    int         NOT NULL,
    received_at    timestamptz NOT NULL,
    PRIMARY KEY (project_id, id, received_at)
) PARTITION BY RANGE (received_at);
CREATE INDEX inspector_requests_of_bin ON inspector_requests (project_id, bin_id, seq);

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE inspector_requests;
DROP TABLE inspector_bins;
