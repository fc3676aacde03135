package models

import "time"

// Contact is a person or company a project talks to (contract §8).
type Contact struct {
	ProjectID  ProjectID
	ID         string
	ExternalID *string // the project's own identifier, unique within the project
	Name       *string
	Email      *string
	Phone      *string           // E.164
	Identities map[string]string `gorm:"serializer:json"` // channel → address there
	Tags       []string          `gorm:"serializer:json"`
	Attributes []byte            // a JSON object, byte for byte as it was given
	Version    int64             // 1, and one more with every change: the ETag
	CreatedAt  time.Time
	UpdatedAt  time.Time
}
