package middleware

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// KeyUses remembers when keys were last used, so that a request writes nothing
// for it. Flush writes all of it at once.
type KeyUses struct {
	touch func(ctx context.Context, used map[string]time.Time) error
	log   *slog.Logger

	mu   sync.Mutex
	used map[string]time.Time
}

// NewKeyUses returns an empty record that touch will write.
func NewKeyUses(touch func(context.Context, map[string]time.Time) error, log *slog.Logger) *KeyUses {
	return &KeyUses{touch: touch, log: log, used: map[string]time.Time{}}
}

func (u *KeyUses) note(key string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[key] = at
}

// Flush writes what was noted since the last time; what cannot be written is
// kept for the next.
func (u *KeyUses) Flush(ctx context.Context) {
	used := u.take()
	if len(used) == 0 {
		return
	}
	if err := u.touch(ctx, used); err != nil {
		u.log.WarnContext(ctx, "the keys' use could not be recorded", "error", err)
		u.putBack(used)
	}
}

func (u *KeyUses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	used := u.used
	u.used = map[string]time.Time{}
	return used
}

func (u *KeyUses) putBack(used map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.Copy(used, u.used) // what was noted meanwhile is later
	u.used = used
}
