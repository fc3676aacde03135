-- +goose Up
SET lock_timeout = '5s';

CREATE TABLE messages (
    project_id          text COLLATE "C" NOT NULL,
    id                  text COLLATE "C" NOT NULL,
    contact_id          text COLLATE "C" NOT NULL,
    channel             text        NOT NULL CHECK (channel IN ('sandbox', 'email', 'telegram')),
    address             text        NOT NULL,
    text                text        NOT NULL,
    template            text,
    -- json, not jsonb: what was given is given back, number and key order included.
    variables           json,
    send_at             timestamptz,
    status              text        NOT NULL CHECK (status IN
        ('queued', 'sending', 'sent', 'delivered', 'failed', 'cancelled', 'unknown')),
    attempt_count       int         NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    failures            int         NOT NULL DEFAULT 0 CHECK (failures >= 0),
    maybe_sent          boolean     NOT NULL DEFAULT false,
    next_attempt_at     timestamptz,
    -- Who holds a message that is being sent, and until when.
    claim_token         uuid,
    lease_expires_at    timestamptz,
    provider_message_id text,
    error_code          text,
    error_detail        text,
    run_id              text COLLATE "C",
    step_id             text,
    api_version         text        NOT NULL,
    request_id          text        NOT NULL,
    sent_at             timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    -- Due exactly when there is a time at which it is due.
    CONSTRAINT messages_due CHECK ((status = 'queued') = (next_attempt_at IS NOT NULL)),
    -- Being sent exactly when somebody holds it, for a bounded time.
    CONSTRAINT messages_claimed CHECK (
        (status = 'sending') = (claim_token IS NOT NULL) AND (claim_token IS NULL) = (lease_expires_at IS NULL)),
    CONSTRAINT messages_failed CHECK (status <> 'failed' OR error_code IS NOT NULL),
    CONSTRAINT messages_of_step CHECK ((run_id IS NULL) = (step_id IS NULL))
);
COMMENT ON COLUMN messages.address IS 'Where the message goes on its channel, as the contact had it when the message was made.';
COMMENT ON COLUMN messages.text IS 'What is sent: a template is filled in when the message is made.';
COMMENT ON COLUMN messages.attempt_count IS 'Physical sends so far, begun or done.';
COMMENT ON COLUMN messages.failures IS 'The place on the ladder of delays; a channel that asks for patience costs none.';
COMMENT ON COLUMN messages.maybe_sent IS 'The answer to one of the sends was lost.';
COMMENT ON COLUMN messages.api_version IS 'Shapes the events that follow.';

CREATE INDEX messages_to_send ON messages (next_attempt_at) WHERE status = 'queued';
CREATE INDEX messages_sending ON messages (project_id, channel, lease_expires_at) WHERE status = 'sending';
CREATE INDEX messages_of_contact ON messages (project_id, contact_id, id);
-- A step of a run makes one message, whatever is repeated.
CREATE UNIQUE INDEX messages_once_per_step ON messages (project_id, run_id, step_id) WHERE run_id IS NOT NULL;

-- Who settled a message that nobody could tell about, and why.
CREATE TABLE message_settlements (
    project_id  text COLLATE "C" NOT NULL,
    message_id  text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    key_id      text COLLATE "C", -- of the API key that was used
    user_id     text COLLATE "C", -- or the member who decided at the pages, with the address at that time
    user_email  text,
    from_status text        NOT NULL,
    to_status   text        NOT NULL,
    reason      text        NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
    request_id  text        NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, message_id, id),
    CONSTRAINT message_settlements_who CHECK (
        (key_id IS NULL) <> (user_id IS NULL) AND (user_id IS NULL) = (user_email IS NULL))
);

-- How a project's messages leave, and whether the channel asked for a pause.
CREATE TABLE message_channels (
    project_id   text COLLATE "C" NOT NULL,
    channel      text        NOT NULL CHECK (channel IN ('sandbox', 'email', 'telegram')),
    settings     bytea       NOT NULL,
    closed_until timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, channel)
);
COMMENT ON COLUMN message_channels.settings IS 'Encrypted JSON: credentials, or what the sandbox was told to do.';

-- What the sandbox took in. Its key is the message's id: it takes each once.
CREATE TABLE sandbox_messages (
    project_id text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    receipt    text COLLATE "C" NOT NULL,
    contact_id text COLLATE "C" NOT NULL,
    address    text        NOT NULL,
    text       text        NOT NULL,
    times      int         NOT NULL DEFAULT 1, -- it was handed over
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (project_id, message_id)
);
COMMENT ON COLUMN sandbox_messages.receipt IS 'What the sandbox answered with: the provider_message_id.';

-- +goose Down
SET lock_timeout = '5s';
DROP TABLE sandbox_messages;
DROP TABLE message_channels;
DROP TABLE message_settlements;
DROP TABLE messages;
