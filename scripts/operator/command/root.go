// Package command implements the commands that people type, one file per command.
package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/tokenfile"
)

// An Environment is the surroundings in which the command runs.
type Environment struct {
	Terminal
	Getenv func(string) string
	// Files keep the profiles and sessions. Cache is a directory for data that can be lost.
	Files login.Files
	Cache string
	HTTP  *http.Client
	// Disk holds the token files.
	Disk tokenfile.Disk
	// Open shows an address in the person's browser.
	Open func(ctx context.Context, address string) error
	// Patience limits the total wait of a call for the service, and Reach the time that it tries to reach it.
	Patience, Reach time.Duration
	// After calls a function after a time, unless it is stopped first.
	After func(d time.Duration, do func()) (stop func())
}

// Process is the environment of this process.
func Process() Environment {
	dir, cache := os.Getenv("WAVEGATE_CONFIG_DIR"), ""
	if dir == "" {
		if home, err := os.UserConfigDir(); err == nil {
			dir = filepath.Join(home, "wavegate")
		}
	}
	if home, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(home, "wavegate")
	}
	if d := os.Getenv("WAVEGATE_CONFIG_DIR"); d != "" {
		cache = filepath.Join(d, "cache")
	}
	return Environment{
		Terminal: standard(), Getenv: os.Getenv, Files: login.Files{Dir: dir}, Cache: cache,
		HTTP: &http.Client{Timeout: 35 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Open: browse, Patience: 15 * time.Second, Reach: 2 * time.Second,
		After: func(d time.Duration, do func()) func() {
			timer := time.AfterFunc(d, do)
			return func() { timer.Stop() }
		},
	}
}

// An app is one run of the command.
type app struct {
	Environment
	profile string
	json    bool
	yes     bool
	confirm string
	plain   bool
	noColor bool
	quiet   bool
	// ran is set once the arguments were understood.
	ran bool
	// service is the client of the service.
	service *api.Client
	// failed is the reason of the last retry.
	mu     sync.Mutex
	failed string
}

// Run runs the command and returns its exit code.
func Run(ctx context.Context, args []string, e Environment) int {
	e.Err = &shared{to: e.Err} // notes about slow calls are written concurrently
	a := &app{Environment: e}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return Done
	}
	code := codeOf(err)
	if !a.ran {
		code = Misused
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		code = Interrupted
	}
	if doc := document(err); a.json && doc != nil {
		fmt.Fprintf(e.Err, "%s\n", doc)
		return code
	}
	text := a.said(ctx, err)
	if operation, is := forbidden(err); is {
		text = a.mayDo(operation)
	}
	if code == Interrupted {
		text = strings.Replace(text, context.Canceled.Error(), "interrupted", 1)
	}
	fmt.Fprintf(e.Err, "wavegate: %s\n", printable(text))
	switch {
	case code == SignIn && errors.Is(err, login.ErrSignIn) && e.Getenv("WAVEGATE_TOKEN") != "":
		fmt.Fprintln(e.Err, "wavegate: WAVEGATE_TOKEN is no longer accepted")
	case !a.ran:
		fmt.Fprintln(e.Err, usage(cmd))
	case hint(err) != "":
		fmt.Fprintln(e.Err, "wavegate: "+hint(err))
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "wavegate", Short: "Bring releases to boxes, and see how they get on",
		Long: "Bring releases to boxes, and see how they get on. A CHANNEL is an edge type and a channel, such as gateway-x/stable.\n\n" +
			"Exit codes:\n" +
			"    0  done, or nothing to do\n" +
			"    1  the service refused\n" +
			"    2  the command was used incorrectly, or the change was not confirmed\n" +
			"    3  a rollout ended, but not in the way that was waited for\n" +
			"    4  you have to sign in, or your role does not allow this\n" +
			"    5  the service cannot be reached, or the outcome is unknown\n" +
			"  130  interrupted",
		SilenceErrors: true, SilenceUsage: true, Args: known, RunE: help,
	}
	root.SetFlagErrorFunc(unknownFlag)
	f := root.PersistentFlags()
	f.StringVar(&a.profile, "profile", "", "the service to use, by the name given at login; by default, the default one")
	f.BoolVar(&a.json, "json", false, "print one JSON document, or with watch one per line; problem documents go to stderr")
	f.BoolVarP(&a.yes, "yes", "y", false, "answer yes to yes-or-no questions")
	f.StringVar(&a.confirm, "confirm", "", "the `name` that a question asks for")
	f.BoolVar(&a.plain, "plain", false, "print lines, and never redraw")
	f.BoolVar(&a.noColor, "no-color", a.Getenv("NO_COLOR") != "", "use no colour")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "do not report what was done")
	for _, g := range []struct {
		title string
		of    []*cobra.Command
	}{
		{"See what is going on:", []*cobra.Command{a.status(), a.watch(), a.wait(), a.rollouts(), a.versions(), a.boxes(), a.why(), a.log()}},
		{"Bring versions to boxes:", []*cobra.Command{a.publish(), a.start(), a.promote(), a.approve(), a.complete(), a.policy()}},
		{"Stop, and go back:", []*cobra.Command{a.halt(), a.resume(), a.sendBack(), a.freeze(), a.unfreeze()}},
		{"Boxes:", []*cobra.Command{a.box(), a.register(), a.enrol(), a.tokens(), a.gatewayToken(), a.retire()}},
		{"Factories and production methods:", []*cobra.Command{a.factories(), a.machines(), a.methods()}},
		{"You, and your organization:", []*cobra.Command{a.login(), a.logout(), a.whoami(), a.limit(), a.export()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.of {
			cmd.GroupID = g.title
		}
		root.AddCommand(g.of...)
	}
	root.AddCommand(a.version())
	a.completed(root)
	return root
}

// run makes a command's function. Errors in it are not errors of usage.
func (a *app) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.ran = true
		return do(cmd.Context(), args)
	}
}

// client calls the service of the profile. WAVEGATE_TOKEN and WAVEGATE_URL take precedence.
func (a *app) client() (*api.Client, error) {
	c := &api.Client{HTTP: a.HTTP, Patience: a.Patience, Reach: a.Reach}
	address, token := a.Getenv("WAVEGATE_URL"), a.Getenv("WAVEGATE_TOKEN")
	if address == "" || token == "" {
		name, profile, err := a.Files.Profile(a.profile)
		if err != nil {
			return nil, err
		}
		if address != "" {
			return nil, fail(Misused, "WAVEGATE_URL needs WAVEGATE_TOKEN; your session is for another service")
		}
		address = profile.URL
		c.Token = a.Files.Tokens(a.HTTP, name)
	}
	if token != "" {
		c.Token = func(_ context.Context, renew bool) (string, error) {
			if renew {
				return "", login.ErrSignIn
			}
			return token, nil
		}
	}
	var err error
	if c.URL, err = login.Service(address); err != nil {
		return nil, fail(Misused, "%w", err)
	}
	c.Trying, c.Failed = func() func() { return a.slow(c.URL) }, a.again
	a.service = c
	return c, nil
}

// channelArg returns the first argument, which must be the name of a channel.
func channelArg(args []string) (string, error) {
	if _, _, ok := api.ChannelName(args[0]); !ok {
		return "", fail(Misused, "%q is not a channel; give edge type and channel, such as gateway-x/stable", args[0])
	}
	return args[0], nil
}
