package contacts

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

// difference is the merge patch (RFC 7396) that leads from one JSON value to
// another: null for each name that is gone. A null in the value it leads to takes
// its name away, as it does in any merge patch.
func difference(from, to jsontext.Value) jsontext.Value {
	if from.Kind() != '{' || to.Kind() != '{' {
		return to
	}
	var before, after map[string]jsontext.Value
	if json.Unmarshal(from, &before) != nil || json.Unmarshal(to, &after) != nil {
		return to
	}
	changes := map[string]jsontext.Value{}
	for name := range before {
		if _, kept := after[name]; !kept {
			changes[name] = jsontext.Value("null")
		}
	}
	for name, value := range after {
		if old, there := before[name]; !there || !models.SameJSON(old, value) {
			changes[name] = difference(old, value)
		}
	}
	patch, err := json.Marshal(changes, json.Deterministic(true))
	if err != nil {
		return to
	}
	return patch
}
