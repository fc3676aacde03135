package models

import "time"

// NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notices.
const (
	NoticeFailing   NoticeKind = "endpoint_failing"   // on the way to being disabled
	NoticeRecovered NoticeKind = "endpoint_recovered" // a success after a notice
	NoticeDisabled  NoticeKind = "endpoint_disabled"
)

// Notice tells a project's members about one of its endpoints, once: on the
// dashboard until it is dismissed, and by mail where SMTP is set.
type Notice struct {
	ProjectID  ProjectID
	ID         string
	Kind       NoticeKind
	EndpointID string
	Level      int          // per cent of the way; see [NoticeLevels]
	Params     NoticeParams `gorm:"serializer:json"`
	CreatedAt  time.Time
}

// NoticeParams is what a notice's text is made of, in whatever language.
type NoticeParams struct {
	URL          string        `json:"url"`
	Reason       DisableReason `json:"reason,omitempty"` // of a disabled one
	FailingSince *time.Time    `json:"failing_since,omitempty"`
	Failures     int           `json:"failures,omitempty"`
}

// NoticeMail is one notice on its way to one person.
type NoticeMail struct {
	Notice

	Project string // its name
	Email   string
	Attempt int // from 1: which try this is
}
