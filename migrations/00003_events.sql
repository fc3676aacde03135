-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE events (
    project_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    type        text        NOT NULL,
    source      text        NOT NULL, -- platform, api or scenario
    api_version text        NOT NULL,
    request_id  text        NOT NULL,
    body        bytea       NOT NULL,
    data        bytea,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id)
);
COMMENT ON COLUMN events.body IS 'The webhook body: sent and signed to the byte, stored once for all deliveries.';
COMMENT ON COLUMN events.data IS 'The full data where the body had to leave it out (over 64 KiB).';

-- A ULID for rows that a statement makes: 48 bits of time, then 62 random ones,
-- those of a version 4 UUID that are not fixed, in the 16 digits that ULID and
-- hexadecimal share.
-- +goose StatementBegin
CREATE FUNCTION new_ulid() RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
    digits CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    t      CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000;
BEGIN
    RETURN substr(digits, (t >> 45 & 31)::int + 1, 1) || substr(digits, (t >> 40 & 31)::int + 1, 1)
        || substr(digits, (t >> 35 & 31)::int + 1, 1) || substr(digits, (t >> 30 & 31)::int + 1, 1)
        || substr(digits, (t >> 25 & 31)::int + 1, 1) || substr(digits, (t >> 20 & 31)::int + 1, 1)
        || substr(digits, (t >> 15 & 31)::int + 1, 1) || substr(digits, (t >> 10 & 31)::int + 1, 1)
        || substr(digits, (t >> 5 & 31)::int + 1, 1) || substr(digits, (t & 31)::int + 1, 1)
        || upper(right(encode(uuid_send(gen_random_uuid()), 'hex'), 16));
END
$$;
-- +goose StatementEnd

-- +goose Down
SET lock_timeout = '5s';
DROP FUNCTION new_ulid();
DROP TABLE events;
