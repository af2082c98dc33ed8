// Package production has the commands for factories, their machines, and production methods.
package production

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/rollouts"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// Commands are all of them.
func Commands(r *run.Run) []*cobra.Command {
	r.Named = map[string]func(context.Context, *run.Call, int) error{"METHOD": methodNamed}
	return []*cobra.Command{factories(r), machines(r), products(r), methods(r)}
}

// The paths of a factory, of a machine, and of a method in it.
const (
	factoryPath = "/api/factories/%s"
	machinePath = factoryPath + "/machines/%s"
	productPath = factoryPath + "/products/%s"
	methodPath  = factoryPath + "/production-methods/%s"
	versionPath = methodPath + "/versions/%s"
)

func factories(r *run.Run) *cobra.Command {
	cmd := run.Group("factories", "See, register and rename factories", factoriesList(r),
		r.Shows(&cobra.Command{Use: "show FACTORY", Short: "Show a factory", Example: "wavegate factories show munich-1"}, factoryPath),
		factoriesSet(r), windows(r), pause(r), unpause(r), optOut(r), optIn(r),
		run.Lists(r, &cobra.Command{
			Use: "log FACTORY", Short: "Show who did what in a factory, newest first", Example: "wavegate factories log munich-1 --limit 20",
		}, 50, func(_ context.Context, c *run.Call) (run.List[audit.Event], error) {
			return rollouts.Events(c.Path(factoryPath+"/audit-events"), "nothing was changed in "+c.Args[0]), nil
		}))
	cmd.Aliases = []string{"factory"}
	return cmd
}

func factoriesList(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the factories of an organization",
		Example: "wavegate factories list\nwavegate factories list --organization acme",
	}
	organization := cmd.Flags().String("organization", "", "the `organization`; by default, your own")
	return run.Lists(r, cmd, 1000, func(context.Context, *run.Call) (run.List[factory.Factory], error) {
		l := run.List[factory.Factory]{
			Path: "/api/factories", Query: run.Query("organizationId", *organization), None: "your organization has no factory; for another one, use --organization",
			Head: "FACTORY|NAME|ORGANIZATION", Row: func(f factory.Factory) []any { return []any{f.FactoryID, f.Name, f.OrganizationID} },
		}
		if *organization != "" {
			l.None = "organization " + *organization + " has no factory, or you are not allowed to see it"
		}
		return l, nil
	})
}

func factoriesSet(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set FACTORY", Short: "Register a factory, or change its name or who approves",
		Long: "Registers a factory, or changes it. Omitted fields stay unchanged. A factory never changes its organization. With " +
			"four-eyes, a version of a method is approved by somebody who has neither saved nor submitted it.",
		Example: "wavegate factories set munich-1 --organization acme --name 'Munich, hall 1'\nwavegate factories set munich-1 --approval single",
	}
	cmd.Flags().String("name", "", "the `name` to display")
	cmd.Flags().String("organization", "", "the `organization` that it belongs to; for a new factory")
	cmd.Flags().String("approval", "", "who approves methods: four-eyes or single")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		wish := run.Given(cmd, map[string]string{"name": "name", "organization": "organizationId", "approval": "methodApproval"})
		return run.Change{What: "factory " + args[0], Path: api.Path(factoryPath, args...), Wish: wish}, nil
	})
}

// updates is the change of when a factory's boxes take updates.
func updates(name string, wish map[string]any) run.Change {
	return run.Change{What: "factory " + name, Path: api.Path(factoryPath, name), Wish: map[string]any{"updates": wish}}
}

func windows(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "windows FACTORY", Short: "Say when the boxes of a factory take updates",
		Long: "Sets the windows in which the boxes of a factory take updates, in place of all present ones. Days are mon to sun; without " +
			"days, a window is on each day. A window may pass midnight. With --always, there are none. With --opens-at-deadline, a security " +
			"release waits for no window once its deadline is over; otherwise it is listed as overdue.",
		Example: "wavegate factories windows munich-1 --time-zone Europe/Berlin --window 'sun 04:00-08:00'\n" +
			"wavegate factories windows munich-1 --window 'sat,sun 22:00-06:00' --window 12:00-12:30\nwavegate factories windows munich-1 --always\n" +
			"wavegate factories windows munich-1 --opens-at-deadline",
	}
	zone := cmd.Flags().String("time-zone", "", "the `zone` of the windows, of the IANA database; for the first ones")
	given := cmd.Flags().StringArray("window", nil, "a `window`; can be repeated")
	always := cmd.Flags().Bool("always", false, "the boxes always take updates")
	deadline := cmd.Flags().Bool("opens-at-deadline", false, "a security release waits for no window after its deadline; =false: it does")
	cmd.MarkFlagsOneRequired("window", "always", "opens-at-deadline")
	cmd.MarkFlagsMutuallyExclusive("window", "always")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		wish, list := map[string]any{}, []any{}
		if *zone != "" {
			wish["timeZone"] = *zone
		}
		for _, text := range *given {
			hours := map[string]any{}
			times := text
			if days, rest, both := strings.Cut(text, " "); both {
				hours["days"], times = strings.Split(days, ","), rest
			}
			from, to, is := strings.Cut(times, "-")
			if !is {
				return run.Change{}, run.Fail(run.Misused, "%q is not a window such as 'sat,sun 22:00-06:00'", text)
			}
			hours["from"], hours["to"] = from, to
			list = append(list, hours)
		}
		if len(list) > 0 || *always {
			wish["windows"] = list
		}
		if cmd.Flags().Changed("opens-at-deadline") {
			wish["opensAtDeadline"] = *deadline
		}
		return updates(args[0], wish), nil
	})
}

