package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

// defaultBinName is what a project's first bin is called until somebody renames it.
const defaultBinName = "Inspector"

// Desk is what a project's people do with bins, beyond what is in the store.
type Desk struct {
	store     *store.Store
	userAgent string
	baseURL   string
}

// NewDesk returns a desk. The user agent is that of the webhook worker, and the
// base URL the public one of the inspector's listener, without a slash at its
// end; empty: there is none.
func NewDesk(s *store.Store, userAgent, baseURL string) *Desk {
	return &Desk{store: s, userAgent: userAgent, baseURL: baseURL}
}

// URL is where a bin captures what is sent to it, or empty where no listener has
// a public address.
func (d *Desk) URL(bin string) string {
	if d.baseURL == "" {
		return ""
	}
	return d.baseURL + "/" + bin
}

// Create makes a bin with a secret of its own. It returns VALIDATION_FAILED about
// the name, or [store.ErrTooManyBins].
func (d *Desk) Create(ctx context.Context, tx *store.Tx, name string) (*models.Bin, error) {
	if err := models.CheckBinName(name); err != nil {
		return nil, err
	}
	bin := newBin(tx, name)
	return &bin, tx.CreateBin(ctx, bin)
}

func newBin(tx *store.Tx, name string) models.Bin {
	return models.Bin{
		ProjectID: tx.Project(), ID: models.NewSecretID(models.PrefixBin), Name: name, Secret: webhooks.NewSecret().Reveal(),
		Script: models.BinRecipes()[0].Script, Version: 1,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(), ExpiresAt: tx.Now().Add(models.BinLifetime),
	}
}

// Redirect queues a copy of a delivery into a bin; no name means the project's
// default bin, which is made when there is none. The delivery is only read. It
// returns [store.ErrNotFound] about the delivery, VALIDATION_FAILED about the bin,
// EVENT_EXPIRED or INSPECTOR_FULL.
func (d *Desk) Redirect(ctx context.Context, tx *store.Tx, delivery string, bin *string) (*models.CapturedRequest, error) {
	source, err := tx.Redirectable(ctx, delivery)
	if err != nil {
		return nil, err
	}
	if source.Body == nil {
		return nil, models.NewError(models.CodeEventExpired, "The event of this delivery is no longer kept; there is nothing to copy.")
	}
	to, err := lockBin(ctx, tx, bin)
	if err != nil {
		return nil, err
	}
	c, err := d.copyOf(ctx, source, to, tx.Now())
	if err != nil {
		return nil, err
	}
	c.ProjectID, c.DeliveryID = tx.Project(), &delivery
	return c, tx.CaptureCopy(ctx, c)
}

func lockBin(ctx context.Context, tx *store.Tx, bin *string) (*models.Bin, error) {
	if bin == nil {
		return tx.LockDefaultBin(ctx, newBin(tx, defaultBinName))
	}
	locked, err := tx.LockBin(ctx, *bin)
	if errors.Is(err, store.ErrNotFound) {
		return nil, models.Invalid(models.FieldError{
			Pointer: "/bin_id", Code: models.FieldNotFound, Detail: "There is no such bin in this project, or it has expired.",
		})
	}
	return locked, err
}

// copyOf is the request that production would get next, unsent. A deleted endpoint
// has no secret any more: the bin's own signs.
func (d *Desk) copyOf(ctx context.Context, source *store.Redirectable, to *models.Bin, at time.Time) (*models.CapturedRequest, error) {
	stored := source.Secrets
	if len(stored) == 0 {
		stored = []models.EndpointSecret{{Value: to.Secret}}
	}
	secrets, err := webhooks.ActiveSecrets(stored, at)
	if err != nil {
		return nil, fmt.Errorf("sign a copy: %w", err)
	}
	sent, err := webhooks.Copied(ctx, d.userAgent, webhooks.Attempt{
		URL: source.URL, Body: source.Body, EventID: source.EventID, EventType: source.EventType, Number: source.AttemptCount + 1,
		RequestID: models.NewID(models.PrefixRequest, at), Headers: source.Headers, Secrets: secrets, StartedAt: at,
	})
	if err != nil {
		return nil, fmt.Errorf("copy a delivery: %w", err)
	}
	headers, err := json.Marshal(sent)
	if err != nil {
		return nil, fmt.Errorf("encode a copy's headers: %w", err)
	}
	path, query := pathOf(source.URL)
	return &models.CapturedRequest{
		ID: models.NewID(models.PrefixCaptured, at), BinID: to.ID, Source: models.SourceRedirect, EndpointID: &source.EndpointID,
		Method: http.MethodPost, Path: path, Query: query, Headers: headers, Body: source.Body, BodyBytes: int64(len(source.Body)),
		AnswerOutcome: models.AnswerNone, ReceivedAt: at,
	}, nil
}

// pathOf is what of an endpoint's URL its receiver sees in the request's line.
func pathOf(raw string) (path, query string) {
	u, err := url.Parse(raw)
	if err != nil {
		return "/", ""
	}
	path = u.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path, u.RawQuery
}
