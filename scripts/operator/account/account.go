// Package account has the commands about the person who is signed in, their organization, and this program.
package account

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/ratelimit"
)

// Commands are those about the person and the organization.
func Commands(r *run.Run) []*cobra.Command {
	return []*cobra.Command{signIn(r), logout(r), profiles(r), use(r), whoami(r), limits(r), export(r)}
}

func export(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "export ORGANIZATION", Short: "Write everything that the service holds about an organization",
		Long: "Writes everything that the service holds about an organization to standard output, as JSON Lines: objects with a kind " +
			"and a value. If the command ends with an error, the output is incomplete.",
		Example: "wavegate export acme > acme.jsonl",
	}, func(ctx context.Context, c *run.Call) error {
		lines := 0
		err := c.Lines(ctx, c.Path("/api/organizations/%s/export"), func(page []byte, n int) error {
			lines += n
			_, err := c.Out.Write(page)
			return err
		})
		if err == nil {
			c.Note("wavegate: %d lines", lines)
		}
		return err
	})
}

func whoami(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{Use: "whoami", Short: "Show who is signed in, where, and how many calls are left", Example: "wavegate whoami"},
		func(ctx context.Context, c *run.Call) error {
			me, answer, err := api.Get[struct {
				UserID         string
				OrganizationID string
				Limits         []struct {
					Policy           string
					Limit, Remaining int
				}
			}](ctx, c, "/api/rate-limits/me", nil)
			if err != nil {
				return err
			}
			return c.Either(answer, func() error {
				rows := []string{terminal.Cells("service", c.URL), terminal.Cells("user", me.UserID), terminal.Cells("organization", me.OrganizationID)}
				if token, err := c.Token(ctx, false); err == nil {
					if who, ok := run.Claims(token); ok {
						rows = append(rows, terminal.Cells("roles", strings.Join(who.Roles, ", ")), terminal.Cells("token until", terminal.Clock(time.Unix(who.Expires, 0))))
					}
				}
				for _, l := range me.Limits {
					rows = append(rows, terminal.Cells("limit "+l.Policy, fmt.Sprintf("%d of %d calls left", l.Remaining, l.Limit)))
				}
				return c.Table(rows...)
			})
		})
}

func limits(r *run.Run) *cobra.Command {
	return run.Group("limit", "Show, set or end the limit on a user's or an organization's calls", limitGet(r), limitSet(r), limitEnd(r))
}

// target declares the option that says whether a limit is that of a user or an organization. It returns the path of the
// limit of the named one.
func target(cmd *cobra.Command) (path func(c *run.Call) string) {
	organization := cmd.Flags().Bool("organization", false, "NAME is an organization, and the limit is for all its people and boxes together")
	return func(c *run.Call) string {
		if *organization {
			return c.Path("/api/rate-limits/organizations/%s")
		}
		return c.Path("/api/rate-limits/users/%s")
	}
}

func limitGet(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "get NAME", Short: "Show the limit of a user or an organization",
		Example: "wavegate limit get eric\nwavegate limit get acme --organization",
	}
	path := target(cmd)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		l, answer, err := api.Get[ratelimit.OverrideSpec](ctx, c, path(c), nil)
		if run.Missing(err) && !c.JSON {
			c.Say("%s has no limit of its own; the defaults apply", c.Args[0])
			return nil
		}
		if err != nil {
			return err
		}
		return c.Either(answer, func() error {
			rows := []string{terminal.Cells("for", c.Args[0])}
			if l.Limit != nil {
				rows = append(rows, terminal.Cells("calls in any 60 s", *l.Limit))
			}
			if l.CopilotLimit != nil {
				rows = append(rows, terminal.Cells("copilot calls in any 60 s", *l.CopilotLimit))
			}
			if l.BoxLimit != nil {
				rows = append(rows, terminal.Cells("calls of all boxes in any 60 s", *l.BoxLimit))
			}
			if l.ExpiresAt != nil {
				rows = append(rows, terminal.Cells("until", terminal.Clock(*l.ExpiresAt)))
			}
			if l.Reason != "" {
				rows = append(rows, terminal.Cells("reason", l.Reason))
			}
			return c.Table(rows...)
		})
	})
}

func limitSet(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set NAME --calls N", Short: "Set how many calls they may make in any 60 seconds",
		Long:    "Sets how many calls a user or an organization may make in any 60 seconds.",
		Example: "wavegate limit set eric --calls 1200 --for 24h --reason 'data migration'\nwavegate limit set acme --organization --calls 6000",
	}
	path := target(cmd)
	calls := cmd.Flags().Int("calls", 0, "calls in any 60 seconds")
	copilot := cmd.Flags().Int("copilot", 0, "calls to the copilot in any 60 seconds")
	boxes := cmd.Flags().Int("boxes", 0, "calls of all boxes of an organization in any 60 seconds")
	lasts := cmd.Flags().Duration("for", 0, "how long, such as 24h; by default, until it is ended")
	reason := cmd.Flags().String("reason", "", "why, for the audit trail")
	return r.Takes(cmd, func(_ context.Context, c *run.Call) (run.Step, error) {
		body := ratelimit.OverrideSpec{Reason: *reason}
		if cmd.Flags().Changed("calls") {
			body.Limit = calls
		}
		if cmd.Flags().Changed("copilot") {
			body.CopilotLimit = copilot
		}
		if cmd.Flags().Changed("boxes") {
			body.BoxLimit = boxes
		}
		if body.Limit == nil && body.CopilotLimit == nil && body.BoxLimit == nil {
			return run.Step{}, run.Fail(run.Misused, "give --calls, --copilot or --boxes")
		}
		if *lasts > 0 {
			body.ExpiresAt = new(time.Now().Add(*lasts).UTC().Truncate(time.Second))
		}
		return run.Step{
			Request: api.Request{Method: http.MethodPut, Path: path(c), Body: body}, Done: "the limit of " + c.Args[0] + " is set", Shown: path(c),
		}, nil
	})
}

func limitEnd(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{Use: "end NAME", Short: "Restore the default limit", Example: "wavegate limit end eric"}
	path := target(cmd)
	return r.Takes(cmd, func(_ context.Context, c *run.Call) (run.Step, error) {
		done := "the defaults apply to " + c.Args[0]
		return run.Step{Request: api.Request{Method: http.MethodDelete, Path: path(c)}, Done: done, None: done}, nil
	})
}
