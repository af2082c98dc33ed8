package production

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
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
	case m.Scrapped != nil:
		return "scrapped by " + cmp.Or(m.Scrapped.Name, m.Scrapped.UserID) + ": " + m.Scrapped.Reason
	case m.Waits:
		return "waits for a signature: wavegate machines admit"
	case m.Confirmed != nil && m.Clear:
		return m.Confirmed.Reason
	}
	return m.Detail
}

func confirm(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm FACTORY METHOD VERSION [MACHINE...] --reason TEXT", Short: "Confirm that machines no longer have a withdrawn version",
		Example: "wavegate methods confirm" + ofMethod + " 3 press-1 press-2 \\\n    --reason 'the program was removed at both'\n" +
			"wavegate methods confirm" + ofMethod + " 3 --confirm-all 'press-*' \\\n    --reason 'the line was replaced'",
		Long: "Confirms it with your signature, for machines whose boxes cannot report it. One signature confirms up to 40 machines, all of them or none.",
	}
	reason := cmd.Flags().String("reason", "", "how you know; it is kept with your signature")
	all := cmd.Flags().String("confirm-all", "", "all machines that are not clear and match the `pattern`, such as 'press-*', or that a file @FILE lists, one a line")
	run.Required(cmd, "reason")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		codes := c.Args[3:]
		if *all == "" && len(codes) == 0 || *all != "" && len(codes) > 0 {
			return run.Fail(run.Misused, "give machines, or --confirm-all")
		}
		if *all != "" {
			var err error
			if codes, err = matching(ctx, c, *all); err != nil {
				return err
			}
		}
		name := codes[0]
		if len(codes) > 1 {
			name = fmt.Sprint(len(codes), " machines")
			c.Note("these are %s", strings.Join(codes, ", "))
		}
		if err := c.AskName(name, "sign that "+strings.Join(codes[:min(len(codes), 3)], ", ")+more(len(codes)-3)+" no longer have version "+c.Args[2]+"."); err != nil {
			return err
		}
		for part := range slices.Chunk(codes, method.MostConfirmed) {
			body := map[string]any{"machines": part, "reason": *reason}
			if _, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: c.Path(versionPath + "/confirmations"), Body: body}); err != nil {
				return err
			}
			c.Say("confirmed not to have version %s: %s", c.Args[2], strings.Join(part, ", "))
		}
		return nil
	})
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// matching lists the machines of a version that are not clear and match a pattern, or that a file lists.
func matching(ctx context.Context, c *run.Call, pattern string) (codes []string, err error) {
	if file, is := strings.CutPrefix(pattern, "@"); is {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, run.Fail(run.Misused, "%w", err)
		}
		if codes = strings.Fields(string(text)); len(codes) == 0 {
			return nil, run.Fail(run.Misused, "%s lists no machine", file)
		}
		return codes, nil
	}
	left, err := api.All[method.Reached](ctx, c.Client, c.Path(versionPath+"/machines"), run.Query("clear", "false"), 10_000)
	if err != nil {
		return nil, err
	}
	for _, x := range left {
		is, err := path.Match(pattern, x.Machine)
		if err != nil {
			return nil, run.Fail(run.Misused, "--confirm-all: %w", err)
		}
		if is {
			codes = append(codes, x.Machine)
		}
	}
	if len(codes) == 0 {
		return nil, run.Fail(run.Otherwise, "no machine that is not clear matches %s", pattern)
	}
	return codes, nil
}

func admit(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "admit FACTORY MACHINE --reason TEXT", Short: "Sign for a machine that got its class after an approval",
		Example: "wavegate machines admit munich-1 cnc-04 --reason 'inspected and measured'",
		Long:    "Admits the machine, with your signature, to all versions that hold for its classes.",
	}
	reason := whySigned(cmd)
	run.Required(cmd, "reason")
	return r.Takes(cmd, func(ctx context.Context, c *run.Call) (run.Step, error) {
		m, _, err := api.Get[machine.Machine](ctx, c, c.Path(machinePath), nil)
		return run.Step{
			Name: c.Args[1], Question: "sign for machine " + c.Args[1] + ": all versions that hold for " + strings.Join(m.Classes, ", ") + " hold on it.",
			Request: api.Request{Method: http.MethodPut, Path: c.Path(machinePath), Body: map[string]any{"name": m.Name, "admission": map[string]string{"reason": *reason}}},
			Done:    "machine " + c.Args[1] + " is admitted", Shown: c.Path(machinePath),
		}, err
	})
}
