package production

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
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

func machinesOf(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "machines FACTORY METHOD VERSION", Short: "List the machines that have or may have a version",
		Example: "wavegate methods machines" + ofMethod + " 3 --left",
		Long: "Lists the machines that could have the version at some moment, or have reported about it, and those that wait for a " +
			"signature. After a withdrawal, --left lists the machines that still may have it. Somebody has to visit machines without " +
			"a box, and confirm for them: wavegate methods confirm.",
	}
	left := cmd.Flags().Bool("left", false, "only machines that may still have it")
	return run.Lists(r, cmd, 1000, func(_ context.Context, c *run.Call) (run.List[method.Reached], error) {
		l := run.List[method.Reached]{
			Path: c.Path(versionPath + "/machines"), None: "no machine has or may have this version",
			Head: "MACHINE|BOX|STATE|SINCE|SAID BY|ORDERS|TOLD|LAST HEARD OF|NOTE", Row: func(m method.Reached) []any {
				state, since, by := said(m)
				return []any{m.Machine, boxOf(m), state, since, by, terminal.OrDash(orders(m)), terminal.OrDash(m.Told), clock(m.LastHeardAt), terminal.OrDash(note(m))}
			},
		}
		if *left {
			l.Query, l.None = run.Query("clear", "false"), "no machine may still have this version"
		}
		return l, nil
	})
}

// said returns what was said last about a machine, since when, and by whom.
func said(m method.Reached) (state, since, by string) {
	switch {
	case m.Confirmed != nil && m.Clear:
		person := m.Confirmed.Name
		if person == "" {
			person = m.Confirmed.UserID
		}
		return "confirmed", timestamp.Text(m.Confirmed.At), "person " + person
	case m.State != "":
		return string(m.State), clock(m.Since), "machine"
	case m.Waits:
		return "waits", "-", "-"
	}
	return "-", "-", "-"
}

func clock(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return timestamp.Text(*t)
}

func boxOf(m method.Reached) string {
	switch {
	case m.EdgeID == "":
		return "none"
	case m.WithoutBox:
		return m.EdgeID + " (cannot report)"
	}
	return m.EdgeID
}

func orders(m method.Reached) string {
	var names []string
	for _, o := range m.Orders {
		names = append(names, o.Order)
	}
	if m.OrdersUnlisted {
		names = append(names, "and more")
	}
	return strings.Join(names, ", ")
}

func note(m method.Reached) string {
	switch {
	case m.Deviates != nil:
		return fmt.Sprintf("deviates: %s content %.12s since %s", m.Deviates.State, m.Deviates.ContentSHA256, timestamp.Text(m.Deviates.Since))
	case m.Waits:
		return "waits for a signature: wavegate machines admit"
	case m.Confirmed != nil && m.Clear:
		return m.Confirmed.Reason
	}
	return m.Detail
}

func confirm(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm FACTORY METHOD VERSION MACHINE --reason TEXT", Short: "Confirm that a machine no longer has a withdrawn version",
		Example: "wavegate methods confirm" + ofMethod + " 3 press-1 \\\n    --reason 'the program was removed at the machine'",
		Long:    "Confirms it with your signature, for a machine whose box cannot report it.",
	}
	reason := cmd.Flags().String("reason", "", "how you know; it is kept with your signature")
	run.Required(cmd, "reason")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if err := c.AskName(c.Args[3], "sign that machine "+c.Args[3]+" no longer has version "+c.Args[2]+"."); err != nil {
			return err
		}
		path := c.Path(versionPath + "/machines/%s/confirmation")
		if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: path, Body: map[string]any{"reason": *reason}}); err != nil {
			return err
		}
		c.Say("machine %s is confirmed not to have version %s", c.Args[3], c.Args[2])
		return nil
	})
}

func admit(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "admit FACTORY MACHINE --reason TEXT", Short: "Sign for a machine that got its class after an approval",
		Example: "wavegate machines admit munich-1 cnc-04 --reason 'inspected and measured'",
		Long:    "Admits the machine, with your signature, to all versions that hold for its classes.",
	}
	reason := cmd.Flags().String("reason", "", "why; it is kept with your signature")
	run.Required(cmd, "reason")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		m, _, err := api.Get[machine.Machine](ctx, c, c.Path(machinePath), nil)
		if err != nil {
			return err
		}
		if err := c.AskName(c.Args[1], "sign for machine "+c.Args[1]+": all versions that hold for "+strings.Join(m.Classes, ", ")+" hold on it."); err != nil {
			return err
		}
		body := map[string]any{"name": m.Name, "admission": map[string]string{"reason": *reason}}
		if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: c.Path(machinePath), Body: body}); err != nil {
			return err
		}
		c.Say("machine %s is admitted", c.Args[1])
		return nil
	})
}
