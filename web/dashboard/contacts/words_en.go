package contacts

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Contacts", Lead: "The people and companies your project talks to, newest first.", One: "Contact",
	Name: "Name", Email: "E-mail", Phone: "Phone", ExternalID: "External id", Tag: "Tag", Tags: "Tags", UpdatedSince: "Updated since",
	Identities: "Identities", Attributes: "Attributes", NoTags: "No tags.", NoIdentities: "No addresses on other channels.",
	EmptyTitle: "No contacts yet", EmptyText: "Make one here, with POST /contacts, or many at once with POST /contacts/bulk.",
	New: "New contact", NewLead: "Every field may stay empty. Your endpoints are told by contact.created.", Create: "Create", Created: "The contact was created; contact.created is on its way.",
	Edit: "Edit", EditTitle: "Edit the contact", EditLead: "What you empty is cleared. Your endpoints are told by contact.updated which fields changed.",
	Save: "Save", Saved: "Saved.",
	Conflict: "This contact was changed after you opened the form. What you typed is kept below, beside the present values. Save again to put yours in their place.",
	NowF:     "It is now: %s",
	Delete:   "Delete", DeleteTitleF: "Delete %s?",
	DeleteText: "The contact is gone for good, and runs that wait with it end. Its messages and events stay. Your endpoints are told by contact.deleted.",
	Deleted:    "The contact was deleted; contact.deleted is on its way.",
	Send:       "Send a message", AllMessages: "All messages", AllRuns: "All runs",
	EventsLead: "Of its creation and of its latest change.",
	PhoneHint:  "In E.164: +, country code, number.", ExternalIDHint: "Your own identifier, unique in the project.",
	TagsHint: "One a line, 50 at most.", IdentitiesHint: "One a line: telegram = 123456789",
	AttributesHint: "A JSON object. A null takes its name away.",
}
