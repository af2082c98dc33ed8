package main

import (
	"wavegate/shared/operations"
	"wavegate/shared/ratelimit"
)

// Concurrency divides the account's concurrent executions. A function's reservation is both a guarantee and a maximum.
type Concurrency struct {
	// Account is the account's quota of concurrent executions in the region; 0: unknown, and nothing is reserved.
	Account int
	// Copilot caps the copilot, whose calls take as long as the assistant does: a slow assistant must not use up the
	// executions that polls and halts need.
	Copilot int
	// Manifest and DDIBase are kept for polls, and Authorizer for tokens; 0: nothing is.
	Manifest, DDIBase, Authorizer int
	// Rollouts is kept for halts, Reports for each of the two operations with which boxes report, and Tick for the guard, so that
	// another application of the account cannot take them.
	Rollouts, Reports, Tick int
	// Bell caps the bell, which strangers can call, and is kept for listening boxes.
	Bell int
	// Door does the same for the door.
	Door int
}

// unreserved is how many executions Lambda keeps for functions without a reservation.
const unreserved = 100

const (
	// leastDivided is how many executions, beside the bell's and the door's own, are divided, and leastKept of how many some are kept
	// for halts, reports and the tick. With fewer, they would be capped too low.
	leastDivided, leastKept = 2 * unreserved, 5 * unreserved
	// forRollouts is for a halt beside 40 promotions, each of which waits two seconds before it is answered.
	forRollouts = 50
	// forTick is more than run at once: a tick ends before the next one begins, unless it is repeated.
	forTick = 5
)

func readConcurrency(r *reader) Concurrency {
	const highest = 1_000_000
	c := Concurrency{Account: r.number("accountConcurrency", 0, 0, highest)}
	if _, said := r.value("accountConcurrency"); !said && r.stage == string(Prod) {
		r.fault("accountConcurrency: prod must set the account's quota of concurrent executions (aws lambda get-account-settings)")
	}
	divided := c.Account
	public := func(flag, setting string) int {
		share := 0
		if c.Account >= leastDivided && r.flag(flag, false) {
			share = c.Account / 10
		}
		kept := r.number(setting, share, 0, highest)
		if _, said := r.value(setting); said {
			divided -= kept
		}
		return kept
	}
	c.Bell, c.Door = public("bell", "reserveBell"), public("door", "reserveDoor")
	var d Concurrency
	if divided >= leastDivided { // otherwise there is nothing to divide
		d = Concurrency{Copilot: divided / 20, Manifest: divided / 5, DDIBase: divided / 10, Authorizer: divided / 10}
	}
	if divided >= leastKept {
		d.Rollouts, d.Reports, d.Tick = forRollouts, divided/40, forTick
	}
	c.Copilot = r.number("reserveCopilot", d.Copilot, 0, highest)
	c.Manifest = r.number("reserveManifest", d.Manifest, 0, highest)
	c.DDIBase = r.number("reserveDdiBase", d.DDIBase, 0, highest)
	c.Authorizer = r.number("reserveAuthorizer", d.Authorizer, 0, highest)
	c.Rollouts = r.number("reserveRollouts", d.Rollouts, 0, highest)
	c.Reports = r.number("reserveReports", d.Reports, 0, highest)
	c.Tick = r.number("reserveTick", d.Tick, 0, highest)
	return c
}

// Reserved is the sum of the reservations.
func (c Concurrency) Reserved() int {
	return c.Copilot + c.Manifest + c.DDIBase + c.Authorizer + c.Rollouts + 2*c.Reports + c.Tick + c.Bell + c.Door
}

func (c Concurrency) check(r *reader) {
	if reserved := c.Reserved(); reserved > 0 && c.Account-reserved < unreserved {
		r.fault("reserve…: of accountConcurrency, %d, the %d that are reserved leave less than the %d that Lambda requires", c.Account, reserved, unreserved)
	}
}

// of is the reservation of a function; 0: none.
func (c Concurrency) of(function string, op operations.Operation) int {
	switch {
	case function == operations.Authorizer:
		return c.Authorizer
	case function == manifest:
		return c.Manifest
	case function == ddiBase:
		return c.DDIBase
	case function == "update-rollout":
		return c.Rollouts
	case function == reported, function == ddiReported:
		return c.Reports
	case function == operations.Tick:
		return c.Tick
	case function == operations.Bell:
		return c.Bell
	case function == operations.Door:
		return c.Door
	case op.Limit == ratelimit.Copilot:
		return c.Copilot
	}
	return 0
}
