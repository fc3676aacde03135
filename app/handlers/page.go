package handlers

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	defaultLimit = 25
	maxLimit     = 100
)

// pageOf reads limit and cursor (contract §1). The page asks for one row more
// than is shown: that it exists is how a next page is known.
func pageOf(query url.Values, prefix string) (store.Page, error) {
	return pageBy(query, func(id string) bool { return models.ValidID(prefix, id) })
}

// pageBy does the same for a list whose cursors hold something else than an
// identifier.
func pageBy(query url.Values, valid func(string) bool) (store.Page, error) {
	page := store.Page{Limit: defaultLimit + 1}
	if raw := query.Get("limit"); raw != "" {
		limit, err := strconv.Atoi(raw)
		if err != nil || limit < 1 || limit > maxLimit {
			return page, badParameter("limit", "limit is a whole number from 1 to 100.")
		}
		page.Limit = limit + 1
	}
	if cursor := query.Get("cursor"); cursor != "" {
		mark, err := base64.RawURLEncoding.DecodeString(cursor)
		// Decoding skips line breaks and ignores the last bits.
		if err != nil || encodeCursor(string(mark)) != cursor || !valid(string(mark)) {
			return page, badParameter("cursor", "This is not a cursor that this list returned.")
		}
		page.Before = string(mark)
	}
	return page, nil
}

// pageOut cuts a list to the page that was asked for and returns the cursor of
// the next one, nil on the last page.
func pageOut[T any](rows []T, page store.Page, id func(T) string) ([]T, *string) {
	if len(rows) < page.Limit {
		return rows, nil
	}
	rows = rows[:page.Limit-1]
	cursor := encodeCursor(id(rows[len(rows)-1]))
	return rows, &cursor
}

// encodeCursor names the row after which the next page begins.
func encodeCursor(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

// listOf reads what every list by time takes: a page and a span. further are
// the route's own parameters.
func listOf(r *middleware.Request, prefix string, further ...string) (store.Page, store.Span, error) {
	var span store.Span
	if err := onlyParameters(r.Query, append(further, "limit", "cursor", "since", "until")...); err != nil {
		return store.Page{}, span, err
	}
	page, err := pageOf(r.Query, prefix)
	if err != nil {
		return page, span, err
	}
	if span.Since, err = timeParameter(r.Query, "since"); err != nil {
		return page, span, err
	}
	span.Until, err = timeParameter(r.Query, "until")
	return page, span, err
}

// onlyParameters refuses query parameters that a route does not know: a
// mistyped filter must not silently widen the answer.
func onlyParameters(query url.Values, known ...string) error {
	for name, values := range query {
		if len(values) > 1 {
			return badParameter(name, "This parameter was given more than once.")
		}
		if !slices.Contains(known, name) {
			return badParameter(name, "There is no such parameter.")
		}
	}
	return nil
}

func badParameter(name, detail string) error {
	err := models.NewError(models.CodeInvalidRequest, "A query parameter is not valid.")
	err.Fields = []models.FieldError{{Pointer: "?" + name, Code: fieldFormat, Detail: detail}}
	return err
}

// parameter returns a query parameter, nil if it was not given.
func parameter(query url.Values, name string) *string {
	if !query.Has(name) {
		return nil
	}
	value := query.Get(name)
	return &value
}

// timeParameter returns a query parameter that is an RFC 3339 time.
func timeParameter(query url.Values, name string) (*time.Time, error) {
	raw := parameter(query, name)
	if raw == nil {
		return nil, nil //nolint:nilnil // not given
	}
	at, err := time.Parse(time.RFC3339Nano, *raw)
	if err != nil {
		return nil, badParameter(name, "This is not an RFC 3339 time, e.g. 2026-12-01T10:00:00.000Z.")
	}
	return &at, nil
}

// pathID returns the path's id, or NOT_FOUND if it cannot be one.
func pathID(r *middleware.Request, prefix string) (string, error) {
	id := r.Param("id")
	if !models.ValidID(prefix, id) {
		return "", models.NewError(models.CodeNotFound, "There is no such object in this project.")
	}
	return id, nil
}

// checkMatch honours If-Match (RFC 9110 §13.1.1) against the object's ETag.
func checkMatch(r *middleware.Request, etag string) error {
	wanted := strings.Join(r.Header.Values("If-Match"), ",")
	if wanted == "" {
		return nil
	}
	for candidate := range strings.SplitSeq(wanted, ",") {
		if candidate = strings.TrimSpace(candidate); candidate == etag || candidate == "*" {
			return nil
		}
	}
	return actions.Changed()
}

// causeOf is what a request is to what it does.
func causeOf(r *middleware.Request) actions.Cause {
	return actions.Cause{
		Project: r.Caller.Project, APIVersion: r.APIVersion, RequestID: r.ID,
		Match: func(tag string) error { return checkMatch(r, tag) }, Exists: r.Header.Get("If-Match") != "",
	}
}
