package deliveries

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// The list's filters, as they stand in its address.
const (
	filterStatus   = "status"
	filterEndpoint = "endpoint"
	filterType     = "type"
	filterClass    = "class"
	filterHTTP     = "http"
	filterSince    = "since"
	filterID       = "id"
)

// maxEndpoints is how many endpoints are offered to choose from.
const maxEndpoints = 100

// endpoints are the project's, by URL.
func (s *Section) endpoints(v *ui.Visit) ([]models.WebhookEndpoint, error) {
	list, err := s.queries.Endpoints(v.Context(), v.Member.Project.ID, store.Page{Limit: maxEndpoints})
	if err != nil {
		return nil, fmt.Errorf("list the endpoints: %w", err)
	}
	return list, nil
}

func filters(v *ui.Visit, endpoints []models.WebhookEndpoint) []parts.Filter {
	texts := wordsIn(v.Locale.Language)
	w := texts.Filters
	var places []ui.Option
	for _, e := range endpoints {
		places = append(places, ui.Option{Value: e.ID, Name: ui.HostOf(e.URL)})
	}
	var http []ui.Option
	for _, class := range []string{"2", "3", "4", "5"} {
		http = append(http, ui.Option{Value: class, Name: class + "xx"})
	}
	classes := slices.Sorted(maps.Keys(texts.Outcomes.Classes))
	return []parts.Filter{
		{Name: filterStatus, Label: w.Status, Kind: ui.FieldSelect, Options: []ui.Option{
			{Value: "delivered", Name: texts.Outcomes.Delivered}, {Value: "failed", Name: texts.Outcomes.Failed},
		}},
		{Name: filterEndpoint, Label: texts.List.Endpoint, Kind: ui.FieldSelect, Options: places},
		{Name: filterType, Label: texts.List.EventType, Kind: "search"},
		{Name: filterClass, Label: w.Class, Kind: ui.FieldSelect, Options: ui.Choices(classes, texts.Outcomes.Classes, "")},
		{Name: filterHTTP, Label: w.HTTP, Kind: ui.FieldSelect, Options: http},
		{Name: filterSince, Label: w.Since, Kind: ui.FieldSelect, Options: sinceOptions(v)},
		{Name: filterID, Label: w.ID, Kind: "search"},
	}
}

func sinceOptions(v *ui.Visit) []ui.Option {
	var options []ui.Option
	for _, span := range []time.Duration{time.Hour, 24 * time.Hour, 3 * 24 * time.Hour, 7 * 24 * time.Hour} {
		options = append(options, ui.Option{Value: span.String(), Name: v.Locale.Span(span)})
	}
	return options
}

// filterOf reads the filters. A select takes only what it offers.
func filterOf(v *ui.Visit, at parts.Place) store.AttemptFilter {
	filter := store.AttemptFilter{
		EndpointID: at.Chosen(filterEndpoint), EventType: at.Value(filterType), ErrorClass: at.Chosen(filterClass), ID: at.Value(filterID),
	}
	if status := at.Chosen(filterStatus); status != nil {
		failed := *status == "failed"
		filter.Failed = &failed
	}
	if class := at.Chosen(filterHTTP); class != nil {
		if n, err := strconv.Atoi(*class); err == nil {
			filter.StatusClass = &n
		}
	}
	if since := at.Chosen(filterSince); since != nil {
		if span, err := time.ParseDuration(*since); err == nil {
			from := v.Now.Add(-span)
			filter.Since = &from
		}
	}
	return filter
}
