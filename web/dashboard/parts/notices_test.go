package parts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

func TestEveryKindOfNoticeHasItsWords(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 28, 14, 3, 21, 0, time.UTC)
	for want, change := range map[string]func(*models.Notice){
		"accepts events again": func(n *models.Notice) { n.Kind = models.NoticeRecovered },
		"answered 410":         func(n *models.Notice) { n.Kind, n.Params.Reason = models.NoticeDisabled, models.DisabledGone },
		"was disabled":         func(n *models.Notice) { n.Kind, n.Params.Reason = models.NoticeDisabled, models.DisabledFailing },
		"keeps failing":        func(n *models.Notice) { n.Params.FailingSince = nil },
	} {
		told := models.Notice{Kind: models.NoticeFailing, Level: 50, Params: models.NoticeParams{FailingSince: &since}}
		change(&told)
		require.Contains(t, notice(ui.Locale{Language: ui.English}, &english.Notices, told).Before, want)
	}
}
