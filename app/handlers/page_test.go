package handlers

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// Whatever is given as a cursor, it is refused as a bad parameter or is exactly
// what this list returned after the row that it names.
func FuzzCursor(f *testing.F) {
	id := models.NewID(models.PrefixContact, time.Unix(1_800_000_000, 0))
	encode := base64.RawURLEncoding.EncodeToString
	for _, seed := range []string{
		encode([]byte(id)), encode([]byte(id)) + "=", encode([]byte(id)) + "\n", id, encode([]byte(strings.ToLower(id))),
		encode([]byte("evt_" + id[4:])), encode([]byte(id + "\x00")), encode([]byte{0xff}), "x", " ", "\x00", "é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		page, err := pageOf(url.Values{"cursor": {cursor}}, models.PrefixContact)
		if err != nil {
			require.Equal(t, models.CodeInvalidRequest, models.AsError(err).Code)
			return
		}
		if cursor == "" {
			require.Empty(t, page.Before, "the first page")
			return
		}
		require.True(t, models.ValidID(models.PrefixContact, page.Before))
		_, next := pageOut([]string{page.Before, ""}, store.Page{Limit: 2}, func(id string) string { return id })
		require.Equal(t, cursor, *next)
	})
}

// A cursor leads to the row that it was made of, in its own list only.
func TestCursorNamesItsRow(t *testing.T) {
	t.Parallel()
	id := models.NewID(models.PrefixEvent, time.Unix(1_800_000_000, 0))
	_, next := pageOut([]string{id, ""}, store.Page{Limit: 2}, func(id string) string { return id })
	page, err := pageOf(url.Values{"cursor": {*next}}, models.PrefixEvent)
	require.NoError(t, err)
	require.Equal(t, id, page.Before)
	_, err = pageOf(url.Values{"cursor": {*next}}, models.PrefixContact)
	require.Equal(t, models.CodeInvalidRequest, models.AsError(err).Code)
}
