package app

import (
	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/egress"
)

// newMessageWorker sends messages over every channel that there is.
func newMessageWorker(b *base, guard *egress.Guard, hint func([]store.Lane)) *messages.Worker {
	return messages.NewWorker(messages.Config{
		Store: b.store, Hint: hint, Log: b.log, Schedule: b.cfg.MessageRetrySchedule,
		Channels: map[models.Channel]messages.Channel{
			models.ChannelSandbox:  messages.NewSandbox(b.store),
			models.ChannelEmail:    messages.NewEmail(guard, nil, b.clock.Now),
			models.ChannelTelegram: messages.NewTelegram(guard.Transport(egress.TransportConfig{})),
		},
	})
}
