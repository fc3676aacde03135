package scenarios

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

// UpdateContact changes the run's contact.
type UpdateContact struct {
	head

	Set        map[string]*string `json:"set"`
	AddTags    []string           `json:"add_tags"`
	RemoveTags []string           `json:"remove_tags"`
	Attributes jsontext.Value     `json:"attributes"` // a merge patch (RFC 7396)
}

// settable are the fields that set may name.
func settable(c *models.Contact) map[string]**string {
	return map[string]**string{"name": &c.Name, "email": &c.Email, "phone": &c.Phone, "external_id": &c.ExternalID}
}

// updateContact checks what can be known without the contact: it is applied to
// an empty one, which must then be valid.
func (p *parser) updateContact(at string, u *UpdateContact) {
	if u.Attributes.Kind() == 'n' {
		u.Attributes = nil
	}
	if len(u.Set) == 0 && len(u.AddTags) == 0 && len(u.RemoveTags) == 0 && u.Attributes == nil {
		p.found.Add(at, models.FieldMissing, "There is nothing to change: a step has set, add_tags, remove_tags or attributes.")
		return
	}
	before := len(p.found)
	fields := settable(&models.Contact{})
	for name := range u.Set {
		if fields[name] == nil {
			p.found.Add(at+"/set/"+models.EscapePointer(shorten(name)), models.FieldUnknown, "set takes name, email, phone and external_id.")
		}
	}
	if u.Attributes != nil {
		p.found.Attributes(at+"/attributes", u.Attributes)
	}
	p.tags(at, u)
	if len(p.found) > before {
		return
	}
	probe := &models.Contact{Attributes: []byte("{}")}
	if err := u.apply(probe); err != nil {
		p.found.Add(at+"/attributes", models.FieldType, "The attributes cannot be merged.")
	}
	for _, fault := range probe.Check() {
		p.found.Add(at+"/set"+fault.Pointer, fault.Code, "%s", fault.Detail)
	}
}

const maxTagChanges = 50

// tags checks the lists of tags with the rules of a contact's.
func (p *parser) tags(at string, u *UpdateContact) {
	for name, tags := range map[string][]string{"add_tags": u.AddTags, "remove_tags": u.RemoveTags} {
		if len(tags) > maxTagChanges {
			p.found.Add(at+"/"+name, models.FieldTooMany, "At most %d tags are allowed.", maxTagChanges)
			continue
		}
		for i, tag := range tags {
			p.found.Tag(at+"/"+name+"/"+strconv.Itoa(i), tag)
		}
	}
}

// apply changes the contact. A tag that is there is not added twice; one that is
// both added and removed is removed.
func (u *UpdateContact) apply(c *models.Contact) error {
	for name, field := range settable(c) {
		if value, named := u.Set[name]; named {
			*field = value
		}
	}
	tags := slices.Clone(c.Tags)
	for _, tag := range u.AddTags {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	c.Tags = slices.DeleteFunc(tags, func(tag string) bool { return slices.Contains(u.RemoveTags, tag) })
	if c.Tags == nil {
		c.Tags = []string{}
	}
	if u.Attributes == nil {
		return nil
	}
	merged, err := models.MergePatch(c.Attributes, u.Attributes)
	if err != nil {
		return fmt.Errorf("merge attributes: %w", err)
	}
	c.Attributes = merged
	return nil
}
