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

-- Tables that grow keep the 16 bytes of a ULID instead of its text, as a uuid,
-- which sorts the same. A new one, cheap enough to be made with every send:
CREATE FUNCTION new_compact_id() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
        || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid
$$;

-- The text of one, without its prefix.
-- +goose StatementBegin
CREATE FUNCTION ulid_of(compact uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    digits CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    bits   CONSTANT varbit := B'00' || ('x' || replace(compact::text, '-', ''))::bit(128);
    ulid   text := '';
BEGIN
    FOR i IN 0..25 LOOP
        ulid := ulid || substr(digits, substring(bits FROM i * 5 + 1 FOR 5)::bit(5)::int + 1, 1);
    END LOOP;
    RETURN ulid;
END
$$;
-- +goose StatementEnd

-- The 16 bytes of an identifier with a prefix of three letters.
-- +goose StatementBegin
CREATE FUNCTION compact_id(id text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    digits CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    bits   varbit := B'';
    hex    text := '';
BEGIN
    FOR i IN 5..30 LOOP
        bits := bits || (strpos(digits, substr(id, i, 1)) - 1)::bit(5);
    END LOOP;
    FOR i IN 0..3 LOOP
        hex := hex || lpad(to_hex(substring(bits FROM i * 32 + 3 FOR 32)::bit(32)::bigint), 8, '0');
    END LOOP;
    RETURN hex::uuid;
END
$$;
-- +goose StatementEnd

-- +goose Down
SET lock_timeout = '5s';
DROP FUNCTION compact_id(text);
DROP FUNCTION ulid_of(uuid);
DROP FUNCTION new_compact_id();
DROP FUNCTION new_ulid();
DROP TABLE events;
