package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const eventObject = "event"

// createEvent is POST /events: an event of the developer's own.
func (a *API) createEvent(_ context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.EventCreate](r)
	if err != nil {
		return middleware.Result{}, err
	}
	if len(input.Data) == 0 || input.Data.Kind() == 'n' {
		input.Data = jsontext.Value("{}")
	}
	if err := validateEvent(input); err != nil {
		return middleware.Result{}, err
	}
	event := newEvent(tx, r, input.Type, models.SourceAPI)
	if err := event.SetData(input.Data, models.Subject{ID: event.ID, Object: eventObject}); err != nil {
		return middleware.Result{}, fmt.Errorf("build the event: %w", err)
	}
	tx.AppendEvent(event)
	shown, err := showEvent(event)
	return middleware.Result{Status: http.StatusCreated, Body: shown, Location: "/events/" + event.ID, ETag: eventTag}, err
}

func validateEvent(e api.EventCreate) error {
	var found faults
	first, _, _ := strings.Cut(e.Type, ".")
	switch {
	case !models.ValidEventType(e.Type):
		found.add("/type", fieldFormat, "A type is 2 to 5 parts of lower-case letters, digits and underscores joined by dots, as in payment.succeeded.")
	case models.PlatformEventType(e.Type):
		found.add("/type", fieldReserved, "Types that begin with %q are the platform's own.", first+".")
	}
	if e.Data.Kind() != '{' {
		found.add("/data", fieldType, "data is a JSON object.")
	}
	return found.err()
}

// readEvent is GET /events/{id}, with the full data.
func (a *API) readEvent(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixEvent)
	if err != nil {
		return middleware.Result{}, err
	}
	event, err := a.store.Event(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read event: %w", err)
	}
	shown, err := showEvent(event)
	return middleware.Result{Status: http.StatusOK, Body: shown, ETag: eventTag}, err
}

// listEvents is GET /events, newest first.
func (a *API) listEvents(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	page, span, err := listOf(r, models.PrefixEvent, "type")
	if err != nil {
		return middleware.Result{}, err
	}
	events, err := a.store.Events(ctx, r.Project(), store.EventFilter{Span: span, Type: parameter(r.Query, "type")}, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list events: %w", err)
	}
	events, next := pageOut(events, page, func(e models.Event) string { return e.ID })
	list := api.EventList{Data: make([]api.Event, len(events)), NextCursor: next}
	for i := range events {
		if list.Data[i], err = showEvent(&events[i]); err != nil {
			return middleware.Result{}, err
		}
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// eventTag is every event's version: an event never changes.
const eventTag = `"1"`

func showEvent(e *models.Event) (api.Event, error) {
	data := jsontext.Value(e.Data)
	if data == nil {
		var body struct {
			Data jsontext.Value `json:"data"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return api.Event{}, fmt.Errorf("decode the body of event %s: %w", e.ID, err)
		}
		data = body.Data
	}
	return api.Event{
		ID: e.ID, Object: eventObject, Type: e.Type, Source: api.EventSource(e.Source), APIVersion: e.APIVersion,
		Data: data, CreatedAt: api.Timestamp(e.CreatedAt),
	}, nil
}

func newEvent(tx *store.Tx, r *middleware.Request, kind string, source models.EventSource) *models.Event {
	return causeOf(r).Event(tx, kind, source)
}
