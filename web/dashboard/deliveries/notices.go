package deliveries

import (
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// maxNotices is how many notices stand above the list; dismissing one brings the
// next.
const maxNotices = 10

// noticeView is one notice above the list of attempts.
type noticeView struct {
	Kind    models.NoticeKind // the colour
	Text    *ui.Sentence
	URL     string // of the endpoint
	At      ui.Instant
	Dismiss string // where the form that takes it away goes
	Name    string // of that form's button
}

// notices are what the project's members were told and have not dismissed.
func (s *Section) notices(v *ui.Visit) ([]noticeView, error) {
	list, err := s.queries.Notices(v.Context(), v.Member.Project.ID, maxNotices)
	if err != nil {
		return nil, fmt.Errorf("list the notices: %w", err)
	}
	reader := readerOf(v)
	views := make([]noticeView, len(list))
	for i, n := range list {
		views[i] = noticeView{
			Kind: n.Kind, Text: reader.notice(n), URL: ui.Visible(n.Params.URL), At: reader.Time(n.CreatedAt),
			Dismiss: pathNotices + n.ID + "/dismiss", Name: fmt.Sprintf(reader.words.Notices.DismissF, ui.Visible(n.Params.URL)),
		}
	}
	return views, nil
}

// dismissNotice takes a notice away, for all of the project's members.
func (s *Section) dismissNotice(v *ui.Visit) (ui.Reply, error) {
	id := v.PathValue("id")
	if !models.ValidID(models.PrefixNotice, id) {
		return ui.Reply{}, store.ErrNotFound
	}
	if err := s.queries.DismissNotice(v.Context(), v.Member.Project.ID, id); err != nil {
		return ui.Reply{}, fmt.Errorf("dismiss a notice: %w", err)
	}
	return ui.Redirect(Path), nil
}

func (m reader) notice(n models.Notice) *ui.Sentence {
	words := m.words.Notices
	switch {
	case n.Kind == models.NoticeRecovered:
		return ui.Plain(words.Recovered)
	case n.Kind == models.NoticeDisabled && n.Params.Reason == models.DisabledGone:
		return ui.Plain(words.Gone)
	case n.Kind == models.NoticeDisabled && n.Params.FailingSince != nil:
		return m.At(words.Disabled, *n.Params.FailingSince)
	case n.Params.FailingSince != nil:
		return m.At(fmt.Sprintf(words.FailingF, n.Level), *n.Params.FailingSince)
	}
	return ui.Plain(ui.Word(words.Kinds, n.Kind))
}
