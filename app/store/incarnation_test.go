package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func open(t *testing.T, databaseURL string) *store.Store {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: databaseURL, MaxConns: 2, Application: "test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Two copies of one database, in one cluster and with the same rows, are told
// apart; two pools on one are not.
func TestIncarnationTellsCopiesApart(t *testing.T) {
	t.Parallel()
	url := testenv.DatabaseURL(t)
	a, same, copied := open(t, url), open(t, url), open(t, testenv.FreshDatabaseURL(t))
	require.NotEmpty(t, a.Incarnation())
	require.Equal(t, a.Incarnation(), same.Incarnation())
	require.NotEqual(t, a.Incarnation(), copied.Incarnation())
	a.LearnIncarnation(t.Context())
	require.Equal(t, same.Incarnation(), a.Incarnation())
}

// A database whose files were put back from a copy has everything that told it
// apart before. It has been started since, which nothing can undo.
func TestStartBeginsAnotherIncarnation(t *testing.T) {
	t.Parallel()
	server := testenv.PrivatePostgres(t)
	s := open(t, server.URL(localstack.DefaultDatabase))
	before := s.Incarnation()
	require.NotEmpty(t, before)
	require.NoError(t, server.Kill())
	require.NoError(t, server.Start(t.Context()))
	s.LearnIncarnation(t.Context())
	require.NotEmpty(t, s.Incarnation())
	require.NotEqual(t, before, s.Incarnation())
}
