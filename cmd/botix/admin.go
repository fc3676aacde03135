package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/botix-pro/platform/app"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/config"
)

// admin is the operators' part of the tool. It reads the same environment as
// the server and prints JSON.
func admin() *cobra.Command {
	command := &cobra.Command{
		Use:   "admin",
		Short: "Manage projects, keys, users and channels, and repair deliveries (reads the server's environment)",
	}
	command.AddCommand(projectCommands(), keyCommands(), userCommands(), archiveCommands(), channelCommands(), sandboxCommands())
	command.AddCommand(deliveryCommands(), deadLetterCommands(), recoverCommand(), jobCommands())
	return command
}

// with runs fn on the database that the environment names and prints what it
// returns, if anything.
func with(fn func(c *cobra.Command, a *app.Admin) (any, error)) func(*cobra.Command, []string) error {
	return withArgs(func(c *cobra.Command, a *app.Admin, _ []string) (any, error) { return fn(c, a) })
}

// withArgs does the same for a command that takes arguments.
func withArgs(fn func(c *cobra.Command, a *app.Admin, args []string) (any, error)) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := config.Load(os.Environ())
		if err != nil {
			return err
		}
		a, err := app.OpenAdmin(c.Context(), cfg)
		if err != nil {
			return err
		}
		result, err := fn(c, a, args)
		if err := errors.Join(err, a.Close()); err != nil || result == nil {
			return err
		}
		return show(c.OutOrStdout(), result)
	}
}

func show(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short}
	command.AddCommand(commands...)
	return command
}

func projectCommands() *cobra.Command {
	var name, mode, plan, project string
	create := &cobra.Command{Use: "create", Short: "Make a project", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		if mode != string(models.ModeLive) && mode != string(models.ModeTest) {
			return nil, fmt.Errorf("--mode is live or test, not %q", mode)
		}
		return a.CreateProject(c.Context(), name, models.Mode(mode), plan)
	})}
	create.Flags().StringVar(&name, "name", "", "what people call it")
	create.Flags().StringVar(&mode, "mode", string(models.ModeLive), "live or test, for its whole life")
	create.Flags().StringVar(&plan, "plan", "start", "trial, start, business or enterprise")
	required(create, "name")

	list := &cobra.Command{Use: "list", Short: "List all projects", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.Projects(c.Context())
	})}

	setPlan := &cobra.Command{Use: "set-plan", Short: "Put a project on another plan", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return nil, a.SetPlan(c.Context(), models.ProjectID(project), plan)
	})}
	setPlan.Flags().StringVar(&project, "project", "", "the project's id")
	setPlan.Flags().StringVar(&plan, "plan", "", "trial, start, business or enterprise")
	required(setPlan, "project", "plan")
	return group("project", "Projects", create, list, setPlan)
}

// shownKey is a key with its secret, which is printed once.
type shownKey struct {
	Secret string `json:"secret"`
	models.APIKey
}

func keyCommands() *cobra.Command {
	var project, name, id string
	var scopes []string
	var expiresIn time.Duration
	create := &cobra.Command{Use: "create", Short: "Make an API key; its secret is printed once", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		granted := make([]models.Scope, len(scopes))
		for i, scope := range scopes {
			granted[i] = models.Scope(scope)
		}
		secret, key, err := a.CreateKey(c.Context(), models.ProjectID(project), name, granted, expiresIn)
		return shownKey{Secret: secret, APIKey: key}, err
	})}
	create.Flags().StringVar(&name, "name", "", "what it is for")
	create.Flags().StringSliceVar(&scopes, "scopes", []string{"read", "write"}, "read, write or both")
	create.Flags().DurationVar(&expiresIn, "expires-in", 0, "lifetime, e.g. 720h; 0 for none")
	required(create, "name")

	list := &cobra.Command{Use: "list", Short: "List a project's keys", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.Keys(c.Context(), models.ProjectID(project))
	})}

	revoke := &cobra.Command{Use: "revoke", Short: "End a key's use, within 5 seconds on every server", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return nil, a.RevokeKey(c.Context(), models.ProjectID(project), id)
	})}
	revoke.Flags().StringVar(&id, "id", "", "the key's id")
	required(revoke, "id")
	ofProject(&project, create, list, revoke)
	return group("key", "API keys", create, list, revoke)
}

func userCommands() *cobra.Command {
	var project, email string
	create := &cobra.Command{
		Use: "create", Short: "Make a dashboard user; the password is read from standard input", Args: cobra.NoArgs,
		RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
			password, err := bufio.NewReader(c.InOrStdin()).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("read the password: %w", err)
			}
			return nil, a.CreateUser(c.Context(), models.ProjectID(project), strings.ToLower(email), strings.TrimRight(password, "\r\n"))
		}),
	}
	create.Flags().StringVar(&project, "project", "", "the project's id")
	create.Flags().StringVar(&email, "email", "", "the address to sign in with")
	required(create, "project", "email")
	return group("user", "Dashboard users", create)
}

func archiveCommands() *cobra.Command {
	var project, before, object string
	list := &cobra.Command{Use: "list", Short: "List a project's archives of dead letters", Args: cobra.NoArgs, RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
		return a.Archives(c.Context(), models.ProjectID(project), before)
	})}
	list.Flags().StringVar(&before, "before", "", "the id of the last archive seen, for those before it")

	restore := &cobra.Command{
		Use: "restore", Short: "Bring an archive's dead letters back, their retention starting anew", Args: cobra.NoArgs,
		RunE: with(func(c *cobra.Command, a *app.Admin) (any, error) {
			return a.RestoreArchive(c.Context(), models.ProjectID(project), object)
		}),
	}
	restore.Flags().StringVar(&object, "object", "", "the object's key, as list shows it")
	required(restore, "object")
	for _, command := range []*cobra.Command{list, restore} {
		command.Flags().StringVar(&project, "project", "", "the project's id")
		required(command, "project")
	}
	return group("archive", "Archived dead letters", list, restore)
}

// required marks flags; the error could only be about a name that is not there.
func required(command *cobra.Command, names ...string) {
	for _, name := range names {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}
