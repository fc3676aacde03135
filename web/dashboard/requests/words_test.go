package requests

import (
	"testing"

	"github.com/botix-pro/platform/test/uitest"
)

func TestTextsAreThereInBothLanguages(t *testing.T) {
	t.Parallel()
	uitest.RequireTexts(t, &english, &russian)
}
