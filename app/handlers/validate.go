package handlers

import "github.com/botix-pro/platform/app/models"

// maxOverlapHours is how long a secret may go on signing beside the next one.
const maxOverlapHours = 168

// faults collects what is wrong with a request, so that a caller learns all of
// it at once.
type faults struct{ models.Faults }

func (f *faults) add(pointer, code, format string, args ...any) {
	f.Add(pointer, code, format, args...)
}

// err returns VALIDATION_FAILED, or nil if nothing was found.
func (f faults) err() error { return f.Err() }

func (f *faults) optionalRange(pointer string, value *int, low, high int) {
	if value != nil && (*value < low || *value > high) {
		f.add(pointer, fieldRange, "The value must be %d to %d.", low, high)
	}
}
