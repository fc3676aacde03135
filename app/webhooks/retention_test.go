package webhooks_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
)

const days = 24 * time.Hour

// bucket is an archive in a folder of its own.
func bucket(t *testing.T) *blob.Bucket {
	t.Helper()
	b, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	require.NoError(t, err)
	return b
}

// archiver is a keeper with an archive whose complaints do no harm.
func (e *engine) archiver(b *blob.Bucket) *webhooks.Keeper {
	return webhooks.NewKeeper(webhooks.KeeperConfig{Store: e.store, Archive: b, Log: slog.New(slog.NewTextHandler(e.t.Output(), nil))})
}

// old is a delivery as history left it.
type old struct {
	age     time.Duration // since it was made, with its event
	changed time.Duration // since its last change
	status  models.DeliveryStatus
	letter  time.Duration // until its dead letter expires; 0: there is none
}

// plant writes a delivery of the past with its event, and its dead letter if it
// has one, and returns the delivery's id.
func (e *engine) plant(o old) string {
	e.t.Helper()
	at := clock.System{}.Now().Add(-o.age)
	id, event := models.NewID(models.PrefixDelivery, at), models.NewID(models.PrefixEvent, at)
	e.sql(`INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at)
		VALUES ($1, $2, 'order.paid', 'api', '2026-12-01', 'req_1', convert_to('{"id":"' || $2 || '","text":"grüße \u0000"}', 'UTF8'), $3)`, string(e.project), event, at)
	due := any(nil)
	if o.status.Due() {
		due = clock.System{}.Now().Add(time.Hour)
	}
	e.sql(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, next_attempt_at, step, attempt_count, created_at, updated_at)
		VALUES ($1, $2, $3, 'order.paid', $4, $5, $6, 5, 7, $7, $8)`,
		string(e.project), id, event, e.endpoint, string(o.status), due, at, clock.System{}.Now().Add(-o.changed))
	if o.letter != 0 {
		e.sql(`INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, 'order.paid', 'http_401', $6, $7)`,
			string(e.project), models.NewID(models.PrefixDeadLetter, at), id, e.endpoint, event, at, clock.System{}.Now().Add(o.letter))
	}
	return id
}

// Held by an endpoint that nobody wakes: a dead letter, not nothing (contract §5).
func TestHeldDeliveriesBecomeDeadLettersAfterThePlansTime(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	last := models.NewID(models.PrefixAttempt, clock.System{}.Now())
	e.outcome(func(o *store.Outcome) { o.Attempt.ID = last })
	e.sql(`UPDATE webhook_deliveries SET next_attempt_at = NULL, status = 'held', updated_at = now() - interval '14 days'`)
	fresh := e.plant(old{age: 20 * days, changed: 13 * days, status: models.DeliveryHeld})
	both(func() { e.keeper().Expire(t.Context()) })
	require.Equal(t, "held_expired", e.delivery(event).Cause)
	require.Equal(t, last, e.text(`SELECT attempt_id FROM dead_letters`))
	require.Equal(t, 1, e.count(`dead_letters WHERE expires_at BETWEEN now() + interval '13 days 23 hours' AND now() + interval '14 days'`))
	require.Equal(t, "held", e.text(`SELECT status FROM webhook_deliveries WHERE id = $1`, fresh))
	e.sql(`UPDATE projects SET plan_id = 'enterprise'`) // 90 days
	e.sql(`UPDATE webhook_deliveries SET updated_at = now() - interval '89 days' WHERE id = $1`, fresh)
	e.keeper().Expire(t.Context())
	require.Equal(t, "held", e.text(`SELECT status FROM webhook_deliveries WHERE id = $1`, fresh))
}

// Thirty days, and as long as something needs them; never before their attempts.
func TestHistoryIsKeptAsLongAsItIsNeeded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old
		kept bool
	}{
		"delivered, young":         {old{29 * days, 29 * days, models.DeliveryDelivered, 0}, true},
		"delivered, old":           {old{31 * days, 31 * days, models.DeliveryDelivered, 0}, false},
		"delivered late":           {old{31 * days, 13 * days, models.DeliveryDelivered, 0}, true},
		"cancelled, old":           {old{31 * days, 15 * days, models.DeliveryCancelled, 0}, false},
		"waiting, old":             {old{90 * days, 90 * days, models.DeliveryWaiting, 0}, true},
		"held, old":                {old{90 * days, 13 * days, models.DeliveryHeld, 0}, true},
		"dead, old":                {old{90 * days, 90 * days, models.DeliveryDeadLetter, time.Hour}, true},
		"dead, its letter gone":    {old{31 * days, 31 * days, models.DeliveryDeadLetter, 0}, false},
		"dead, its letter over":    {old{31 * days, 31 * days, models.DeliveryDeadLetter, -time.Hour}, false},
		"dead and gone, but young": {old{29 * days, 29 * days, models.DeliveryDeadLetter, -time.Hour}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			e.plant(test.old)
			both(func() { e.keeper().Expire(t.Context()); e.keeper().Forget(t.Context()) })
			want := map[bool]int{true: 1}[test.kept]
			require.Equal(t, [2]int{want, want}, [2]int{e.count(`webhook_deliveries`), e.count(`events`)})
			if test.letter < 0 {
				require.Zero(t, e.count(`dead_letters`))
			}
		})
	}
}

// More than one batch, and events that never had a delivery.
func TestForgettingGoesOnToTheEnd(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	kept := e.plant(old{age: 40 * days, changed: 40 * days, status: models.DeliveryDeadLetter, letter: time.Hour})
	floor := models.FirstID("", clock.System{}.Now().Add(-40*days))[:20]
	e.sql(`INSERT INTO events SELECT project_id, 'evt_' || $1 || lpad(n::text, 6, '0'), type, source, api_version, request_id, body, NULL, created_at
		FROM events, generate_series(1, 1300) n`, floor)
	e.sql(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, created_at, updated_at)
		SELECT project_id, 'whd_' || $1 || lpad(n::text, 6, '0'), 'evt_' || $1 || lpad(n::text, 6, '0'), event_type, endpoint_id, 'delivered', created_at, updated_at
		FROM webhook_deliveries, generate_series(1, 1100) n`, floor)
	both(func() { e.keeper().Forget(t.Context()) })
	e.keeper().Forget(t.Context()) // what two at once skipped for each other
	require.Equal(t, kept, e.text(`SELECT string_agg(id, ' ') FROM webhook_deliveries`))
	require.Equal(t, 1, e.count(`events`))
}

