package handlers

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
)

// mergePatchType is RFC 7396's own media type; plain JSON is taken as well.
const mergePatchType = "application/merge-patch+json"

// patchContact applies a merge patch: an absent field stays, null clears, an
// object merges name by name.
func patchContact(contact *models.Contact, patch api.ContactUpdate) error {
	patchText(&contact.ExternalID, patch.ExternalID)
	patchText(&contact.Name, patch.Name)
	patchText(&contact.Email, patch.Email)
	patchText(&contact.Phone, patch.Phone)
	if patch.Tags.Set {
		contact.Tags = append([]string{}, patch.Tags.Value...)
	}
	if patch.Identities.Set {
		contact.Identities = patchIdentities(contact.Identities, patch.Identities)
	}
	if patch.Attributes.Set {
		return patchAttributes(contact, patch.Attributes.Null, patch.Attributes.Value)
	}
	return nil
}

func patchText(field **string, patch api.Optional[string]) {
	switch {
	case patch.Null:
		*field = nil
	case patch.Set:
		*field = &patch.Value
	}
}

func patchIdentities(current map[string]string, patch api.Optional[map[string]*string]) map[string]string {
	if patch.Null {
		return map[string]string{}
	}
	merged := maps.Clone(current)
	for channel, address := range patch.Value {
		if address == nil {
			delete(merged, channel)
		} else {
			merged[channel] = *address
		}
	}
	return merged
}

func patchAttributes(contact *models.Contact, null bool, patch jsontext.Value) error {
	if null {
		contact.Attributes = []byte("{}")
		return nil
	}
	// Bounded before it is merged: merging reads what is nested once a level.
	if len(patch) > maxAttributeBytes {
		var found faults
		found.attributes("/attributes", patch)
		return found.err()
	}
	merged, err := mergePatch(contact.Attributes, patch)
	if err != nil {
		return fmt.Errorf("merge attributes: %w", err)
	}
	contact.Attributes = merged
	return nil
}

// mergePatch applies RFC 7396 §2 to two JSON values. What it does not touch
// stays as it was written, digits of numbers included.
func mergePatch(target, patch jsontext.Value) (jsontext.Value, error) {
	if patch.Kind() != '{' {
		return patch, nil
	}
	members, changes := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if target.Kind() == '{' {
		if err := json.Unmarshal(target, &members); err != nil {
			return nil, fmt.Errorf("decode the target: %w", err)
		}
	}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, fmt.Errorf("decode the patch: %w", err)
	}
	for name, change := range changes {
		if change.Kind() == 'n' {
			delete(members, name)
			continue
		}
		merged, err := mergePatch(members[name], change)
		if err != nil {
			return nil, err
		}
		members[name] = merged
	}
	return json.Marshal(members, json.Deterministic(true))
}

// sameJSON reports whether two JSON values differ in nothing but space and the
// order of names. Numbers are compared as they are written.
func sameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	asWritten := []jsontext.Options{jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)}
	return a.Canonicalize(asWritten...) == nil && b.Canonicalize(asWritten...) == nil && bytes.Equal(a, b)
}

// changedFields names the fields that differ, in the order of the alphabet.
func changedFields(before, after *models.Contact) []string {
	changed := []string{}
	for name, same := range map[string]bool{
		"external_id": reflect.DeepEqual(before.ExternalID, after.ExternalID),
		"name":        reflect.DeepEqual(before.Name, after.Name),
		"email":       reflect.DeepEqual(before.Email, after.Email),
		"phone":       reflect.DeepEqual(before.Phone, after.Phone),
		"identities":  maps.Equal(before.Identities, after.Identities),
		"tags":        slices.Equal(before.Tags, after.Tags),
		"attributes":  sameJSON(before.Attributes, after.Attributes),
	} {
		if !same {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}
