package command

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) limit() *cobra.Command {
	cmd := &cobra.Command{Use: "limit", Short: "Show, set or end what was arranged for a user's calls", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.limitGet(), a.limitSet(), a.limitEnd())
	return cmd
}

func limitPath(user string) string { return "/api/rate-limits/users/" + url.PathEscape(user) }

func (a *app) limitGet() *cobra.Command {
	return &cobra.Command{
		Use: "get USER", Short: "Show what is arranged", Args: cobra.ExactArgs(1),
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
			}](ctx, c, limitPath(args[0]), nil)
			if r, ok := errors.AsType[*api.RefusedError](err); ok && r.Status == http.StatusNotFound && !a.json {
				a.say("nothing is arranged for %s; the defaults apply", args[0])
				return nil
			}
			if err != nil {
				return err
			}
			if a.json {
				a.show(answer.Body)
				return nil
			}
			rows := []string{cells("user", args[0])}
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
}

func (a *app) limitSet() *cobra.Command {
	var calls, copilot int
	var reason string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use: "set USER --calls N", Short: "Arrange how many calls a user may make in any 60 seconds", Args: cobra.ExactArgs(1),
	}
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
		if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: limitPath(args[0]), Body: body}); err != nil {
			return err
		}
		a.say("arranged for %s", args[0])
		return a.shown(ctx, c, limitPath(args[0]))
	})
	cmd.Flags().IntVar(&calls, "calls", 0, "calls in any 60 seconds")
	cmd.Flags().IntVar(&copilot, "copilot", 0, "calls to the copilot in any 60 seconds")
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long, such as 24h; until it is ended if left out")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit trail")
	return cmd
}

func (a *app) limitEnd() *cobra.Command {
	return &cobra.Command{
		Use: "end USER", Short: "Have the defaults apply again", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			_, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: limitPath(args[0])})
			if r, ok := errors.AsType[*api.RefusedError](err); ok && r.Status == http.StatusNotFound {
				err = nil // it is so already
			}
			if err == nil {
				a.say("the defaults apply to %s", args[0])
			}
			return err
		}),
	}
}