// lines are everything that is in the bucket, by dead letter, and the objects.
func (e *engine) lines(b *blob.Bucket) (letters map[string]json.RawMessage, objects []string) {
	e.t.Helper()
	letters = map[string]json.RawMessage{}
	for list := b.List(nil); ; {
		object, err := list.Next(e.t.Context())
		if err == io.EOF { //nolint:errorlint // returned as it is
			return letters, objects
		}
		require.NoError(e.t, err)
		objects = append(objects, object.Key)
		reader, err := b.NewReader(e.t.Context(), object.Key, nil)
		require.NoError(e.t, err)
		plain, err := gzip.NewReader(reader)
		require.NoError(e.t, err)
		for scanner := bufio.NewScanner(plain); scanner.Scan(); {
			var line struct {
				Letter struct{ ID string } `json:"dead_letter"`
			}
			require.NoError(e.t, json.Unmarshal(scanner.Bytes(), &line))
			require.NotContains(e.t, letters, line.Letter.ID, "nothing is archived twice")
			letters[line.Letter.ID] = json.RawMessage(string(scanner.Bytes()))
		}
		require.NoError(e.t, reader.Close())
	}
}

func (e *engine) archived() *engine {
	e.sql(`UPDATE projects SET plan_id = 'enterprise'`)
	return e
}

