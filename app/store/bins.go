package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/botix-pro/platform/app/models"
)

const binsTable = "inspector_bins"

// ErrTooManyBins is returned when a project already has [models.MaxBins].
var ErrTooManyBins = errors.New("the project has as many inspector bins as it may have; delete one first")

const (
	sqlCreateBin = `
		INSERT INTO inspector_bins (project_id, id, name, is_default, secret, script, expires_at)
		VALUES (@project, @id, @name, @default, @secret, @script, now() + make_interval(secs => @lifetime))`
	// Whoever comes second finds the first one's, revived if it had expired.
	sqlEnsureDefaultBin = sqlCreateBin + `
		ON CONFLICT (project_id) WHERE is_default DO UPDATE SET expires_at = excluded.expires_at`
	sqlLiveBins = `SELECT count(*) FROM inspector_bins WHERE project_id = ? AND expires_at > now()`
	sqlTouchBin = `, version = version + 1, updated_at = now(),
		expires_at = greatest(expires_at, now() + make_interval(secs => @lifetime))
		WHERE project_id = @project AND id = @id AND expires_at > now()`
	sqlPurgeBins = `
		DELETE FROM inspector_bins WHERE (project_id, id) IN (
			SELECT project_id, id FROM inspector_bins WHERE expires_at <= now() LIMIT $1 FOR UPDATE SKIP LOCKED)`
)

// binRow is a bin as it is stored: its secret encrypted.
type binRow struct {
	models.Bin `gorm:"embedded"`

	SealedSecret []byte `gorm:"column:secret"`
}

// TableName implements gorm's Tabler.
func (binRow) TableName() string { return binsTable }

func (s *Store) openBin(row *binRow) (*models.Bin, error) {
	bin := &row.Bin
	return bin, s.openJSON(row.SealedSecret, secretOwner(binsTable, bin.ProjectID, bin.ID), &bin.Secret)
}

// Bins lists the project's bins that have not expired: the default one first,
// then the newest.
func (s *Store) Bins(ctx context.Context, project models.ProjectID) ([]models.Bin, error) {
	var rows []binRow
	err := s.read(ctx).Where("project_id = ? AND expires_at > now()", project).Order("is_default DESC, created_at DESC, id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list bins: %w", err)
	}
	bins := make([]models.Bin, len(rows))
	for i := range rows {
		bin, err := s.openBin(&rows[i])
		if err != nil {
			return nil, err
		}
		bins[i] = *bin
	}
	return bins, nil
}

// Bin returns one bin of the project, or [ErrNotFound], also when it has expired.
func (s *Store) Bin(ctx context.Context, project models.ProjectID, id string) (*models.Bin, error) {
	return s.bin(s.read(ctx), "project_id = ? AND id = ? AND expires_at > now()", project, id)
}

func (s *Store) bin(q *gorm.DB, condition string, args ...any) (*models.Bin, error) {
	var row binRow
	if err := q.Where(condition, args...).Take(&row).Error; err != nil {
		return nil, one(err, "bin")
	}
	return s.openBin(&row)
}

// LockBin returns a bin that nothing else changes or captures into until the
// transaction ends, or [ErrNotFound].
func (tx *Tx) LockBin(ctx context.Context, id string) (*models.Bin, error) {
	return tx.store.bin(tx.locking(ctx), "project_id = ? AND id = ? AND expires_at > now()", tx.project, id)
}

// LockDefaultBin does the same for the project's default bin, which it makes of
// fresh where there is none yet.
func (tx *Tx) LockDefaultBin(ctx context.Context, fresh models.Bin) (*models.Bin, error) {
	fresh.Default = true
	if err := tx.insertBin(ctx, sqlEnsureDefaultBin, fresh); err != nil {
		return nil, err
	}
	return tx.store.bin(tx.locking(ctx), "project_id = ? AND is_default", tx.project)
}

func (tx *Tx) locking(ctx context.Context) *gorm.DB {
	return tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}

// CreateBin makes a bin: its id, name, secret and script are the caller's. It
// returns [ErrTooManyBins] for a project that has [models.MaxBins] already.
func (tx *Tx) CreateBin(ctx context.Context, bin models.Bin) error {
	if err := tx.read(ctx).Exec(`SELECT 1 FROM projects WHERE id = ? FOR UPDATE`, tx.project).Error; err != nil {
		return fmt.Errorf("lock the project: %w", err)
	}
	var live int
	if err := tx.read(ctx).Raw(sqlLiveBins, tx.project).Scan(&live).Error; err != nil {
		return fmt.Errorf("count the project's bins: %w", err)
	}
	if live >= models.MaxBins {
		return ErrTooManyBins
	}
	return tx.insertBin(ctx, sqlCreateBin, bin)
}

func (tx *Tx) insertBin(ctx context.Context, sql string, bin models.Bin) error {
	script, err := json.Marshal(bin.Script)
	if err != nil {
		return fmt.Errorf("encode a bin's script: %w", err)
	}
	secret, err := tx.store.sealJSON(bin.Secret, secretOwner(binsTable, tx.project, bin.ID))
	if err != nil {
		return err
	}
	err = tx.read(ctx).Exec(sql, map[string]any{
		"project": tx.project, "id": bin.ID, "name": bin.Name, "default": bin.Default, "secret": secret,
		"script": string(script), "lifetime": models.BinLifetime.Seconds(),
	}).Error
	if err != nil {
		return fmt.Errorf("create a bin: %w", err)
	}
	return nil
}

