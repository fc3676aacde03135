package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/botix-pro/platform/app"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// rowsShown is how much a list prints unless told otherwise.
const rowsShown = 25

// onProject gives commands the project that they are about.
func onProject(project *string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.Flags().StringVar(project, "project", "", "the project's id")
		required(command, "project")
	}
}

func deliveryCommands() *cobra.Command {
	var project string
	retry := &cobra.Command{
		Use: "retry DELIVERY", Short: "Send a delivery again, from the first step", Args: cobra.ExactArgs(1),
		RunE: withArgs(func(c *cobra.Command, a *app.Admin, args []string) (any, error) {
			return a.RetryDelivery(c.Context(), models.ProjectID(project), args[0])
		}),
	}
	onProject(&project, retry)
	return group("deliveries", "Webhook deliveries", retry)
}

func deadLetterCommands() *cobra.Command {
	var project, endpoint, cause string
	var limit int
	list := &cobra.Command{Use: "list", Short: "List dead letters, newest first", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		filter := store.DeadLetterFilter{EndpointID: given(endpoint), Cause: given(cause)}
		return a.DeadLetters(c.Context(), models.ProjectID(project), filter, limit)
	})}
	list.Flags().StringVar(&endpoint, "endpoint", "", "only this endpoint's")
	list.Flags().StringVar(&cause, "cause", "", "only with this cause, e.g. http_401")
	list.Flags().IntVar(&limit, "limit", rowsShown, "how many at most")

	groups := &cobra.Command{Use: "groups", Short: "Count dead letters by endpoint and cause", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.DeadLetterGroups(c.Context(), models.ProjectID(project))
	})}
	onProject(&project, list, groups)
	return group("dead-letters", "Deliveries that were given up", list, groups)
}

func recoverCommand() *cobra.Command {
	var project, endpoint, since, until, cause string
	var rate int
	var dryRun bool
	command := &cobra.Command{
		Use: "recover", Short: "Send again what an endpoint missed", Args: cobra.NoArgs,
		RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
			recovery := models.Recovery{EndpointID: endpoint}
			var errSince, errUntil error
			recovery.Since, errSince = timeFlag("since", since)
			recovery.Until, errUntil = timeFlag("until", until)
			if err := errors.Join(errSince, errUntil); err != nil {
				return nil, err
			}
			if cause != "" {
				recovery.Cause = (*models.DeadLetterCause)(&cause)
			}
			if rate > 0 {
				recovery.RatePerSecond = &rate
			}
			if dryRun {
				count, err := a.CountRecovery(c.Context(), models.ProjectID(project), recovery)
				return map[string]int{"count": count}, err
			}
			return a.Recover(c.Context(), models.ProjectID(project), recovery)
		}),
	}
	onProject(&project, command)
	flags := command.Flags()
	flags.StringVar(&endpoint, "endpoint", "", "the endpoint's id")
	flags.StringVar(&since, "since", "", "events created at this time or later, RFC 3339; from the beginning unless given")
	flags.StringVar(&until, "until", "", "events created before this time, RFC 3339; until now unless given")
	flags.StringVar(&cause, "cause", "", "only dead letters with this cause, e.g. http_401")
	flags.IntVar(&rate, "rate", 0, "how many a second at most; 0 leaves it to the endpoint's own limits")
	flags.BoolVar(&dryRun, "dry-run", false, "only count")
	required(command, "endpoint")
	return command
}

func jobCommands() *cobra.Command {
	var project string
	var limit int
	list := &cobra.Command{Use: "list", Short: "List jobs, newest first", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.Jobs(c.Context(), models.ProjectID(project), limit)
	})}
	list.Flags().IntVar(&limit, "limit", rowsShown, "how many at most")
	one := &cobra.Command{Use: "show JOB", Short: "Show a job's progress", Args: cobra.ExactArgs(1), RunE: withArgs(func(c *cobra.Command, a *app.Admin, args []string) (any, error) {
		return a.Job(c.Context(), models.ProjectID(project), args[0])
	})}
	cancel := &cobra.Command{Use: "cancel JOB", Short: "Stop a job before its next batch", Args: cobra.ExactArgs(1), RunE: withArgs(func(c *cobra.Command, a *app.Admin, args []string) (any, error) {
		return a.CancelJob(c.Context(), models.ProjectID(project), args[0])
	})}
	onProject(&project, list, one, cancel)
	return group("jobs", "Long work in the background", list, one, cancel)
}

// given is a flag's value, nil when it was left empty.
func given(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

func timeFlag(name, value string) (*time.Time, error) {
	if value == "" {
		return nil, nil //nolint:nilnil // not given
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return nil, fmt.Errorf("--%s is an RFC 3339 time, e.g. 2026-12-01T10:00:00Z: %w", name, err)
	}
	return &at, nil
}
