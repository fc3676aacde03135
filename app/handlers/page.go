package handlers

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"

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
	page := store.Page{Limit: defaultLimit + 1}
	if raw := query.Get("limit"); raw != "" {
		limit, err := strconv.Atoi(raw)
		if err != nil || limit < 1 || limit > maxLimit {
			return page, badParameter("limit", "limit is a whole number from 1 to 100.")
		}
		page.Limit = limit + 1
	}
	if cursor := query.Get("cursor"); cursor != "" {
		id, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || !models.ValidID(prefix, string(id)) {
			return page, badParameter("cursor", "This is not a cursor that this list returned.")
		}
		page.Before = string(id)
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
	cursor := base64.RawURLEncoding.EncodeToString([]byte(id(rows[len(rows)-1])))
	return rows, &cursor
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
