package dashboard

import "github.com/botix-pro/platform/web/ui"

// words are the texts of the dashboard's own pages: signing in and errors.
type words struct {
	SignIn signInWords
	Errors errorWords
}

type signInWords struct {
	Title, Email, Password, Show, Hide, Submit string
	Wrong                                      string
	Throttled                                  string // %s: a time
}

type errorWords struct {
	NotFound, Internal, OtherOrigin, BadForm, NoProject errorText
	RequestID, Back                                     string
}

// errorText is one error page.
type errorText struct{ Title, Text string }

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }

func (w *words) refused(why refusal) errorText {
	switch why {
	case refusedForm:
		return w.Errors.BadForm
	case refusedNoProject:
		return w.Errors.NoProject
	case refusedOrigin:
	}
	return w.Errors.OtherOrigin
}