// Two workers archive more than an object takes: each dead letter is in exactly
// one object, and gone from the table.
func TestExpiredDeadLettersGoToTheArchiveOnce(t *testing.T) {
	t.Parallel()
	e, b := newEngine(t, ok).archived(), bucket(t)
	e.plant(old{age: 91 * days, changed: 91 * days, status: models.DeliveryDeadLetter, letter: time.Hour}) // not over yet
	e.sql(`INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, created_at, expires_at)
		SELECT project_id, 'dlq_' || n, 'whd_' || n, endpoint_id, event_id, event_type, cause, created_at, now() - interval '1 minute' * n
		FROM dead_letters, generate_series(1, 450) n`)
	both(func() { e.archiver(b).Expire(t.Context()) })
	e.archiver(b).Expire(t.Context()) // what two at once skipped for each other
	letters, objects := e.lines(b)
	require.Len(t, letters, 450)
	require.GreaterOrEqual(t, len(objects), 3)
	require.Regexp(t, `^`+string(e.project)+`/\d{4}/\d\d/\d\d/[0-9A-Z]{26}\.jsonl\.gz$`, objects[0])
	require.Equal(t, 1, e.count(`dead_letters`))
	list, err := e.store.Archives(t.Context(), e.project, store.Page{Limit: 10})
	require.NoError(t, err)
	total := 0
	for _, a := range list {
		require.Contains(t, objects, a.Object)
		total += a.Letters
	}
	require.Equal(t, 450, total)
	require.Len(t, list, len(objects))
}

func TestPlansWithoutTheArchiveDeleteTheirs(t *testing.T) {
	t.Parallel()
	e, b := newEngine(t, ok), bucket(t)
	e.plant(old{age: 20 * days, changed: 20 * days, status: models.DeliveryDeadLetter, letter: -time.Hour})
	e.archiver(b).Expire(t.Context())
	_, objects := e.lines(b)
	require.Empty(t, objects)
	require.Zero(t, e.count(`dead_letters`))
}

