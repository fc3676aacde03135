package seal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/seal"
)

func box(t *testing.T, keys ...string) *seal.Box {
	t.Helper()
	b, err := seal.New(keys)
	require.NoError(t, err)
	return b
}

func TestSealedValueOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	b := box(t, seal.NewKey())
	sealed := b.Seal([]byte("whsec_1"), "row 1")
	require.NotContains(t, string(sealed), "whsec_1")
	plain, err := b.Open(sealed, "row 1")
	require.NoError(t, err)
	require.Equal(t, "whsec_1", string(plain))

	_, err = b.Open(sealed, "row 2")
	require.ErrorIs(t, err, seal.ErrUnsealable, "moved to another row")
	for i := range sealed {
		changed := append([]byte{}, sealed...)
		changed[i] ^= 1
		_, err := b.Open(changed, "row 1")
		require.ErrorIs(t, err, seal.ErrUnsealable, "byte %d changed", i)
	}
	for cut := range sealed {
		_, err := b.Open(sealed[:cut], "row 1")
		require.ErrorIs(t, err, seal.ErrUnsealable)
	}
	require.NotEqual(t, sealed, b.Seal([]byte("whsec_1"), "row 1"), "each sealing has its own nonce")
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	oldKey, newKey := seal.NewKey(), seal.NewKey()
	sealed := box(t, oldKey).Seal([]byte("x"), "r")
	_, err := box(t, newKey, oldKey).Open(sealed, "r")
	require.NoError(t, err)
	_, err = box(t, newKey).Open(sealed, "r")
	require.ErrorIs(t, err, seal.ErrUnsealable)
}

func TestBadKeysAreNamed(t *testing.T) {
	t.Parallel()
	_, err := seal.New(nil)
	require.Error(t, err)
	_, err = seal.New([]string{seal.NewKey(), "c2hvcnQ="})
	require.ErrorContains(t, err, "key 2")
	key := seal.NewKey()
	_, err = seal.New([]string{key, key})
	require.ErrorContains(t, err, "key 2")
}
