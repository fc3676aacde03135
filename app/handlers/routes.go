package handlers

import (
	"net/http"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// API is the handlers with what they need.
type API struct {
	store *store.Store
}

// New returns the API's handlers.
func New(s *store.Store) *API { return &API{store: s} }

// Routes is the whole API behind authentication.
func (a *API) Routes() []middleware.Route {
	return []middleware.Route{
		{Method: http.MethodPost, Path: "/contacts", Scope: models.ScopeWrite, Mutate: a.createContact},
		{Method: http.MethodGet, Path: "/contacts", Scope: models.ScopeRead, Read: a.listContacts},
		{Method: http.MethodGet, Path: "/contacts/:id", Scope: models.ScopeRead, Read: a.readContact},
		{Method: http.MethodPatch, Path: "/contacts/:id", Scope: models.ScopeWrite, Mutate: a.updateContact},
		{Method: http.MethodDelete, Path: "/contacts/:id", Scope: models.ScopeWrite, Mutate: a.deleteContact},
		{Method: http.MethodPut, Path: "/contacts/by-external-id/:external_id", Scope: models.ScopeWrite, Mutate: a.upsertContact},
	}
}
