package models

import "time"

// Archive is one object in the archive's bucket: dead letters of one project.
type Archive struct {
	ProjectID ProjectID  `json:"project_id"`
	ID        string     `json:"id"`
	Object    string     `json:"object"` // its key in the bucket
	Letters   int        `json:"letters"`
	FirstAt   *time.Time `json:"first_at"` // the oldest dead letter in it
	LastAt    *time.Time `json:"last_at"`  // the newest
	CreatedAt time.Time  `json:"created_at"`
}
