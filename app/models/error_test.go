package models

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pointer that is too long gives way to the one to what holds the place.
func TestLongPointersNameTheNearestPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxPointer)
	for pointer, want := range map[string]string{
		"": "", "/a/b": "/a/b", "/" + long: "", "/a/" + long: "/a", "/a/b/" + long + "/c": "/a/b", "?" + long: "",
	} {
		require.Equal(t, want, nearest(pointer))
	}
}

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	require.Equal(t, "éé", Cut("ééé", 2))
	require.Equal(t, "ééé", Cut("ééé", 3))
	require.Empty(t, Cut("", 3))
}
