// Package command joins the commands that people type, and runs them.
package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/account"
	"wavegate/scripts/operator/artifacts"
	"wavegate/scripts/operator/boxes"
	"wavegate/scripts/operator/dossier"
	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/production"
	"wavegate/scripts/operator/rollouts"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
)

// Run runs the command and returns its exit code.
func Run(ctx context.Context, args []string, e run.Environment) int {
	e.Err = &terminal.Shared{To: e.Err} // notes about slow calls are written concurrently
	r := &run.Run{Environment: e}
	root := Commands(r)
	root.SetArgs(args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return run.Done
	}
	code := run.CodeOf(err)
	if !r.Began {
		code = run.Misused
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		code = run.Interrupted
	}
	if doc := run.Document(err); r.JSON && doc != nil {
		fmt.Fprintf(e.Err, "%s\n", doc)
		return code
	}
	text := missing(ctx, r, err)
	if mayNot, is := r.MayNot(err); is {
		text = mayNot
	}
	if code == run.Interrupted {
		text = strings.Replace(text, context.Canceled.Error(), "interrupted", 1)
	}
	fmt.Fprintf(e.Err, "wavegate: %s\n", terminal.Printable(text))
	switch {
	case code == run.SignIn && errors.Is(err, login.ErrSignIn) && e.Getenv("WAVEGATE_TOKEN") != "":
		fmt.Fprintln(e.Err, "wavegate: WAVEGATE_TOKEN is no longer accepted")
	case !r.Began:
		fmt.Fprintln(e.Err, run.Usage(cmd))
	case run.Hint(err) != "":
		fmt.Fprintln(e.Err, "wavegate: "+run.Hint(err))
	}
	return code
}

// Commands makes all commands.
func Commands(r *run.Run) *cobra.Command {
	root := run.Group("wavegate", "Bring releases to boxes, and see how they get on")
	root.Long = root.Short + ". A CHANNEL is an edge type and a channel, such as gateway-x/stable.\n\n" +
		"Exit codes:\n" +
		"    0  done, or nothing to do\n" +
		"    1  the service refused\n" +
		"    2  the command was used incorrectly, or the change was not confirmed\n" +
		"    3  a rollout ended, but not in the way that was waited for\n" +
		"    4  you have to sign in, or your role does not allow this\n" +
		"    5  the service cannot be reached, or the outcome is unknown\n" +
		"    6  the timeout of wait is over, and the rollout still goes on\n" +
		"  130  interrupted"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(run.KnownFlag)
	r.Flags(root)
	for _, g := range []struct {
		title string
		of    []*cobra.Command
	}{
		{"See what is going on:", slices.Concat(rollouts.See(r), boxes.See(r), dossier.Commands(r))},
		{"Bring versions to boxes:", slices.Concat(rollouts.Bring(r), artifacts.Commands(r))},
		{"Stop, and go back:", rollouts.Stop(r)},
		{"Boxes:", boxes.Commands(r)},
		{"Factories and production methods:", production.Commands(r)},
		{"You, and your organization:", account.Commands(r)},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.of {
			cmd.GroupID = g.title
		}
		root.AddCommand(g.of...)
	}
	root.AddCommand(account.Version(r))
	completed(r, root)
	return root
}

// completed adds shell completion to a command and its subcommands: for the arguments that their usage line shows in
// capitals, and for the values of some options.
func completed(r *run.Run, cmd *cobra.Command) {
	for _, one := range cmd.Commands() {
		completed(r, one)
	}
	if !cmd.Runnable() {
		return
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words := run.Words(cmd)
		if len(args) >= len(words) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return proposed(r, cmd, strings.Trim(words[len(args)], "[]."), args, typed)
	}
	for option, word := range map[string]string{"channel": "CHANNEL", "factory": "FACTORY", "box": "BOX", "state": "STATE"} {
		if cmd.Flags().Lookup(option) != nil {
			_ = cmd.RegisterFlagCompletionFunc(option, func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) { // it is there
				return proposed(r, cmd, word, args, typed)
			})
		}
	}
}

// proposed returns the names that complete what is typed, for a word in capitals such as CHANNEL. It gives up after a
// short time.
func proposed(r *run.Run, cmd *cobra.Command, word string, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if word, _, _ = strings.Cut(word, "|"); strings.HasPrefix(word, "FILE") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	c := r.Call(args)
	c.Client.Patience = 0
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	names := c.Names(ctx, word, args, typed)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveNoFileComp
}
