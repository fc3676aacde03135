package inspector

import (
	"testing"

	"github.com/botix-pro/platform/test/uitest"
)

func TestEveryTextIsThere(t *testing.T) {
	t.Parallel()
	uitest.RequireTexts(t, &english, &russian)
}
