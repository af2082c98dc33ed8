package main

import (
	"fmt"
	"io"
	"strings"
)

// ways are how boxes can call the service, with the options of the command that prints their whole tables.
var ways = []struct{ name, options string }{
	{"polls at the API", ""},
	{"polls at the door", "-door"},
	{"the bell", "-bell"},
	{"bell and door", "-bell -door"},
	{"bell and door, idle polls every 600 s", "-bell -door -idle 600"},
	{"polls every 60 s, always", "-idle 60"},
}

// writeWays writes what fleets cost and need with each way to call, one column for each fleet of the command's defaults.
func writeWays(w io.Writer) error {
	all, err := limits()
	if err != nil {
		return err
	}
	poll := all[pollCall]
	row := func(name string, fleets []fleet, of func(fleet) string) {
		fmt.Fprintf(w, "| %s |", name)
		for _, f := range fleets {
			fmt.Fprintf(w, " %s |", of(f))
		}
		fmt.Fprintln(w)
	}
	for i, way := range ways {
		fleets, err := readFleets(strings.Fields(way.options))
		if err != nil {
			return err
		}
		if i == 0 {
			row("USD a month; a box, a year", fleets, fleet.name)
			fmt.Fprintf(w, "|---|%s\n", strings.Repeat("--:|", len(fleets)))
		}
		name := strings.TrimSuffix(way.name+" (`"+way.options+"`)", " (``)")
		row(name, fleets, func(f fleet) string { return thousands(f.total(poll)) + "; " + fmt.Sprintf("%.3f", f.boxYear(poll)) })
	}
	concurrency := func(f fleet) string { return thousands(float64(f.needs(poll).Concurrency)) }
	either, err := readFleets([]string{"-door"})
	if err != nil {
		return err
	}
	both, err := readFleets([]string{"-door", "-bell"})
	row("`reserveDoor`, `reserveBell`", either, func(f fleet) string { return thousands(float64(f.needs(poll).Bell)) })
	row("`accountConcurrency` with either", either, concurrency)
	row("`accountConcurrency` with both", both, concurrency)
	return err
}
