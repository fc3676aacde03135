package actions

import (
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// Cause is on whose behalf something is done.
type Cause struct {
	Project    models.Project
	APIVersion string // shapes the events
	RequestID  string // the API request; empty: a member did it at the pages
	// Match judges the object's tag, the ETag of the API, before anything is
	// changed: PRECONDITION_FAILED when the object is another than was meant. nil
	// takes any.
	Match func(tag string) error
	// Exists: Match means an object that is there already.
	Exists bool
}

// Expect is a Match that takes one tag only.
func Expect(wanted string) func(tag string) error {
	return func(tag string) error {
		if tag != wanted {
			return Changed()
		}
		return nil
	}
}

// Changed is PRECONDITION_FAILED.
func Changed() error {
	return models.NewError(models.CodePreconditionFailed, "The object is not at the version that If-Match names.")
}

func (c Cause) match(tag string) error {
	if c.Match == nil {
		return nil
	}
	return c.Match(tag)
}

// Event begins an event that the cause has; its type and data are to follow.
func (c Cause) Event(tx *store.Tx, kind string, source models.EventSource) *models.Event {
	now := tx.Now()
	return &models.Event{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixEvent, now), Type: kind, Source: source,
		APIVersion: c.APIVersion, RequestID: c.RequestID, CreatedAt: now,
	}
}

// append queues the platform's own event about an object.
func (c Cause) append(tx *store.Tx, kind string, about models.Subject, data any) error {
	event := c.Event(tx, kind, models.SourcePlatform)
	if err := event.SetObject(data, about); err != nil {
		return fmt.Errorf("build %s: %w", kind, err)
	}
	tx.AppendEvent(event)
	return nil
}
