// Package providers is what messages are handed to in tests: a real SMTP server
// and a stand-in for Telegram's Bot API. Both count what they took in, and answer
// as a script says: refuse, ask for patience, be slow, or take something in and
// lose the answer.
package providers
