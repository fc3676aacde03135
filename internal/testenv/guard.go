package testenv

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// GuardTransitions makes the database refuse every change of the column "status"
// of a table that the state machine does not allow: whatever a test does, the SQL
// is then held against the table of states. states are all that there are.
func GuardTransitions[S interface {
	~string
	CanBecome(next S) bool
}](t testing.TB, db *sql.DB, table string, states []S) {
	t.Helper()
	allowed := []string{"''"} // an empty list is no SQL
	for _, from := range states {
		for _, to := range states {
			if from.CanBecome(to) {
				allowed = append(allowed, fmt.Sprintf("'%s>%s'", from, to))
			}
		}
	}
	for _, statement := range []string{
		`CREATE FUNCTION guard_` + table + `() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF OLD.status || '>' || NEW.status NOT IN (` + strings.Join(allowed, ", ") + `) THEN
				RAISE EXCEPTION '% went from % to %', TG_TABLE_NAME, OLD.status, NEW.status;
			END IF;
			RETURN NEW;
		END $$`,
		`CREATE TRIGGER guard BEFORE UPDATE OF status ON ` + table + ` FOR EACH ROW
		WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION guard_` + table + `()`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("testenv: guard %s: %v", table, err)
		}
	}
}
