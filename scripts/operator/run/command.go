package run

import (
	"context"
	"math"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/platform/lambdahttp"
)

// Group makes a command that only holds others.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: Known, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

// Local completes a command that may make no call. Errors of do are not errors of usage.
func (r *Run) Local(cmd *cobra.Command, do func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.Example = "  " + strings.ReplaceAll(cmd.Example, "\n", "\n  ")
	if cmd.Args == nil {
		cmd.Args = takes(cmd.Use)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.Began = true
		for i, word := range Words(cmd) {
			if strings.Trim(word, "[]") == "CHANNEL" && i < len(args) {
				if err := Channel(args[i]); err != nil {
					return err
				}
			}
		}
		return do(cmd.Context(), args)
	}
	return cmd
}

// Calls completes a command that calls the service.
func (r *Run) Calls(cmd *cobra.Command, do func(ctx context.Context, c *Call) error) *cobra.Command {
	return r.Local(cmd, func(ctx context.Context, args []string) error {
		c := r.Call(args)
		for i, word := range Words(cmd) {
			if id := r.Named[word]; id != nil && i < len(args) {
				if err := id(ctx, c, i); err != nil {
					return err
				}
			}
		}
		return do(ctx, c)
	})
}

// Words are the arguments of a command in its usage: words in capitals, with [ ] around those that may be omitted.
func Words(cmd *cobra.Command) []string {
	use, _, _ := strings.Cut(cmd.Use, " -")
	use, _, _ = strings.Cut(use, " | ")
	return strings.Fields(use)[1:]
}

// takes requires the arguments that a usage shows.
func takes(use string) cobra.PositionalArgs {
	least, most, optional := 0, 0, false
	for _, word := range Words(&cobra.Command{Use: use}) {
		most++
		if optional = optional || strings.HasPrefix(word, "["); !optional {
			least++
		}
		if strings.Contains(word, "...") {
			most = math.MaxInt
		}
	}
	switch {
	case most == 0:
		return cobra.NoArgs
	case least == most:
		return cobra.ExactArgs(most)
	case most == math.MaxInt:
		return cobra.MinimumNArgs(least)
	case least == 0:
		return cobra.MaximumNArgs(most)
	}
	return cobra.RangeArgs(least, most)
}

// Channel refuses a word that is not the name of a channel.
func Channel(name string) error {
	if _, _, ok := api.ChannelName(name); !ok {
		return Fail(Misused, "%q is not a channel; give edge type and channel, such as gateway-x/stable", name)
	}
	return nil
}

// Shows makes a command that reads a resource and shows all its fields.
func (r *Run) Shows(cmd *cobra.Command, path string) *cobra.Command {
	return r.Calls(cmd, func(ctx context.Context, c *Call) error { return c.Read(ctx, c.Path(path), nil) })
}

// Read reads a resource and shows it: with --json unchanged, otherwise one field per line.
func (c *Call) Read(ctx context.Context, path string, query url.Values) error {
	answer, err := c.Do(ctx, api.Request{Path: path, Query: query})
	if err != nil {
		return err
	}
	return c.Either(answer, func() error { return c.fields(answer) })
}

// A Step is one change. The person confirms the question by typing Name, or with yes if it is empty; without a question,
// nothing is asked.
type Step struct {
	Question, Name string
	api.Request
	// Done is said then, and Shown is the path of what --json shows, if there is something.
	Done, Shown string
	// Adds returns what else is said, from the answer; nil: nothing.
	Adds func(api.Response) (string, error)
	// None is said if what the request names does not exist; empty: that is an error.
	None string
	// Settle decides what a refusal means; nil: it is the error.
	Settle func(error) error
}

// Takes makes a command that takes one step.
func (r *Run) Takes(cmd *cobra.Command, plan func(ctx context.Context, c *Call) (Step, error)) *cobra.Command {
	return r.Calls(cmd, func(ctx context.Context, c *Call) error {
		s, err := plan(ctx, c)
		if err != nil {
			return err
		}
		return c.Take(ctx, s)
	})
}

// Take takes a step.
func (c *Call) Take(ctx context.Context, s Step) error {
	if s.Question != "" {
		if err := c.AskName(s.Name, s.Question); err != nil {
			return err
		}
	}
	answer, err := c.Do(ctx, s.Request)
	if err != nil && s.Settle != nil {
		err = s.Settle(err)
	}
	switch {
	case Missing(err) && s.None != "":
		c.Say("%s", s.None)
		return nil
	case err != nil:
		return err
	}
	c.Say("%s", s.Done)
	if warning := answer.Header.Get(lambdahttp.Warning); warning != "" {
		c.Note("wavegate: %s", warning)
	}
	if s.Adds != nil {
		more, err := s.Adds(answer)
		if err != nil {
			return err
		}
		if more != "" {
			c.Note("%s", more)
		}
	}
	if s.Shown == "" {
		return nil
	}
	return c.Shown(ctx, s.Shown)
}

// Required marks options of a command that must be given.
func Required(cmd *cobra.Command, options ...string) {
	for _, option := range options {
		if err := cmd.MarkFlagRequired(option); err != nil {
			panic(err) // the command does not declare it
		}
	}
}