// RenameBin gives a bin another name, or returns [ErrNotFound]. Like every change
// by its owner it puts the bin's end off.
func (tx *Tx) RenameBin(ctx context.Context, id, name string) error {
	return tx.changeBin(ctx, id, `name = @value`, name)
}

// SetBinScript makes a bin answer by another script, from its first answer on, or
// returns [ErrNotFound]. The script is valid: [models.BinScript.Validate].
func (tx *Tx) SetBinScript(ctx context.Context, id string, script models.BinScript) error {
	encoded, err := json.Marshal(script)
	if err != nil {
		return fmt.Errorf("encode a bin's script: %w", err)
	}
	return tx.changeBin(ctx, id, `script = @value, script_hits = 0`, string(encoded))
}

// SetBinEndpoint names an endpoint of the project whose secrets verify what a bin
// gets; nil: none. It returns [ErrNotFound] when there is no such bin or endpoint.
func (tx *Tx) SetBinEndpoint(ctx context.Context, id string, endpoint *string) error {
	if endpoint != nil {
		if _, err := tx.store.endpoint(tx.read(ctx), tx.project, *endpoint); err != nil {
			return err
		}
	}
	return tx.changeBin(ctx, id, `endpoint_id = @value`, endpoint)
}

// ClearBin hides what a bin has captured so far, or returns [ErrNotFound]. The
// rows are gone with their day.
func (tx *Tx) ClearBin(ctx context.Context, id string) error {
	return tx.changeBin(ctx, id, `cleared = captured`, nil)
}

func (tx *Tx) changeBin(ctx context.Context, id, set string, value any) error {
	changed := tx.read(ctx).Exec(`UPDATE inspector_bins SET `+set+sqlTouchBin, map[string]any{
		"project": tx.project, "id": id, "value": value, "lifetime": models.BinLifetime.Seconds(),
	})
	return affected(changed, "change a bin")
}

// DeleteBin deletes a bin, and with it the way to what it captured, or returns
// [ErrNotFound].
func (tx *Tx) DeleteBin(ctx context.Context, id string) error {
	return affected(tx.read(ctx).Exec(`DELETE FROM inspector_bins WHERE project_id = ? AND id = ?`, tx.project, id), "delete a bin")
}

// affected says what became of a statement about one bin.
func affected(done *gorm.DB, what string) error {
	switch {
	case done.Error != nil:
		return fmt.Errorf("%s: %w", what, done.Error)
	case done.RowsAffected == 0:
		return notFound("bin")
	default:
		return nil
	}
}

// PurgeBins deletes at most limit bins that have expired and reports whether
// there may be more.
func (s *Store) PurgeBins(ctx context.Context, limit int) (more bool, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		tag, err := c.Exec(ctx, sqlPurgeBins, limit)
		more = tag.RowsAffected() == int64(limit)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("purge bins: %w", err)
	}
	return more, nil
}

// BinCandidate is whoever may have signed what a bin got.
type BinCandidate struct {
	ID      string // the bin's or an endpoint's
	Secrets []models.EndpointSecret
}

// BinCandidates are the bin itself, the endpoint that it names, the one that
// signed a redirect (or nil), and every endpoint of the project whose URL leads
// to the bin.
func (s *Store) BinCandidates(ctx context.Context, bin *models.Bin, signer *string) ([]BinCandidate, error) {
	var rows []endpointRow
	err := s.read(ctx).Where(`project_id = @project AND status <> 'deleted' AND (id = @named OR id = @signer OR strpos(url, @bin) > 0)`,
		map[string]any{"project": bin.ProjectID, "named": bin.EndpointID, "signer": signer, "bin": bin.ID}).
		Order("id").Limit(maxCandidates).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list who may have signed: %w", err)
	}
	candidates := []BinCandidate{{ID: bin.ID, Secrets: []models.EndpointSecret{{Value: bin.Secret}}}}
	for i := range rows {
		endpoint, err := s.openEndpoint(&rows[i])
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, BinCandidate{ID: endpoint.ID, Secrets: endpoint.Secrets})
	}
	return candidates, nil
}

// maxCandidates bounds how many endpoints one request is held against.
const maxCandidates = 50

// BinLives reports whether there is a bin, of whatever project, that has not
// expired.
func (s *Store) BinLives(ctx context.Context, id string) (lives bool, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM inspector_bins WHERE id = $1 AND expires_at > now())`, id).Scan(&lives)
	})
	if err != nil {
		return false, fmt.Errorf("look for a bin: %w", err)
	}
	return lives, nil
}

// CountRefused adds to the number of requests that a bin refused.
func (s *Store) CountRefused(ctx context.Context, id string, count int64, at time.Time) error {
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, `UPDATE inspector_bins SET refused = refused + $2, last_at = $3 WHERE id = $1`, id, count, at)
		return err
	})
	if err != nil {
		return fmt.Errorf("count what a bin refused: %w", err)
	}
	return nil
}
