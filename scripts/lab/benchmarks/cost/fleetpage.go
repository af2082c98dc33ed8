package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// pollCall is the line of counted.tsv for nearly all polls.
const pollCall = "get-manifest: nothing new, 304"

// fleetCommand writes the tables for the fleets that the arguments describe.
func fleetCommand(w io.Writer, args []string) error {
	fleets, err := readFleets(args)
	if err != nil {
		return err
	}
	all, err := limits()
	if err != nil {
		return err
	}
	fleets[0].write(w, fleets, all[pollCall])
	return nil
}

// readFleets returns the fleets that the arguments describe, one or more.
func readFleets(args []string) ([]fleet, error) {
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	boxes := flags.String("boxes", "1000,10000,10000/50,100000,1000000", "how many boxes, and on how many channels, with commas between several fleets")
	interval := flags.Float64("interval", 60, "`seconds` between a box's polls while something goes on at its channel")
	idle := flags.Float64("idle", 300, "`seconds` between its polls otherwise")
	days := flags.Float64("days", 4.1, "`days` a month on which something goes on at its channel")
	releases := flags.Float64("releases", 1, "`releases` a month")
	bell := flags.Bool("bell", false, "the boxes listen to the bell")
	door := flags.Bool("door", false, "the boxes poll at the door")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	f := fleet{Interval: *interval, Idle: *idle, Days: *days, Releases: *releases, Bell: *bell, Door: *door}
	if f.Interval < 1 || f.Idle < 1 || f.Days < 0 || f.Days > monthDays || f.Releases < 0 {
		return nil, fmt.Errorf("intervals are a second or more, days 0 to %.1f, and releases 0 or more", monthDays)
	}
	var of []fleet
	for _, text := range strings.Split(*boxes, ",") {
		one := f
		n, channels, several := strings.Cut(text, "/")
		var err, errChannels error
		if one.Boxes, err = strconv.ParseFloat(n, 64); several {
			one.Channels, errChannels = strconv.ParseFloat(channels, 64)
		}
		if err != nil || errChannels != nil || one.Boxes < 1 || math.IsInf(one.Boxes, 0) || several && (one.Channels < 1 || one.Channels > one.Boxes) {
			return nil, fmt.Errorf("%q is not a number of boxes, or of boxes and channels", text)
		}
		of = append(of, one)
	}
	return of, nil
}

