-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE events (
    project_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    type        text        NOT NULL,
    source      text        NOT NULL CHECK (source IN ('platform', 'api', 'scenario')),
    api_version text        NOT NULL,
    request_id  text        NOT NULL,
    body        bytea       NOT NULL,
    data        bytea,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id)
);
COMMENT ON COLUMN events.body IS 'The webhook body: sent and signed to the byte, stored once for all deliveries.';
COMMENT ON COLUMN events.data IS 'The full data where the body had to leave it out (over 64 KiB).';

-- A ULID for rows that one set-based statement makes. The time is the
-- statement''s; the 80 random bits come from a version 4 UUID, whose fixed
-- bits are avoided except for one that is lost (79 remain).
-- +goose StatementBegin
CREATE FUNCTION new_ulid() RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
    alphabet CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    millis   bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    random   bytea := uuid_send(gen_random_uuid());
    result   text := '';
BEGIN
    FOR shift IN REVERSE 9..0 LOOP
        result := result || substr(alphabet, ((millis >> (5 * shift)) & 31)::int + 1, 1);
    END LOOP;
    FOR i IN 0..15 LOOP
        result := result || substr(alphabet, (get_byte(random, i) & 31) + 1, 1);
    END LOOP;
    RETURN result;
END
$$;
-- +goose StatementEnd

-- +goose Down
SET lock_timeout = '5s';
DROP FUNCTION new_ulid();
DROP TABLE events;
