-- +goose Up
SET lock_timeout = '5s';

-- A message's end brings up the run that waits for it, in the same transaction,
-- whoever records that end: a worker, a person who settles it or cancels it.
-- +goose StatementBegin
CREATE FUNCTION wake_run_of_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE scenario_runs SET due_at = clock_timestamp()
    WHERE project_id = NEW.project_id AND id = NEW.run_id AND message_id = NEW.id AND status = 'waiting';
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER messages_wake_run AFTER UPDATE OF status ON messages FOR EACH ROW
    WHEN (NEW.run_id IS NOT NULL AND OLD.status <> NEW.status AND NEW.status NOT IN ('queued', 'sending'))
    EXECUTE FUNCTION wake_run_of_message();

-- +goose Down
SET lock_timeout = '5s';
DROP TRIGGER messages_wake_run ON messages;
DROP FUNCTION wake_run_of_message();
