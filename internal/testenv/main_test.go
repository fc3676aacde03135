package testenv

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// verdict is a testing.TB that records instead of ending the test.
type verdict struct {
	testing.TB
	fatal []any
}

func (v *verdict) Helper()          {}
func (v *verdict) Fatal(why ...any) { v.fatal = why }

func TestAPackageWithoutMainIsToldWhatItLacks(t *testing.T) {
	t.Parallel()
	var v verdict
	p := newPackage()
	p.require(&v)
	require.Contains(t, v.fatal[0], "func TestMain(m *testing.M) { testenv.Main(m) }")
	v.fatal = nil
	p.enter()
	p.require(&v)
	require.Empty(t, v.fatal)
}

func TestTearDownGoesBackwardsAndOnce(t *testing.T) {
	t.Parallel()
	p := newPackage()
	var order []int
	broken := errors.New("broken")
	p.later(func(context.Context) error { order = append(order, 1); return nil })
	p.later(func(context.Context) error { order = append(order, 2); return broken })
	require.ErrorIs(t, p.close(), broken)
	require.NoError(t, p.close())
	require.Equal(t, []int{2, 1}, order, "a failing step does not keep the others from running")
}

func TestOnlyPassingRefusalsAreTriedAgain(t *testing.T) {
	t.Parallel()
	require.True(t, passes(&pgconn.PgError{Code: "55006"}), "the template is being used")
	require.True(t, passes(&pgconn.PgError{Code: "53300"}), "too many connections")
	require.False(t, passes(&pgconn.PgError{Code: "42P04"}), "the name is taken")
	require.False(t, passes(errors.New("broken")))
}

func TestDatabaseNamesAreNewAndFit(t *testing.T) {
	t.Parallel()
	name := databaseName()
	require.Regexp(t, `^t_[a-z0-9_]{1,40}_[a-z0-9]{10}$`, name)
	require.NotEqual(t, name, databaseName())
	require.Equal(t, "postgres://u:p@h:1/other?sslmode=disable", withDatabase("postgres://u:p@h:1/one?sslmode=disable", "other"))
}
