package ui

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals // a constant table
var english = Words{
	LanguageTag: "en", LanguageName: "English",
	Product: "BOTIX Developers",
	Skip:    "Skip to the content",
	Copy:    "Copy", CopyOfF: "Copy: %s", Copied: "Copied.",
	Loading: "Loading…", Failed: "That did not work. Try again, or load the page anew.", Close: "Close", Cancel: "Cancel", Saved: "Saved.", Yes: "Yes", No: "No", None: "–",

	Menu: "Menu", Main: "Main",
	Nav: NavWords{
		Monitor: "Monitor", Send: "Send", Configure: "Configure", Learn: "Learn",
		Overview: "Overview", Requests: "Requests", Deliveries: "Webhook deliveries", DeadLetters: "Dead letters", Jobs: "Jobs", Inspector: "Inspector",
		Contacts: "Contacts", Messages: "Messages", Scenarios: "Scenarios", Runs: "Runs",
		Endpoints: "Endpoints", Keys: "API keys", Usage: "Usage and limits", Members: "Members", Docs: "Documentation",
		WaitingF: Forms{One: "%s needs attention", Many: "%s need attention"},
	},
	Project: "Project", Switch: "Switch", Account: "Account", SignedInAs: "Signed in as", SignOut: "Sign out",
	Language: "Language", Theme: "Theme",
	LanguageNames: map[Language]string{English: "English", Russian: "Русский"},
	ThemeNames:    map[string]string{"": "As the system", "light": "Light", "dark": "Dark"},
	Apply:         "Apply", Plan: "Plan:",
	Modes: map[models.Mode]string{models.ModeLive: "Live", models.ModeTest: "Test"},
	Plans: map[string]string{"trial": "Trial", "start": "Start", "business": "Business", "enterprise": "Enterprise"},
	Find:  "Go to", FindHint: "Any id, or an idempotency key",
	Pages: "Pages", Newer: "Newer", Older: "Older",
	FiltersOn: "Filters that are on", ClearAll: "Clear all", RemoveFilterF: "Remove the filter: %s",
	Updated: "Updated at %s", Refresh: "Refresh", TimesInF: "Times are in %s.", ShowAsTable: "Show as a table",
	Documentation: "Documentation",
	From:          "From", NotOver: "not over yet", LastPartial: "The hatched bar is not over yet.",

	Months:      [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	PercentSign: "%", MillisecondsF: "%s ms", SecondsF: "%s s",
	DaysF: "%d d", HoursF: "%d h", MinutesF: "%d min", WholeSecondsF: "%d s",
	KibibytesF: "%s KiB", MebibytesF: "%s MiB", BytesF: Forms{One: "%s byte", Many: "%s bytes"},
}
