package models

// CurrentAPIVersion is what a new project is pinned to.
const CurrentAPIVersion = "2026-12-01"

// APIVersions lists the versions that X-BOTIX-Version may name (contract §1).
func APIVersions() []string { return []string{CurrentAPIVersion} }
