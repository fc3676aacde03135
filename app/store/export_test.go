package store

import "time"

// Misjudge makes the store think that the database's clock is off by so much
// more than it is.
func (s *Store) Misjudge(by time.Duration) {
	wrong := *s.known.Load()
	wrong.ahead += by
	s.known.Store(&wrong)
}

// Forget makes the store know nothing about the database.
func (s *Store) Forget() { s.known.Store(nil) }
