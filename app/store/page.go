package store

import "gorm.io/gorm"

// Page asks for a part of a list that is ordered by identifier, newest first.
// Identifiers begin with their time, so rows added meanwhile never shift a page.
type Page struct {
	Before string // the last identifier of the page before; empty: from the newest
	Limit  int    // rows at most; ask for one more than is shown to learn whether there are more
}

// newestFirst narrows a query whose rows have an id.
func (p Page) newestFirst(q *gorm.DB) *gorm.DB {
	if p.Before != "" {
		q = q.Where("id < ?", p.Before)
	}
	return q.Order("id DESC").Limit(p.Limit)
}
