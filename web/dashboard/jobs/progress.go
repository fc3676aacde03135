package jobs

import (
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// stalledAfter is how long a job may move nothing before it is called stalled.
const stalledAfter = time.Minute

func stalled(j *models.Job, now time.Time) bool {
	return !j.Status.Ended() && now.Sub(j.UpdatedAt) > stalledAfter
}

var pills = map[models.JobStatus]string{
	models.JobQueued: ui.PillPending, models.JobRunning: ui.PillRunning, models.JobCompleted: ui.PillDelivered,
	models.JobFailed: ui.PillFailed, models.JobCancelled: ui.PillDead,
}

// state is a job's state; standing still, and being stopped, are states of their
// own.
func state(v *ui.Visit, j *models.Job) ui.Pill {
	w := wordsIn(v)
	switch {
	case stalled(j, v.Now):
		return ui.Pill{Kind: ui.PillRetrying, Word: w.Stalled}
	case j.CancelRequested && !j.Status.Ended():
		return ui.Pill{Kind: ui.PillRunning, Word: w.Stopping}
	}
	return ui.Pill{Kind: pills[j.Status], Word: ui.Word(w.States, j.Status)}
}

// progress is how far a job is.
func progress(v *ui.Visit, j *models.Job) progressView {
	w := wordsIn(v)
	view := progressView{
		Texts: w, ID: j.ID, Name: ui.Word(w.Types, j.Type), Address: Path + "/" + j.ID, State: state(v, j), Begun: v.Locale.Time(j.CreatedAt),
	}
	done, total := int64(j.Processed), int64(j.Total)
	view.Bar = ui.Progress{
		ID: "progress-" + j.ID, Name: fmt.Sprintf(w.ProgressOfF, view.Name), Value: done, Max: total,
		Text: fmt.Sprintf(w.DoneF, v.Locale.Number(done), v.Locale.Number(total), v.Locale.Percent(done, total)),
	}
	if total == 0 {
		view.Bar.Text = fmt.Sprintf(w.DoneUnknownF, v.Locale.Number(done))
	}
	if j.Failed > 0 {
		view.Bar.Text += " · " + v.Locale.Count(int64(j.Failed), w.FailedF)
	}
	if pace := j.Pace(); pace > 0 {
		view.Rate = fmt.Sprintf(w.RateF, v.Locale.Decimal(pace, 1))
	}
	if end := j.EndsAbout(); end != nil && !stalled(j, v.Now) && end.After(v.Now) {
		view.Ends = v.Locale.At(w.Ends, *end)
	}
	if !j.CancelRequested && !j.Status.Ended() {
		confirm := cancellation(v, j)
		view.Cancel = &confirm
	}
	return view
}

func cancellation(v *ui.Visit, j *models.Job) ui.Confirm {
	w := wordsIn(v)
	address := Path + "/" + j.ID + "/cancel"
	return ui.Confirm{
		ID: "cancel-" + j.ID, Open: w.Stop, Address: address, Title: w.StopTitle, Text: w.StopText,
		Form: ui.FormView{Action: address, Submit: w.Stop, Danger: true, Back: &ui.Link{Name: w.GoOn, Address: Path + "/" + j.ID}},
	}
}
