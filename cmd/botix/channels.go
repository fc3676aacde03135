package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/botix-pro/platform/app"
	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
)

const channelExample = `  echo '{"host": "smtp.example.com", "tls": "starttls", "username": "u", "password": "p",
         "from": "Shop <shop@example.com>", "subject": "News from the shop"}' |
    botix admin channel set --project prj_… --channel email
  echo '{"token": "123456:ABC-DEF"}' | botix admin channel set --project prj_… --channel telegram`

// maxSettings bounds what is read from standard input.
const maxSettings = 64 << 10

func channelCommands() *cobra.Command {
	var project, channel string
	set := &cobra.Command{
		Use: "set", Short: "Set a channel up; its settings, a JSON object, are read from standard input", Example: channelExample,
		Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
			raw, err := io.ReadAll(io.LimitReader(c.InOrStdin(), maxSettings))
			if err != nil {
				return nil, fmt.Errorf("read the settings: %w", err)
			}
			warning, err := a.SetChannel(c.Context(), models.ProjectID(project), models.Channel(channel), raw)
			if warning != "" {
				fmt.Fprintln(c.ErrOrStderr(), "warning:", warning)
			}
			return nil, err
		}),
	}
	list := &cobra.Command{Use: "list", Short: "List a project's channels, without their secrets", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.Channels(c.Context(), models.ProjectID(project))
	})}
	remove := &cobra.Command{Use: "remove", Short: "Take a channel's settings away", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return nil, a.RemoveChannel(c.Context(), models.ProjectID(project), models.Channel(channel))
	})}
	for _, command := range []*cobra.Command{set, remove} {
		command.Flags().StringVar(&channel, "channel", "", "email, telegram or sandbox")
		required(command, "channel")
	}
	ofProject(&project, set, list, remove)
	return group("channel", "Channels of messages", set, list, remove)
}

func sandboxCommands() *cobra.Command {
	var project, behaviour string
	var settings messages.SandboxSettings
	var delay time.Duration
	var limit int
	set := &cobra.Command{Use: "set", Short: "Tell the sandbox what to do with messages", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		settings.Behaviour, settings.DelayMS = messages.Behaviour(behaviour), int(delay.Milliseconds())
		return nil, a.SetSandbox(c.Context(), models.ProjectID(project), settings)
	})}
	set.Flags().StringVar(&behaviour, "behaviour", string(messages.SandboxAccept), "accept, refuse, fail or lose_answer")
	set.Flags().DurationVar(&delay, "delay", 0, "before every answer, e.g. 2s")
	set.Flags().BoolVar(&settings.Deliver, "deliver", false, "what it takes in counts as delivered")
	set.Flags().BoolVar(&settings.Blind, "blind", false, "behave like e-mail: a lost answer leaves a message unknown")

	outbox := &cobra.Command{Use: "outbox", Short: "List what the sandbox took in, newest first", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.Outbox(c.Context(), models.ProjectID(project), limit)
	})}
	outbox.Flags().IntVar(&limit, "limit", 25, "rows")
	ofProject(&project, set, outbox)
	return group("sandbox", "The built-in channel that sends nowhere", set, outbox)
}

// ofProject gives commands the flag that names the project.
func ofProject(project *string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.Flags().StringVar(project, "project", "", "the project's id")
		required(command, "project")
	}
}
