package store

import "time"

// Misjudge makes the store think that the database's clock is off by so much
// more than it is.
func (s *Store) Misjudge(by time.Duration) {
	wrong := *s.known.Load()
	wrong.ahead += by
	s.known.Store(&wrong)
}

// Ahead is how far the database's clock is taken to be ahead after answers that
// each said its, to a question sent and an answer received at these times.
func Ahead(answers ...[3]time.Time) time.Duration {
	var k *knowledge
	for _, a := range answers {
		k = learned(k, "the same", a[0], a[1], a[2])
	}
	return k.ahead
}

// Forget makes the store know nothing about the database.
func (s *Store) Forget() { s.known.Store(nil) }
