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
	// Bell caps the bell, which strangers can call, and is kept for listening boxes.
	Bell int
	// Door does the same for the door.
	Door int
}

// unreserved is how many executions Lambda keeps for functions without a reservation.
const unreserved = 100

func readConcurrency(r *reader) Concurrency {
	const highest = 1_000_000
	c := Concurrency{Account: r.number("accountConcurrency", 0, 0, highest)}
	if _, said := r.value("accountConcurrency"); !said && r.stage == string(Prod) {
		r.fault("accountConcurrency: prod must set the account's quota of concurrent executions (aws lambda get-account-settings)")
	}
	var copilot, manifest, ddiBase, authorizer, bell, door int
	if c.Account >= 2*unreserved { // otherwise there is nothing to divide
		copilot, manifest, ddiBase, authorizer = c.Account/20, c.Account/5, c.Account/10, c.Account/10
		if r.flag("bell", false) {
			bell = c.Account / 10
		}
		if r.flag("door", false) {
			door = c.Account / 10
		}
	}
	c.Copilot = r.number("reserveCopilot", copilot, 0, highest)
	c.Manifest = r.number("reserveManifest", manifest, 0, highest)
	c.DDIBase = r.number("reserveDdiBase", ddiBase, 0, highest)
	c.Authorizer = r.number("reserveAuthorizer", authorizer, 0, highest)
	c.Bell = r.number("reserveBell", bell, 0, highest)
	c.Door = r.number("reserveDoor", door, 0, highest)
	return c
}

func (c Concurrency) check(r *reader) {
	if reserved := c.Copilot + c.Manifest + c.DDIBase + c.Authorizer + c.Bell + c.Door; reserved > 0 && c.Account-reserved < unreserved {
		r.fault("reserveCopilot, reserveManifest, reserveDdiBase, reserveAuthorizer, reserveBell, reserveDoor: of accountConcurrency, %d, they leave less than the %d that Lambda requires", c.Account, unreserved)
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
	case function == operations.Bell:
		return c.Bell
	case function == operations.Door:
		return c.Door
	case op.Limit == ratelimit.Copilot:
		return c.Copilot
	}
	return 0
}
