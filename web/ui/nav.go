package ui

// Root is where the dashboard begins (contract §8).
const Root = "/developers"

// The navigation's keys: which page is shown.
const (
	NavOverview    = "overview"
	NavDeliveries  = "deliveries"
	NavDeadLetters = "dead-letters"
	NavRequests    = "requests"
	NavJobs        = "jobs"
	NavInspector   = "inspector"
	NavContacts    = "contacts"
	NavMessages    = "messages"
	NavScenarios   = "scenarios"
	NavRuns        = "runs"
	NavEndpoints   = "endpoints"
	NavKeys        = "keys"
	NavUsage       = "usage"
	NavMembers     = "members"
)

// NavGroup is a part of the navigation under a heading.
type NavGroup struct {
	Name  string
	Items []NavItem
}

// NavItem is a link of the navigation.
type NavItem struct {
	Name, Address string
	Current       bool
	Count         string // how many wait for a person; empty: none
	CountName     string // the same in a sentence, for screen readers
}

// navigation is the list of pages; keys are their paths below [Root].
func navigation(v *Visit, active string) []NavGroup {
	words := WordsIn(v.Locale.Language).Nav
	type entry struct{ key, name string }
	item := func(e entry) NavItem {
		link := NavItem{Name: e.name, Address: Root + "/" + e.key, Current: e.key == active}
		if waiting := v.Member.Attention[e.key]; waiting > 0 {
			link.Count, link.CountName = v.Locale.Number(waiting), v.Locale.Count(waiting, words.WaitingF)
		}
		return link
	}
	group := func(name string, entries ...entry) NavGroup {
		made := NavGroup{Name: name}
		for _, e := range entries {
			made.Items = append(made.Items, item(e))
		}
		return made
	}
	return []NavGroup{
		group(words.Monitor, entry{NavOverview, words.Overview}, entry{NavRequests, words.Requests}, entry{NavDeliveries, words.Deliveries}, entry{NavDeadLetters, words.DeadLetters},
			entry{NavInspector, words.Inspector}, entry{NavJobs, words.Jobs}),
		group(words.Send, entry{NavContacts, words.Contacts}, entry{NavMessages, words.Messages},
			entry{NavScenarios, words.Scenarios}, entry{NavRuns, words.Runs}),
		group(words.Configure, entry{NavEndpoints, words.Endpoints}, entry{NavKeys, words.Keys}, entry{NavUsage, words.Usage},
			entry{NavMembers, words.Members}),
		{Name: words.Learn, Items: []NavItem{{Name: words.Docs, Address: "/docs"}}},
	}
}
