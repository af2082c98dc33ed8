package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"wavegate/shared/access/auth"
)

var fleets = []float64{100, 1_000, 10_000, 100_000, 1_000_000}

func report(w io.Writer, boxes, releases, halted int) {
	fmt.Fprintf(w, `# What boxes cost that listen to the bell

Boxes live through a year on the decisions of the client in scripts/box, in simulated time. There are %d releases; each is
a rollout under the default policy, which the guard promotes, so it lasts %.0f hours. The boxes listen each %.0f s, and each
%.0f s in the hour after a change. %d boxes of each fleet were played; whether a box is watched is the service's rule for a
channel of that size. An installation takes 2 to 10 minutes, and %.0f %% of the attempts fail. Prices are list prices as
infra/fleet-size.md has them: us-east-1, and eu-central-1 in brackets.

A million calls cost, in dollars: the bell %.3f (%.3f), a poll %.2f (%.2f), a check of a token %.2f (%.2f).

## Calls and dollars of one box and year

`, releases, (4 * soaks).Hours(), idleInterval.Seconds(), busyInterval.Seconds(), boxes, failing*100,
		virginia.bell(), frankfurt.bell(), virginia.poll(), frankfurt.poll(), virginia.check(), frankfurt.check())
	unneeded := yearTable(w, "listens each 300 s, heartbeat each 6 h", boxes, newYear(begin, releases, idleInterval, heartbeat), nil)
	yearTable(w, "listens each 600 s, heartbeat each 6 h", boxes, newYear(begin, releases, 2*idleInterval, heartbeat), nil)
	yearTable(w, "50 boxes behind a plant's cache that asks each 60 s, heartbeat each 24 h", boxes, newYear(begin, releases, idleInterval, 4*heartbeat),
		func(c calls) calls { c.Bells = year.Minutes() / 50; return c })
	today(w, releases)
	fmt.Fprint(w, `
"All" is a box's calls with its share of the rollouts' counts and of what does not grow (60 dollars a month). Up to some
thousand boxes, all of them are watched while a rollout is active, and poll each 300 s. Of the polls in the first table,
`, fmt.Sprintf("%.0f", unneeded), ` came without a ring, a heartbeat, a download, an installation or a report.

Not in it are TLS handshakes. If AWS bills their bytes at function URLs, and boxes do not resume sessions, a million calls
of the bell cost `, fmt.Sprintf("%.3f", virginia.bell()+handshakeBytes/gb*traffic), ` dollars.

## A halt

`)
	fmt.Fprintf(w, "A rollout that reaches all of %s boxes is halted a while after its start.\n\n", whole(float64(halted)))
	for _, after := range []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute} {
		h := playHalt(halted, after)
		activated := "None activated it."
		if h.activated > 0 {
			activated = fmt.Sprintf("%d activated it, the last one %s.", h.activated, seconds(h.lastActivated))
		}
		fmt.Fprintf(w, "- After %.0f min: %d were told the version, the last one %s. %s %d downloaded it and did not activate it.\n",
			after.Minutes(), h.told, seconds(h.lastTold), activated, h.downloaded)
	}
	c := idle(halted)
	fmt.Fprintf(w, "\n## An idle day\n\n%s boxes: %s calls of the bell and %s polls, of which %.0f were no heartbeat.\n", whole(float64(halted)), whole(c.Bells), whole(c.Polls), c.Unneeded)
}

func seconds(d time.Duration) string {
	if d < 0 {
		return "before the halt"
	}
	return fmt.Sprintf("%.1f s after the halt", d.Seconds())
}

// yearTable writes the table of one way to listen. behind is what reaches the bell of the calls; nil: all. It returns how
// many polls nothing asked for.
func yearTable(w io.Writer, name string, boxes int, s service, behind func(calls) calls) (unneeded float64) {
	var active time.Duration
	for _, r := range s.releases {
		active += r.over.Sub(r.began)
	}
	fmt.Fprintf(w, "\n**%s**\n\n| boxes on a channel | bells | polls | of them, during rollouts | checks of tokens | reports | bells, $ | polls and reports, $ | checks, $ | its calls, $ | all, $ |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n", name)
	for _, n := range fleets {
		c := newFleet(n).play(s, boxes)
		unneeded += c.Unneeded * float64(boxes)
		if behind != nil {
			c = behind(c)
		}
		us, eu := virginia.bill(c, n, active), frankfurt.bill(c, n, active)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.1f | %s | %s | %s | %s | %s |\n", whole(n), whole(c.Bells), whole(c.Polls), whole(c.During), whole(c.Checks), c.Reports,
			both(us.bells, eu.bells), both(us.polls+us.reports, eu.polls+eu.reports), both(us.checks, eu.checks), both(us.calls(), eu.calls()), both(us.all(), eu.all()))
	}
	return unneeded
}

// today writes what boxes cost that only poll: each minute while a rollout is active, and each five minutes otherwise.
func today(w io.Writer, releases int) {
	active := float64(releases) * (4*soaks + 10*time.Minute).Seconds()
	idle := year.Seconds() - active
	c := calls{Polls: active/busyInterval.Seconds() + idle/idleInterval.Seconds(), Checks: year.Seconds() / auth.GatewayCache.Seconds(), Installed: float64(releases)}
	us, eu := virginia.bill(c, 100_000, 0), frankfurt.bill(c, 100_000, 0)
	fmt.Fprintf(w, "\n**Without the bell**, a box polls %s times, and its calls cost %s dollars.\n", whole(c.Polls), both(us.calls(), eu.calls()))
}

func both(us, eu float64) string { return fmt.Sprintf("%s (%s)", dollars(us), dollars(eu)) }

// dollars has two significant digits at least.
func dollars(x float64) string {
	if x > 0 && x < 0.0995 {
		return fmt.Sprintf("%.*f", int(math.Ceil(-math.Log10(x)))+1, x)
	}
	return fmt.Sprintf("%.2f", x)
}

func whole(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
