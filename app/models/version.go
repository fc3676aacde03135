package models

// CurrentAPIVersion is what a new project is pinned to: the newest version of
// the [Changelog].
const CurrentAPIVersion = "2026-12-01"

// APIVersion is a version of the API and what it changed.
type APIVersion struct {
	Version string // the date from which it exists, YYYY-MM-DD
	Changes []APIChange
}

// APIChange is one thing that a version changed.
type APIChange struct {
	Kind APIChangeKind
	Text string // a sentence for the people who call the API
}

// APIChangeKind is what a change means for who calls the API.
type APIChangeKind string

// The kinds of changes.
const (
	ChangeAdded      APIChangeKind = "added"
	ChangeChanged    APIChangeKind = "changed"
	ChangeDeprecated APIChangeKind = "deprecated"
	ChangeRemoved    APIChangeKind = "removed"
)

// Changelog returns every version of the API, the newest first. The page
// /docs/changelog is rendered from it, and X-BOTIX-Version may name what is in it
// (contract §1).
func Changelog() []APIVersion {
	return []APIVersion{
		{Version: CurrentAPIVersion, Changes: []APIChange{
			{Kind: ChangeAdded, Text: "The first version: contacts one by one and in bulk, messages, scenarios and their runs, events, webhook endpoints, deliveries, dead letters and recoveries, copies of deliveries to the inspector, idempotency keys."},
		}},
	}
}

// APIVersions lists the versions that X-BOTIX-Version may name.
func APIVersions() []string {
	var versions []string
	for _, entry := range Changelog() {
		versions = append(versions, entry.Version)
	}
	return versions
}
