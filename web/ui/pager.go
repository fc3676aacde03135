package ui

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// The parameters of a list's address.
const (
	ParamBefore = "before" // the last row of the page before
	ParamTrail  = "trail"  // the "before" of the pages passed
	ParamOpen   = "open"   // the row that is unfolded
)

// maxTrail is over how many pages "Newer" leads back one by one; beyond it leads
// to the newest.
const maxTrail = 40

// Pager is a place in a keyset-paginated list. The filters stand in the address
// beside it and are kept from page to page.
type Pager struct {
	Before string // the keyset: the last id of the page before; empty: the newest page

	path    string
	filters url.Values
	trail   []string
}

// PagerOf reads the place from an address. filters are the names of the list's
// own parameters, which are kept. What valid does not accept as a row's id is
// taken as the newest page.
func PagerOf(at *url.URL, filters []string, valid func(id string) bool) Pager {
	query := at.Query()
	p := Pager{path: at.Path, filters: url.Values{}}
	for _, name := range filters {
		if values := nonEmpty(query[name]); len(values) > 0 {
			p.filters[name] = values
		}
	}
	if !valid(query.Get(ParamBefore)) {
		return p
	}
	p.Before = query.Get(ParamBefore)
	for step := range strings.SplitSeq(query.Get(ParamTrail), ",") {
		if valid(step) && len(p.trail) < maxTrail {
			p.trail = append(p.trail, step)
		}
	}
	return p
}

func nonEmpty(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
}

// Here is the address of this page of the list.
func (p Pager) Here() string { return p.address(p.filters) }

// Newest is the address of the first page under the same filters.
func (p Pager) Newest() string { return Pager{path: p.path}.address(p.filters) }

// With is the address of the newest page with a filter set to another value;
// empty takes the filter away.
func (p Pager) With(name, value string) string {
	filters := url.Values{}
	for kept, values := range p.filters {
		if kept != name {
			filters[kept] = values
		}
	}
	if value != "" {
		filters.Set(name, value)
	}
	return Pager{path: p.path}.address(filters)
}

// Older is the address of the page after the one whose last row is given.
func (p Pager) Older(last string) string {
	next := Pager{Before: last, path: p.path, trail: p.trail}
	if p.Before != "" {
		next.trail = append(slices.Clone(p.trail), p.Before)
	}
	next.trail = next.trail[max(len(next.trail)-maxTrail, 0):]
	return next.address(p.filters)
}

// Newer is the address of the page before this one, empty on the newest.
func (p Pager) Newer() string {
	if p.Before == "" {
		return ""
	}
	last := len(p.trail) - 1
	if last < 0 {
		return p.Newest()
	}
	return Pager{Before: p.trail[last], path: p.path, trail: p.trail[:last]}.address(p.filters)
}

func (p Pager) address(filters url.Values) string {
	if query := p.query(filters); len(query) > 0 {
		return p.path + "?" + query.Encode()
	}
	return p.path
}

func (p Pager) query(filters url.Values) url.Values {
	query := url.Values{}
	maps.Copy(query, filters)
	if p.Before != "" {
		query.Set(ParamBefore, p.Before)
	}
	if len(p.trail) > 0 {
		query.Set(ParamTrail, strings.Join(p.trail, ","))
	}
	return query
}
