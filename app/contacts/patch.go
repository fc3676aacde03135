package contacts

import (
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
)

// Patch applies a merge patch (RFC 7396): an absent field stays, null clears, an
// object merges name by name.
func Patch(contact *models.Contact, patch api.ContactUpdate) error {
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
	if len(patch) > models.MaxAttributeBytes {
		var found models.Faults
		found.Attributes("/attributes", patch)
		return found.Err()
	}
	merged, err := models.MergePatch(contact.Attributes, patch)
	if err != nil {
		return fmt.Errorf("merge attributes: %w", err)
	}
	contact.Attributes = merged
	return nil
}
