package parts

import (
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// MaxNotices is how many notices stand together; dismissing one brings the next.
const MaxNotices = 10

// Notices are what the project's members were told about endpoints.
func Notices(v *ui.Visit, list []models.Notice) ui.Notices {
	w := WordsOf(v).Notices
	view := ui.Notices{Title: w.Title, Dismiss: w.Dismiss}
	for _, n := range list {
		view.List = append(view.List, ui.Notice{
			Kind: string(n.Kind), Text: notice(v.Locale, &w, n), Subject: ui.Visible(n.Params.URL), At: v.Locale.Time(n.CreatedAt),
			Action: ui.Root + "/notices/" + n.ID + "/dismiss", Name: fmt.Sprintf(w.DismissF, ui.Visible(n.Params.URL)),
		})
	}
	return view
}

// NoticeText is what was told, on its own.
func NoticeText(v *ui.Visit, n models.Notice) string {
	w := WordsOf(v).Notices
	said := notice(v.Locale, &w, n)
	if said.At == nil {
		return said.Before
	}
	return said.Before + said.At.Text + said.After
}

func notice(l ui.Locale, w *NoticeWords, n models.Notice) *ui.Sentence {
	switch {
	case n.Kind == models.NoticeRecovered:
		return ui.Plain(w.Recovered)
	case n.Kind == models.NoticeDisabled && n.Params.Reason == models.DisabledGone:
		return ui.Plain(w.Gone)
	case n.Kind == models.NoticeDisabled && n.Params.FailingSince != nil:
		return l.At(w.Disabled, *n.Params.FailingSince)
	case n.Params.FailingSince != nil:
		return l.At(fmt.Sprintf(w.FailingF, n.Level), *n.Params.FailingSince)
	}
	return ui.Plain(ui.Word(w.Kinds, n.Kind))
}
