package ui

import "github.com/botix-pro/platform/app/models"

// Words are the texts of the frame around every page, and those that many pages
// share.
type Words struct {
	LanguageTag  string // of <html lang>
	LanguageName string // the language's own name
	Product      string
	Skip         string // to the main part, for keyboards
	Copy         string
	CopyOfF      string // what is copied
	Copied       string
	Loading      string
	Failed       string // a part of the page could not be fetched
	Close        string
	Cancel       string
	Saved        string
	Yes, No      string
	None         string // in place of a value that is missing

	Menu, Main          string // the navigation's button and name
	Nav                 NavWords
	Project, Switch     string
	Account             string
	SignedInAs, SignOut string
	Language, Theme     string
	LanguageNames       map[Language]string
	ThemeNames          map[string]string // "", "light", "dark"
	Apply               string
	Plan                string
	Modes               map[models.Mode]string
	Plans               map[string]string // by plan id; another id is shown as it is
	Find, FindHint      string
	Pages, Newer, Older string
	FiltersOn, ClearAll string
	RemoveFilterF       string // the filter in words
	Updated             string // %s: a time
	Refresh             string
	TimesInF            string // zone
	ShowAsTable         string
	From, NotOver       string // of a chart's table: a bucket's beginning, not complete
	LastPartial         string // a chart's last bucket is not complete
	Documentation       string

	Months                                 [12]string
	PercentSign                            string
	MillisecondsF, SecondsF                string
	DaysF, HoursF, MinutesF, WholeSecondsF string
	KibibytesF, MebibytesF                 string
	BytesF                                 Forms
}

// NavWords name the pages in the navigation, and its groups.
type NavWords struct {
	Monitor, Send, Configure, Learn             string
	Requests, Overview, Deliveries, DeadLetters string
	Jobs, Usage, Inspector                      string
	Contacts, Messages, Scenarios, Runs         string
	Endpoints, Keys, Members, Docs              string
	WaitingF                                    Forms // beside a counter, for screen readers
}

// WordsIn are the shared texts of a language.
func WordsIn(l Language) *Words { return In(l, &english, &russian) }
