package jobs

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in
// F is a format; Ends has a %s for a time.
type words struct {
	Title, Lead, Job, Type                               string
	EmptyTitle, EmptyText                                string
	UnderWay, Ended                                      string
	Types                                                map[models.JobType]string
	States                                               map[models.JobStatus]string
	Rows                                                 map[models.RowStatus]string
	Advice                                               map[models.JobStatus]string
	Stalled, StalledF, Stopping, StoppingAdvice          string
	ProgressOfF, DoneF, DoneUnknownF, RateF, Ends        string
	FailedF                                              ui.Forms
	Total, Processed, Succeeded, Failed, Moved, Endpoint string
	Params, Results, Row, Outcome, Why, NoResults        string
	RowsBefore, RowsAfter                                string
	Stop, GoOn, StopTitle, StopText, Stopped, Began      string
}

func wordsIn(v *ui.Visit) *words { return ui.In(v.Locale.Language, &english, &russian) }
