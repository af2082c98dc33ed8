package command

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) limit() *cobra.Command {
	return group("limit", "Show, set or end the limit on the calls of a user or an organization", a.limitGet(), a.limitSet(), a.limitEnd())
}

// A target is the user or organization that a limit applies to.
type target struct{ organization bool }

func (t *target) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&t.organization, "organization", false, "NAME is an organization, and the limit is for all its people and boxes together")
}

func (t *target) path(name string) string {
	kind := "users"
	if t.organization {
		kind = "organizations"
	}
	return "/api/rate-limits/" + kind + "/" + url.PathEscape(name)
}

func (a *app) limitGet() *cobra.Command {
	var of target
	cmd := &cobra.Command{
		Use: "get NAME", Short: "Show the limit of a user or an organization", Args: cobra.ExactArgs(1),
		Example: "  wavegate limit get eric\n  wavegate limit get acme --organization",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			l, answer, err := api.Get[struct {
				Limit        *int       `json:"limit"`
				CopilotLimit *int       `json:"copilotLimit"`
				ExpiresAt    *time.Time `json:"expiresAt"`
				Reason       string     `json:"reason"`
			}](ctx, c, of.path(args[0]), nil)
			if isMissing(err) && !a.json {
				a.say("%s has no limit of its own; the defaults apply", args[0])
				return nil
			}
			if err != nil {
				return err
			}
			if a.json {
				a.show(answer.Body)
				return nil
			}
			rows := []string{cells("for", args[0])}
			if l.Limit != nil {
				rows = append(rows, cells("calls in any 60 s", *l.Limit))
			}
			if l.CopilotLimit != nil {
				rows = append(rows, cells("copilot calls in any 60 s", *l.CopilotLimit))
			}
			if l.ExpiresAt != nil {
				rows = append(rows, cells("until", clock(*l.ExpiresAt)))
			}
			if l.Reason != "" {
				rows = append(rows, cells("reason", l.Reason))
			}
			return a.table(rows...)
		}),
	}
	of.flags(cmd)
	return cmd
}

func (a *app) limitSet() *cobra.Command {
	var of target
	var calls, copilot int
	var reason string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use: "set NAME --calls N", Short: "Set how many calls a user or an organization may make in any 60 seconds", Args: cobra.ExactArgs(1),
		Example: "  wavegate limit set eric --calls 1200 --for 24h --reason 'data migration'\n  wavegate limit set acme --organization --calls 6000",
	}
	of.flags(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		body := map[string]any{}
		if cmd.Flags().Changed("calls") {
			body["limit"] = calls
		}
		if cmd.Flags().Changed("copilot") {
			body["copilotLimit"] = copilot
		}
		if len(body) == 0 {
			return fail(Misused, "give --calls, --copilot or both")
		}
		if reason != "" {
			body["reason"] = reason
		}
		if lasts > 0 {
			body["expiresAt"] = time.Now().Add(lasts).UTC().Truncate(time.Second).Format(time.RFC3339)
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: of.path(args[0]), Body: body}); err != nil {
			return err
		}
		a.say("the limit of %s is set", args[0])
		return a.shown(ctx, c, of.path(args[0]))
	})
	cmd.Flags().IntVar(&calls, "calls", 0, "calls in any 60 seconds")
	cmd.Flags().IntVar(&copilot, "copilot", 0, "calls to the copilot in any 60 seconds")
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long, such as 24h; by default, until it is ended")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit trail")
	return cmd
}

func (a *app) limitEnd() *cobra.Command {
	var of target
	cmd := &cobra.Command{
		Use: "end NAME", Short: "Restore the default limit", Args: cobra.ExactArgs(1), Example: "  wavegate limit end eric",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			_, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: of.path(args[0])})
			if isMissing(err) {
				err = nil // there is nothing to end
			}
			if err == nil {
				a.say("the defaults apply to %s", args[0])
			}
			return err
		}),
	}
	of.flags(cmd)
	return cmd
}
