package command

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) machines() *cobra.Command {
	cmd := group("machines", "See and register the machines of a factory, and ask what holds on them",
		a.machinesList(),
		a.shows("show FACTORY MACHINE", "Show a machine", "  wavegate machines show munich-1 cnc-04", func(args []string) string { return machinePath(args) }),
		a.machinesSet(), a.machinesMethods())
	cmd.Aliases = []string{"machine"}
	return cmd
}

func machinePath(args []string) string {
	return factoryPath(args[0]) + "/machines/" + url.PathEscape(args[1])
}

func (a *app) machinesList() *cobra.Command {
	type machine struct {
		Code, Name, EdgeID string
		Classes            []string
	}
	cmd := listing(a, "list FACTORY", "List the machines of a factory", "  wavegate machines list munich-1", 1000, func(args []string) (list[machine], error) {
		return list[machine]{path: factoryPath(args[0]) + "/machines", query: url.Values{}, none: args[0] + " has no machine",
			head: cells("MACHINE", "NAME", "CLASSES", "BOX"),
			row: func(m machine) string {
				return cells(m.Code, m.Name, orDash(strings.Join(m.Classes, ", ")), orDash(m.EdgeID))
			}}, nil
	})
	return cmd
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (a *app) machinesSet() *cobra.Command {
	const use = "set FACTORY MACHINE"
	var name, box string
	var classes []string
	cmd := &cobra.Command{
		Use: use, Short: "Register a machine, or change its name, classes or box", Args: exactly(use),
		Long: "Registers a machine, or changes it. Omitted fields stay unchanged. Production methods name classes of machines. A\n" +
			"version that was released before a machine got its class does not reach that machine. Only people of the factory's own\n" +
			"organization can do this.",
		Example: "  wavegate machines set munich-1 cnc-04 --name 'Mill 4' --class mill --box box-0017\n  wavegate machines set munich-1 cnc-04 --box ''",
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		wish := given(cmd, map[string]string{"name": "name", "box": "edgeId"})
		if wish["edgeId"] == "" {
			wish["edgeId"] = nil
		}
		if cmd.Flags().Changed("class") {
			wish["classes"] = append([]string{}, classes...)
		}
		return a.put(ctx, change{what: "machine " + args[1] + " of " + args[0], path: machinePath(args), in: factoryPath(args[0]), wish: wish})
	})
	cmd.Flags().StringVar(&name, "name", "", "the `name` to display")
	cmd.Flags().StringSliceVar(&classes, "class", nil, "a `class` of equipment; can be repeated. The classes replace the present ones")
	cmd.Flags().StringVar(&box, "box", "", "the `box` that speaks for it; '' for none")
	return cmd
}

func (a *app) machinesMethods() *cobra.Command {
	type state struct {
		MethodID      string
		Version       int64
		Phase         string
		EffectiveFrom *time.Time
		Next          *struct {
			Version int64
			From    time.Time
		}
		Withdrawn []struct {
			Version int64
			Orders  string
		}
	}
	row := func(s state) string {
		cell := func(n int64, more string) string { return strings.TrimSpace(fmt.Sprint(n, " ", more)) }
		holds, next, gone := "-", "-", []string{}
		if s.Version > 0 {
			holds = cell(s.Version, s.Phase)
		}
		if s.Next != nil {
			next = cell(s.Next.Version, "from "+clock(s.Next.From))
		}
		for _, w := range s.Withdrawn {
			gone = append(gone, cell(w.Version, w.Orders))
		}
		return cells(s.MethodID, holds, next, orDash(strings.Join(gone, ", ")))
	}
	var at string
	var methods []string
	const short = "List which versions of methods hold on a machine, which follow, and which were withdrawn"
	const example = "  wavegate machines methods munich-1 cnc-04\n" +
		"  wavegate machines methods munich-1 cnc-04 --method 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70 --at 2026-11-01T06:00:00Z"
	cmd := listing(a, "methods FACTORY MACHINE", short, example, 1000, func(args []string) (list[state], error) {
		l := list[state]{path: machinePath(args) + "/methods", query: url.Values{}, none: "no method has a step for " + args[1],
			head: cells("METHOD", "HOLDS", "NEXT", "WITHDRAWN"), row: row}
		if len(methods) > 0 {
			l.query["methodId"] = methods
		}
		if at != "" {
			l.query.Set("at", at)
		}
		return l, nil
	})
	cmd.Flags().StringSliceVar(&methods, "method", nil, "only this `method`; can be repeated")
	cmd.Flags().StringVar(&at, "at", "", "as of this `time`, RFC 3339; for the past, --method is needed")
	return cmd
}
