-- +goose Up
SET lock_timeout = '5s';

-- What a job was given to do, as it was given, in chunks of rows: kept until the
-- chunk is done or the job has ended. NULL is a row that was too large to keep.
CREATE TABLE job_rows (
    project_id text COLLATE "C" NOT NULL,
    job_id     text COLLATE "C" NOT NULL,
    first      int     NOT NULL CHECK (first >= 0), -- number of the chunk's first row, from 0
    rows       bytea[] NOT NULL CHECK (cardinality(rows) > 0),
    PRIMARY KEY (project_id, job_id, first)
);

-- What became of each row, in chunks: an array with an object a row. Kept as long
-- as the job.
CREATE TABLE job_results (
    project_id text COLLATE "C" NOT NULL,
    job_id     text COLLATE "C" NOT NULL,
    first      int     NOT NULL CHECK (first >= 0), -- number of the chunk's first row, from 0
    count      int     NOT NULL CHECK (count > 0),
    results    jsonb   NOT NULL CHECK (jsonb_typeof(results) = 'array' AND jsonb_array_length(results) = count),
    PRIMARY KEY (project_id, job_id, first)
);

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE job_results;
DROP TABLE job_rows;
