package models

import "slices"

// Channel is a way on which messages leave.
type Channel string

// The channels, contract §6.
const (
	// ChannelSandbox is built in: what it takes goes nowhere. A test project's
	// messages all go there.
	ChannelSandbox  Channel = "sandbox"
	ChannelEmail    Channel = "email"
	ChannelTelegram Channel = "telegram"
)

// Channels lists every channel.
func Channels() []Channel { return []Channel{ChannelSandbox, ChannelEmail, ChannelTelegram} }

// Valid reports whether there is such a channel.
func (c Channel) Valid() bool { return slices.Contains(Channels(), c) }

// For returns the channel that a message of a project goes out on when it names
// c: a test project reaches nobody.
func (c Channel) For(mode Mode) Channel {
	if mode == ModeTest {
		return ChannelSandbox
	}
	return c
}

// AddressOf returns the contact's address on the channel, "" if it has none.
// The sandbox takes any contact.
func (c Channel) AddressOf(contact *Contact) string {
	switch c {
	case ChannelEmail:
		return optional(contact.Email)
	case ChannelTelegram:
		return contact.Identities[string(ChannelTelegram)]
	case ChannelSandbox:
		return contact.ID
	default:
		return ""
	}
}

// maxText is how many characters a message on the channel may have.
func (c Channel) maxText() int {
	if c == ChannelTelegram {
		return MaxTelegramText
	}
	return MaxMessageText
}

func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
