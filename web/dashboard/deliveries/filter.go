package deliveries

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// The filters' parameters.
const (
	paramStatus   = "status"
	paramEndpoint = "endpoint"
	paramType     = "type"
	paramHTTP     = "http"
	paramClass    = "class"
	paramRange    = "range"
	paramFrom     = "from"
	paramTo       = "to"
	paramID       = "id"    // of an event, a delivery, an attempt or a request
	paramCause    = "cause" // of dead letters

	maxEventType = 200
)

// The outcomes that are told apart.
const (
	outcomeDelivered = "delivered"
	outcomeFailed    = "failed"
	outcomeLost      = "lost" // by us: it used up no step
)

var ranges = map[string]time.Duration{ //nolint:gochecknoglobals // a constant table
	"1h": time.Hour, "24h": 24 * time.Hour, "3d": 3 * 24 * time.Hour, "7d": 7 * 24 * time.Hour,
}

// ours are the failures that are our own.
func ours() []models.ErrorClass {
	return []models.ErrorClass{models.ErrorWorkerLost, models.ErrorInternal}
}

// byStatus are the classes whose attempts got an answer of a kind. The status
// alone decides the class of an attempt that was answered.
var byStatus = map[string][]models.ErrorClass{ //nolint:gochecknoglobals // a constant table
	"1xx": {models.ErrorHTTP1xx}, "3xx": {models.ErrorRedirect}, "4xx": {models.ErrorHTTP4xx}, "5xx": {models.ErrorHTTP5xx},
}

const (
	httpDelivered = "2xx"
	httpNone      = "none"
)

// search is what a reader looks for.
type search struct {
	parts.Place

	Filter store.AttemptFilter
	// Nothing can match: the filters exclude each other, or an id is none of ours.
	Nothing bool
	// Attempt is the id that was looked for, if it is an attempt's.
	Attempt string
}

// search reads the filters from the visit's address.
func (s *Section) search(v *ui.Visit, endpoints []store.EndpointName) search {
	w := wordsIn(v.Locale.Language)
	at := parts.At(v, filtersOf(w, endpoints), func(id string) bool { return models.ValidID(models.PrefixAttempt, id) })
	found := search{Place: at}
	classes := classSet{all: models.ErrorClasses()}
	switch text(at.Chosen(paramStatus)) {
	case outcomeDelivered:
		found.Filter.Delivered = true
	case outcomeFailed:
		classes.without(ours())
	case outcomeLost:
		classes.only(ours())
	}
	switch http := text(at.Chosen(paramHTTP)); http {
	case "":
	case httpDelivered:
		found.Filter.Delivered = true
	case httpNone:
		for _, answered := range byStatus {
			classes.without(answered)
		}
	default:
		classes.only(byStatus[http])
	}
	if class := at.Chosen(paramClass); class != nil {
		classes.only([]models.ErrorClass{models.ErrorClass(*class)})
	}
	if classes.narrowed {
		found.Filter.Classes = classes.all
		found.Nothing = len(classes.all) == 0 || found.Filter.Delivered
	}
	found.Filter.EndpointID = text(at.Chosen(paramEndpoint))
	found.Filter.EventType = ui.Shorten(text(at.Value(paramType)), maxEventType)
	found.times(v.Now)
	found.identify(w)
	return found
}

// classSet is which classes of errors are looked for.
type classSet struct {
	all      []models.ErrorClass
	narrowed bool
}

func (c *classSet) only(classes []models.ErrorClass) {
	c.narrowed = true
	c.all = slices.DeleteFunc(c.all, func(class models.ErrorClass) bool { return !slices.Contains(classes, class) })
}

func (c *classSet) without(classes []models.ErrorClass) {
	c.narrowed = true
	c.all = slices.DeleteFunc(c.all, func(class models.ErrorClass) bool { return slices.Contains(classes, class) })
}

func (f *search) times(now time.Time) {
	if length, ok := ranges[text(f.Chosen(paramRange))]; ok {
		since := now.Add(-length)
		f.Filter.Since = &since
	}
	if from := f.Since(paramFrom); from != nil && (f.Filter.Since == nil || from.After(*f.Filter.Since)) {
		f.Filter.Since = from
	}
	f.Filter.Until = f.Since(paramTo)
}

// identify reads the id that is looked for.
func (f *search) identify(w *words) {
	id := text(f.Value(paramID))
	switch {
	case id == "":
	case models.ValidID(models.PrefixEvent, id):
		f.Filter.EventID = id
	case models.ValidID(models.PrefixDelivery, id):
		f.Filter.DeliveryID = id
	case models.ValidID(models.PrefixRequest, id):
		f.Filter.RequestID = id
	case models.ValidID(models.PrefixAttempt, id):
		f.Attempt = id
	default:
		f.Nothing = true
		f.Fault(paramID, w.Filters.NoID)
	}
}

// ByID reports whether one thing is looked for.
func (f *search) ByID() bool { return f.Value(paramID) != nil }

// filtersOf are the controls of the list's form.
func filtersOf(w *words, endpoints []store.EndpointName) []parts.Filter {
	return []parts.Filter{
		{Name: paramStatus, Label: w.Filters.Outcome, Kind: ui.FieldSelect, Options: options(w.Filters.Outcomes, outcomeDelivered, outcomeFailed, outcomeLost)},
		{Name: paramEndpoint, Label: w.Filters.Endpoint, Kind: ui.FieldSelect, Options: endpointOptions(w, endpoints)},
		{Name: paramType, Label: w.Filters.EventType, Kind: "text"},
		{Name: paramHTTP, Label: w.Filters.HTTP, Kind: ui.FieldSelect, Options: options(w.Filters.HTTPNames, httpDelivered, "3xx", "4xx", "5xx", "1xx", httpNone)},
		{Name: paramClass, Label: w.Filters.Class, Kind: ui.FieldSelect, Options: classOptions(w)},
		{Name: paramRange, Label: w.Filters.Range, Kind: ui.FieldSelect, Options: options(w.Filters.Ranges, "1h", "24h", "3d", "7d")},
		{Name: paramFrom, Label: w.Filters.From, Kind: "datetime-local"},
		{Name: paramTo, Label: w.Filters.To, Kind: "datetime-local"},
		{Name: paramID, Label: w.Filters.ID, Kind: "search"},
	}
}

func options(names map[string]string, values ...string) []ui.Option {
	return ui.Choices(values, names, "")
}

func classOptions(w *words) []ui.Option {
	return ui.Choices(models.ErrorClasses(), w.Outcomes.Classes, "")
}

// maxEndpointName is how much of an endpoint's address stands in a choice.
const maxEndpointName = 60

func endpointOptions(w *words, endpoints []store.EndpointName) []ui.Option {
	list := make([]ui.Option, len(endpoints))
	for i, e := range endpoints {
		list[i] = ui.Option{Value: e.ID, Name: endpointName(e)}
		if e.Status == models.EndpointDeleted {
			list[i].Name = fmt.Sprintf(w.Filters.DeletedF, list[i].Name)
		}
	}
	return list
}

// endpointName is an endpoint's description, or where it is.
func endpointName(e store.EndpointName) string {
	if e.Description != "" {
		return ui.Shorten(ui.Visible(e.Description), maxEndpointName)
	}
	address := strings.TrimPrefix(strings.TrimPrefix(e.URL, "https://"), "http://")
	return ui.Shorten(ui.Visible(address), maxEndpointName)
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
