package dashboard

import (
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// maxNotices is how many notices stand above the list; dismissing one brings the
// next.
const maxNotices = 10

// noticeView is one notice above the list of attempts.
type noticeView struct {
	Kind    models.NoticeKind // the colour
	Text    *sentence
	URL     string // of the endpoint
	At      instant
	Dismiss string // where the form that takes it away goes
	Name    string // of that form's button
}

// notices are what the project's members were told and have not dismissed.
func (d *Dashboard) notices(r *http.Request, project models.ProjectID) ([]noticeView, error) {
	list, err := d.queries.Notices(r.Context(), project, maxNotices)
	if err != nil {
		return nil, fmt.Errorf("list the notices: %w", err)
	}
	views := make([]noticeView, len(list))
	for i, n := range list {
		views[i] = noticeView{
			Kind: n.Kind, Text: d.words.notice(n), URL: visible(n.Params.URL), At: d.words.instant(n.CreatedAt),
			Dismiss: pathNotices + n.ID + "/dismiss", Name: fmt.Sprintf(d.words.Notices.DismissF, visible(n.Params.URL)),
		}
	}
	return views, nil
}

// dismissNotice takes a notice away, for all of the project's members.
func (d *Dashboard) dismissNotice(r *http.Request, m member) (reply, error) {
	id := r.PathValue("id")
	if !models.ValidID(models.PrefixNotice, id) {
		return reply{}, store.ErrNotFound
	}
	if err := d.queries.DismissNotice(r.Context(), m.Project.ID, id); err != nil {
		return reply{}, fmt.Errorf("dismiss a notice: %w", err)
	}
	return redirect(pathDeliveries), nil
}

func (m *messages) notice(n models.Notice) *sentence {
	words := m.Notices
	switch {
	case n.Kind == models.NoticeRecovered:
		return &sentence{Before: words.Recovered}
	case n.Kind == models.NoticeDisabled && n.Params.Reason == models.DisabledGone:
		return &sentence{Before: words.Gone}
	case n.Kind == models.NoticeDisabled && n.Params.FailingSince != nil:
		return m.at(words.Disabled, *n.Params.FailingSince)
	case n.Params.FailingSince != nil:
		return m.at(fmt.Sprintf(words.FailingF, n.Level), *n.Params.FailingSince)
	}
	return &sentence{Before: word(words.Kinds, n.Kind)}
}