// Nothing is deleted before its object is written and closed, whenever it stops.
func TestCrashesWhileArchivingLoseNothing(t *testing.T) {
	t.Parallel()
	e, b, broken := newEngine(t, ok).archived(), bucket(t), bucket(t)
	id := e.plant(old{age: 91 * days, changed: 91 * days, status: models.DeliveryDeadLetter, letter: -time.Hour})
	require.NoError(t, broken.Close())
	e.archiver(broken).Expire(t.Context())
	require.Equal(t, 1, e.count(`dead_letters`), "the bucket could not be written")
	e.archiver(b).Expire(t.Context())
	require.Equal(t, 1, e.count(`dead_letters`), "another's until its lease is over")

	leave := func() { e.sql(`UPDATE archives SET lease_expires_at = now() - interval '1 second'`) }
	e.sql(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$`)
	e.sql(`CREATE TRIGGER die BEFORE DELETE ON dead_letters FOR EACH ROW EXECUTE FUNCTION die()`)
	leave()
	e.archiver(b).Expire(t.Context())
	letters, before := e.lines(b)
	require.Len(t, letters, 1, "written")
	require.Equal(t, 1, e.count(`dead_letters`), "and not deleted: killed in between")
	list, err := e.store.Archives(t.Context(), e.project, store.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list, "nor listed")

	e.sql(`DROP TRIGGER die ON dead_letters`)
	e.archiver(b).Forget(t.Context())
	require.Equal(t, 1, e.count(`webhook_deliveries WHERE id = $1`, id), "needed meanwhile")
	leave()
	e.archiver(b).Expire(t.Context())
	letters, after := e.lines(b)
	require.Len(t, letters, 1)
	require.Equal(t, before, after, "the same object")
	require.Zero(t, e.count(`dead_letters`))
}

// A worker that was frozen while it archived deletes nothing once another has
// taken its work over.
func TestArchiverThatLostItsLeaseDeletesNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok).archived()
	e.plant(old{age: 91 * days, changed: 91 * days, status: models.DeliveryDeadLetter, letter: -time.Hour})
	frozen, err := e.store.BeginArchive(t.Context(), time.Nanosecond, 10)
	require.NoError(t, err)
	second, err := e.store.BeginArchive(t.Context(), time.Minute, 10)
	require.NoError(t, err)
	require.Equal(t, frozen.Object, second.Object)
	now := clock.System{}.Now()
	done, err := e.store.FinishArchive(t.Context(), frozen, 1, now, now)
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, 1, e.count(`dead_letters`))
	third, err := e.store.BeginArchive(t.Context(), time.Minute, 10)
	require.NoError(t, err)
	require.Nil(t, third, "nothing is begun twice")
}

// everything is what a restore must bring back, but for what starts anew.
const everything = `
	SELECT concat_ws(E'\n', (SELECT to_jsonb(e) FROM events e), (SELECT to_jsonb(d) - 'updated_at' FROM webhook_deliveries d),
	                 (SELECT to_jsonb(l) - 'expires_at' - 'archive_id' FROM dead_letters l))`

func TestRestoreBringsEverythingBackOnce(t *testing.T) {
	t.Parallel()
	e, b := newEngine(t, ok).archived(), bucket(t)
	id := e.plant(old{age: 120 * days, changed: 91 * days, status: models.DeliveryDeadLetter, letter: -time.Hour})
	before := e.text(everything)
	e.archiver(b).Expire(t.Context())
	e.archiver(b).Forget(t.Context())
	require.Zero(t, e.count(`events`)+e.count(`webhook_deliveries`)+e.count(`dead_letters`))

	_, objects := e.lines(b)
	restore := func(project models.ProjectID) (int, error) {
		return webhooks.Restore(t.Context(), e.store, b, project, objects[0])
	}
	count, err := restore(e.project)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	require.Equal(t, before, e.text(everything))
	require.Equal(t, 1, e.count(`dead_letters WHERE expires_at > now() + interval '89 days'`), "its retention starts anew")
	e.archiver(b).Expire(t.Context())
	e.archiver(b).Forget(t.Context())
	count, err = restore(e.project)
	require.NoError(t, err)
	require.Zero(t, count, "a second time adds nothing")
	require.Equal(t, before, e.text(everything))

	e.sql(`DELETE FROM dead_letters`)
	e.sql(`UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now() WHERE id = $1`, id)
	count, err = restore(e.project)
	require.NoError(t, err)
	require.Zero(t, count, "what was sent again is no dead letter any more")
	_, err = restore("prj_01JDZZZZZZZZZZZZZZZZZZZZZZ")
	require.ErrorIs(t, err, store.ErrNotFound, "another project's")
}

// An object that holds another project's dead letters, however it came there,
// brings none of them back.
func TestRestoreTakesNothingFromAnotherProject(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	own := fmt.Sprintf(`{"project_id":%q}`, e.project)
	for _, line := range []string{
		fmt.Sprintf(`{"dead_letter":%s,"delivery":%s,"event":{"project_id":"prj_other"}}`, own, own),
		fmt.Sprintf(`{"dead_letter":%s,"delivery":%s,"event":null}`, own, own), `{}`, `nonsense`,
	} {
		_, err := e.store.RestoreLetters(t.Context(), e.project, [][]byte{[]byte(line)})
		require.ErrorIs(t, err, store.ErrForeignArchive)
	}
	require.Zero(t, e.count(`events`))
}

// A plan that promises the archive, and an operator who has set none up: nothing
// is deleted, and the log says so once.
func TestWhatThePlanArchivesIsKeptWhileThereIsNoArchive(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok).archived()
	e.plant(old{age: 91 * days, changed: 91 * days, status: models.DeliveryDeadLetter, letter: -time.Hour})
	var log bytes.Buffer
	keeper := webhooks.NewKeeper(webhooks.KeeperConfig{Store: e.store, Log: slog.New(slog.NewTextHandler(&log, nil))})
	keeper.Expire(t.Context())
	keeper.Expire(t.Context())
	require.Equal(t, 1, e.count(`dead_letters`))
	require.Equal(t, 1, strings.Count(log.String(), "ARCHIVE_URL is not set"), log.String())

	e.archiver(bucket(t)).Expire(t.Context())
	require.Zero(t, e.count(`dead_letters`), "archived as soon as there is an archive")
	require.Equal(t, 1, e.count(`archives WHERE letters = 1`))
}

// A dead letter that is kept longer than attempts are is kept with its last one,
// which goes to the archive with it and comes back.
func TestDeadLettersKeepTheirLastAttempt(t *testing.T) {
	t.Parallel()
	e, b := newEngine(t, ok).archived(), bucket(t)
	at := clock.System{}.Now().Add(-20 * days)
	partition := "webhook_attempts_" + at.Format("20060102")
	e.sql(fmt.Sprintf(`CREATE TABLE %s PARTITION OF webhook_attempts FOR VALUES FROM ('%s+00') TO ('%s+00')`,
		partition, at.Format(time.DateOnly), at.Add(days).Format(time.DateOnly)))
	id := e.plant(old{age: 20 * days, changed: 20 * days, status: models.DeliveryDeadLetter, letter: 70 * days})
	attempts := []string{models.NewID(models.PrefixAttempt, at), models.NewID(models.PrefixAttempt, at)}
	e.sql(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url,
		       signatures, own_headers, status_code, error_class, response_body, started_at)
		SELECT project_id, compact_id(a.id), compact_id(d.id), compact_id(endpoint_id), event_type, n, 1, false, 'http://x',
		       sha512('x'), '["A"]', 401, 'http_4xx', '\xff00', $1
		FROM webhook_deliveries d, unnest($2::text[]) WITH ORDINALITY AS a (id, n)`, at, attempts)
	e.sql(`UPDATE dead_letters SET attempt_id = $1`, attempts[1])
	both(func() { require.NoError(t, e.store.KeepPartitions(t.Context())) })
	require.Zero(t, e.count(`pg_class WHERE relname = $1`, partition), "the day is dropped")
	look := func() (*models.WebhookAttempt, error) {
		attempt, _, _, err := e.store.WebhookAttempt(t.Context(), e.project, attempts[1])
		return attempt, err
	}
	kept, err := look()
	require.NoError(t, err)
	require.Equal(t, []byte{0xff, 0}, kept.ResponseBody)
	require.Equal(t, id, kept.DeliveryID)
	require.Contains(t, string(kept.RequestHeaders), `"A":["***"]`)
	require.Equal(t, 1, e.count(`dead_letter_attempts`), "the last one only")

	e.sql(`UPDATE dead_letters SET expires_at = now()`)
	e.archiver(b).Expire(t.Context())
	e.archiver(b).Forget(t.Context())
	require.Zero(t, e.count(`dead_letter_attempts`))
	_, objects := e.lines(b)
	_, err = webhooks.Restore(t.Context(), e.store, b, e.project, objects[0])
	require.NoError(t, err)
	restored, err := look()
	require.NoError(t, err)
	require.JSONEq(t, string(kept.RequestHeaders), string(restored.RequestHeaders))
	restored.RequestHeaders = kept.RequestHeaders
	require.Equal(t, kept, restored)
}

// What a restore is about to need is not deleted under it.
func TestForgettingPassesOverWhatARestoreHolds(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.plant(old{age: 40 * days, changed: 40 * days, status: models.DeliveryDeadLetter})
	restore, err := e.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = restore.ExecContext(t.Context(), `UPDATE webhook_deliveries SET status = status`)
	require.NoError(t, err)
	e.keeper().Forget(t.Context())
	_, err = restore.ExecContext(t.Context(), `
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, expires_at)
		SELECT project_id, 'dlq_1', id, endpoint_id, event_id, event_type, 'http_401', now() + interval '1 day' FROM webhook_deliveries`)
	require.NoError(t, err)
	require.NoError(t, restore.Commit())
	e.keeper().Forget(t.Context())
	require.Equal(t, [2]int{1, 1}, [2]int{e.count(`webhook_deliveries`), e.count(`events`)})
}
