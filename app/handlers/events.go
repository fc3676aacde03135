package handlers

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// appendEvent writes an event of the platform about an object, in the
// transaction of what caused it.
func appendEvent(tx *store.Tx, r *middleware.Request, kind string, about models.Subject, data any) error {
	encoded, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the data of %s: %w", kind, err)
	}
	event := newEvent(tx, r, kind, models.SourcePlatform)
	if err := event.SetData(encoded, about); err != nil {
		return fmt.Errorf("build %s: %w", kind, err)
	}
	tx.AppendEvent(event)
	return nil
}

func newEvent(tx *store.Tx, r *middleware.Request, kind string, source models.EventSource) *models.Event {
	now := tx.Now()
	return &models.Event{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixEvent, now), Type: kind, Source: source,
		APIVersion: r.APIVersion, RequestID: r.ID, CreatedAt: now,
	}
}
