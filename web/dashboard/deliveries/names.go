package deliveries

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// ClassName is why an attempt failed, in a word or two.
func ClassName(l ui.Language, class models.ErrorClass) string {
	return ui.Word(wordsIn(l).Outcomes.Classes, class)
}