func pause(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause FACTORY", Short: "Let the boxes of a factory take no updates for some days",
		Long: "Pauses the updates of a factory, for 14 days at most, and 14 in any 30. A release with a deadline ends the wait at the " +
			"deadline, and an urgent one does not wait.",
		Example: "wavegate factories pause munich-1 --days 5 --reason stocktaking",
	}
	days := cmd.Flags().Int("days", 0, "how many days, 14 at most")
	reason := cmd.Flags().String("reason", "", "why; whoever asks why a box waits sees it")
	run.Required(cmd, "days", "reason")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		until := time.Now().Add(time.Duration(*days)*24*time.Hour - time.Minute) // the service's clock may be behind
		return updates(args[0], map[string]any{"pausedUntil": timestamp.Text(until), "reason": *reason}), nil
	})
}

func unpause(r *run.Run) *cobra.Command {
	return r.Sets(&cobra.Command{
		Use: "unpause FACTORY", Short: "End the pause of a factory", Example: "wavegate factories unpause munich-1",
	}, func(args []string) (run.Change, error) {
		return updates(args[0], map[string]any{"pausedUntil": nil}), nil
	})
}

func optOut(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "opt-out [FACTORY]", Short: "Let the boxes of a factory, or of all of an organization, take no releases",
		Long: "Keeps releases from the boxes of a factory until you opt in: ordinary ones, or also those for security. Nothing else passes it, " +
			"neither what is urgent nor a deadline; a pin does, and, unless it is of all, the way back from a release that was returned. The " +
			"manufacturer sees it, and may allow less for an edge type. With " +
			"--organization, it is said for each of its factories that there are now. Boxes without a factory are told releases as before.",
		Example: "wavegate factories opt-out munich-1 --of ordinary --reason 'certified line'\n" +
			"wavegate factories opt-out --organization acme --of all --reason contract \\\n    --until 2027-01-01T00:00:00Z",
		Args: cobra.MaximumNArgs(1),
	}
	of := cmd.Flags().String("of", "", "which releases: ordinary or all")
	reason := cmd.Flags().String("reason", "", "why; whoever asks why a box waits sees it")
	until := cmd.Flags().String("until", "", "when it ends by itself, a `time` of RFC 3339")
	run.Required(cmd, "of", "reason")
	return ofFactories(r, cmd, func() any {
		out := map[string]any{"of": *of, "reason": *reason}
		if *until != "" {
			out["until"] = *until
		}
		return out
	})
}

func optIn(r *run.Run) *cobra.Command {
	return ofFactories(r, &cobra.Command{
		Use: "opt-in [FACTORY]", Short: "Let the boxes of a factory, or of all of an organization, take releases again",
		Example: "wavegate factories opt-in munich-1", Args: cobra.MaximumNArgs(1),
	}, func() any { return nil })
}

// ofFactories sets what a factory opts out of, or each factory of an organization.
func ofFactories(r *run.Run, cmd *cobra.Command, out func() any) *cobra.Command {
	organization := cmd.Flags().String("organization", "", "for each factory of this `organization`")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if (len(c.Args) > 0) == (*organization != "") {
			return run.Fail(run.Misused, "name a FACTORY, or an --organization for all of its factories")
		}
		names := c.Args
		if *organization != "" {
			list, err := api.All[factory.Factory](ctx, c.Client, "/api/factories", run.Query("organizationId", *organization), 0)
			if err != nil {
				return err
			}
			for _, f := range list {
				names = append(names, f.FactoryID)
			}
		}
		for _, name := range names {
			if err := c.Put(ctx, updates(name, map[string]any{"optOut": out()})); err != nil {
				return err
			}
		}
		return nil
	})
}