// write writes the needs and costs of fleets, one column each.
func (f fleet) write(w io.Writer, fleets []fleet, poll limit) {
	heading := func(first string, rest string) {
		fmt.Fprintf(w, "| %s |", first)
		for _, one := range fleets {
			fmt.Fprintf(w, " %s |", one.name())
		}
		fmt.Fprintf(w, "%s\n|---|%s%s\n", rest, strings.Repeat("--:|", len(fleets)), map[bool]string{true: "---|"}[rest != ""])
	}
	row := func(name, rest string, of func(fleet) string) {
		fmt.Fprintf(w, "| %s |", name)
		for _, one := range fleets {
			fmt.Fprintf(w, " %s |", of(one))
		}
		fmt.Fprintln(w, rest)
	}
	number := func(of func(need) int) func(fleet) string {
		return func(one fleet) string {
			if n := of(one.needs(poll)); n != 0 {
				return thousands(float64(n))
			}
			return "–"
		}
	}
	heading("boxes", "")
	row("polls a second, if something goes on at every channel", "", func(one fleet) string { return thousands(one.needs(poll).PerSecond) })
	row("`pollRate`", "", number(func(n need) int { return n.PollRate }))
	row("`pollBurst`", "", number(func(n need) int { return n.PollBurst }))
	row("`throttleRate`", "", number(func(n need) int { return n.ThrottleRate }))
	row("`throttleBurst`", "", number(func(n need) int { return n.Burst }))
	row("`warmWrites` (of `rate-counters`)", "", number(func(n need) int { return n.WarmWrites }))
	row("executions of `get-manifest` at once", "", number(func(n need) int { return n.Executions }))
	if f.Door {
		row("`reserveDoor`", "", number(func(n need) int { return n.Bell }))
	}
	if f.Bell {
		row("`reserveBell`", "", number(func(n need) int { return n.Bell }))
	}
	row("quota: API Gateway, requests a second", "", number(func(n need) int { return n.GatewayQuota }))
	row("quota: Lambda, concurrent executions; `accountConcurrency`", "", number(func(n need) int { return n.Concurrency }))
	fmt.Fprintln(w)

	heading("USD a month", " Formula; polls and checks in millions |")
	if f.Bell {
		row("millions of listens", fmt.Sprintf(" boxes × (86,400 × %.2f / %g + releases × %g × 3,600 × (1 / %g − 1 / %g)) / 10^6 |", monthDays, f.Idle, releaseChanges, f.Interval, f.Idle),
			func(one fleet) string { return thousands(one.listens() / 1e6) })
		row("millions of polls", fmt.Sprintf(" (boxes × (86,400 × %.2f / %g + releases × %g) + watched boxes × 86,400 × (%g + releases × %g) / %g) / 10^6 |", monthDays, heartbeat, releaseChanges+updatePolls, f.Days, afterEnd, f.Idle),
			func(one fleet) string { return thousands(one.polls() / 1e6) })
	} else {
		row("near: the share of boxes that poll often on a busy day", " mean of the stages: those that are reached, and the watched ones |", func(one fleet) string { return fmt.Sprintf("%.2f", one.near()) })
		row("millions of polls", fmt.Sprintf(" boxes × 86,400 × (%g × near / %g + (%.2f − %g × near) / %g) / 10^6 |", f.Days, f.Interval, monthDays, f.Days, f.Idle),
			func(one fleet) string { return thousands(one.polls() / 1e6) })
	}
	checks := fmt.Sprintf(" the same, with %g s at the least |", authorizerCache)
	if f.Bell {
		checks = fmt.Sprintf(" polls, and of watched boxes one each %g s |", max(f.Idle, authorizerCache))
	}
	if !f.Door {
		row("millions of checks", checks, func(one fleet) string { return thousands(one.checks() / 1e6) })
	}
	row("counts: read units of a channel's count", fmt.Sprintf(" 1.5 × (min(n, 1,000) / 5 + min(n, 5,000) / 30) + n / %.0f; n = boxes / channels |", 1/countShare),
		func(one fleet) string { return thousands(math.Round(countReads(one.Boxes / max(one.Channels, 1)))) })
	for i, c := range fleets[0].bill(poll) {
		row(c.Name, " "+c.Formula+" |", func(one fleet) string { return thousands(one.bill(poll)[i].Dollars) })
	}
	row("**sum**", " |", func(one fleet) string { return "**" + thousands(one.total(poll)) + "**" })
	row("a box, a year", " sum without what does not grow × 12 / boxes |", func(one fleet) string { return fmt.Sprintf("%.3f", one.boxYear(poll)) })
	row("a box", " sum / boxes |", func(one fleet) string { return fmt.Sprintf("%.3f", one.total(poll)/one.Boxes) })
	row("more if TLS handshakes are on the bill", fmt.Sprintf(" %spolls × %g bytes × %.2f a GB |", map[bool]string{true: "listens and "}[f.Bell], handshakeBytes, transferGB), func(one fleet) string { return thousands(one.handshakes()) })
	row("less by the gateway's volume prices", " see below |", func(one fleet) string { return thousands(one.tiered()) })
}

// name is the heading of the fleet's column.
func (f fleet) name() string {
	if f.Channels > 1 {
		return thousands(f.Boxes) + " in " + thousands(f.Channels) + " channels"
	}
	return thousands(f.Boxes)
}

// total is the sum of a fleet's bill.
func (f fleet) total(poll limit) float64 {
	sum := 0.0
	for _, c := range f.bill(poll) {
		sum += c.Dollars
	}
	return sum
}

// boxYear is what a box costs in a year, without the costs that do not grow with the fleet.
func (f fleet) boxYear(poll limit) float64 { return 12 * (f.total(poll) - fixed) / f.Boxes }

// thousands formats a number with commas, and a small one with a decimal.
func thousands(x float64) string {
	if x < 9.95 && x != math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
