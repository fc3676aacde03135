package ui_test

import (
	"testing"

	"github.com/botix-pro/platform/test/uitest"
	"github.com/botix-pro/platform/web/ui"
)

func TestEveryTextIsThere(t *testing.T) {
	t.Parallel()
	uitest.RequireTexts(t, ui.WordsIn(ui.English), ui.WordsIn(ui.Russian))
}