func machines(r *run.Run) *cobra.Command {
	cmd := run.Group("machines", "See and register machines, and ask what holds on them",
		run.Lists(r, &cobra.Command{
			Use: "list FACTORY", Short: "List the machines of a factory", Example: "wavegate machines list munich-1",
		}, 1000, func(_ context.Context, c *run.Call) (run.List[machine.Machine], error) {
			return run.List[machine.Machine]{
				Path: c.Path(factoryPath + "/machines"), None: c.Args[0] + " has no machine", Head: "MACHINE|NAME|CLASSES|BOX",
				Row: func(m machine.Machine) []any {
					return []any{m.Code, m.Name, terminal.OrDash(strings.Join(m.Classes, ", ")), terminal.OrDash(m.EdgeID)}
				},
			}, nil
		}),
		r.Shows(&cobra.Command{Use: "show FACTORY MACHINE", Short: "Show a machine", Example: "wavegate machines show munich-1 cnc-04"}, machinePath),
		machinesSet(r), admit(r), scrap(r), machinesMethods(r),
		r.Shows(&cobra.Command{Use: "content FACTORY MACHINE METHOD VERSION", Short: "Show the content of a version, and what of it is for a machine",
			Example: "wavegate machines content munich-1 cnc-04 Milling 3"}, machinePath+"/methods/%s/versions/%s"))
	cmd.Aliases = []string{"machine"}
	return cmd
}

func machinesSet(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set FACTORY MACHINE", Short: "Register a machine, or change its name, classes or box",
		Long: "Registers a machine, or changes it. Omitted fields stay unchanged. Production methods name classes of machines. A " +
			"version that was released before a machine got its class reaches that machine once it is admitted. Only people of the factory's own " +
			"organization can do this.",
		Example: "wavegate machines set munich-1 cnc-04 --name 'Mill 4' --class mill \\\n    --box box-0017\nwavegate machines set munich-1 cnc-04 --box ''",
	}
	cmd.Flags().String("name", "", "the `name` to display")
	classes := cmd.Flags().StringSlice("class", nil, "a `class` of equipment; can be repeated. The classes replace the present ones")
	cmd.Flags().String("box", "", "the `box` that speaks for it; '' for none")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		wish := run.Given(cmd, map[string]string{"name": "name", "box": "edgeId"})
		if wish["edgeId"] == "" {
			wish["edgeId"] = nil
		}
		if cmd.Flags().Changed("class") {
			wish["classes"] = append([]string{}, *classes...)
		}
		return run.Change{What: "machine " + args[1] + " of " + args[0], Path: api.Path(machinePath, args...), In: api.Path(factoryPath, args...), Wish: wish}, nil
	})
}

func machinesMethods(r *run.Run) *cobra.Command {
	row := func(s method.MachineState) []any {
		cell := func(n int64, more string) string { return strings.TrimSpace(fmt.Sprint(n, " ", more)) }
		holds, next, gone := "-", "-", []string{}
		if s.Version > 0 {
			holds = cell(s.Version, string(s.Phase))
		}
		if s.Next != nil {
			next = cell(s.Next.Version, "from "+terminal.Clock(s.Next.From))
		}
		for _, w := range s.Withdrawn {
			gone = append(gone, cell(w.Version, string(w.Orders)))
		}
		return []any{s.MethodID, holds, next, terminal.OrDash(strings.Join(gone, ", "))}
	}
	cmd := &cobra.Command{
		Use: "methods FACTORY MACHINE", Short: "List which versions of methods hold on a machine",
		Long: "Lists which versions of methods hold on a machine, which follow, and which were withdrawn.",
		Example: "wavegate machines methods munich-1 cnc-04\n" +
			"wavegate machines methods munich-1 cnc-04 --at 2026-11-01T06:00:00Z \\\n    --method " + anyMethod,
	}
	methods := cmd.Flags().StringSlice("method", nil, "only this `method`; can be repeated")
	at := cmd.Flags().String("at", "", "as of this `time`, RFC 3339; for the past, --method is needed")
	return run.Lists(r, cmd, 1000, func(_ context.Context, c *run.Call) (run.List[method.MachineState], error) {
		l := run.List[method.MachineState]{
			Path: c.Path(machinePath + "/methods"), Query: run.Query("at", *at), None: "no method has a step for " + c.Args[1],
			Head: "METHOD|HOLDS|NEXT|WITHDRAWN", Row: row,
		}
		if len(*methods) > 0 {
			l.Query["methodId"] = *methods
		}
		return l, nil
	})
}
