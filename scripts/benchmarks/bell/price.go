package main

import "time"

// Prices are list prices in dollars of a million, or of a GB, without free tier and discounts, as infra/fleet-size.md
// has them.
type prices struct{ gateway, readUnits, writeUnits, logs float64 }

var (
	virginia  = prices{gateway: 3.50, readUnits: 0.125, writeUnits: 0.625, logs: 0.50}
	frankfurt = prices{gateway: 3.70, readUnits: 0.1525, writeUnits: 0.7625, logs: 0.63}
)

// What is the same in both regions, and the sizes that infra/fleet-size.md counts with.
const (
	requests          = 0.20 // Lambda
	pollCompute       = 0.04
	checkCompute      = 0.015
	bellCompute       = 0.007
	traces            = 0.05 * 5.00
	traffic           = 0.09 // a GB
	pollBytes         = 700.0
	bellBytes         = 400.0
	handshakeBytes    = 3_800.0
	pollLogged        = 620.0
	checkLogged       = 1_060.0
	fixed             = 60.0 // a month
	countUnits        = 3_250.0
	boxesOfACountUnit = 29.0
	countWrites       = 8.0
)

const gb = 1e9 / 1e6 // bytes, for a million calls

func (p prices) bell() float64 { return requests + bellCompute + bellBytes/gb*traffic }

func (p prices) poll() float64 {
	return p.gateway + requests + pollCompute + p.writeUnits + 0.5*p.readUnits + pollLogged/gb*p.logs + traces + pollBytes/gb*traffic
}

func (p prices) check() float64 { return requests + checkCompute + checkLogged/gb*p.logs }

// report is a report of its own, and installed what a box's row takes for each release.
func (p prices) report() float64    { return p.poll() + 3*p.writeUnits + p.readUnits }
func (p prices) installed() float64 { return 6*p.writeUnits + 2*p.readUnits }

// A bill is of one box and year, in dollars.
type bill struct{ bells, polls, checks, reports, counts, fixed float64 }

func (p prices) bill(c calls, boxes float64, active time.Duration) bill {
	const million = 1e6
	return bill{
		bells: c.Bells / million * p.bell(), polls: c.Polls / million * p.poll(), checks: c.Checks / million * p.check(),
		reports: (c.Reports*p.report() + c.Installed*p.installed()) / million,
		counts:  active.Minutes() * ((countUnits+boxes/boxesOfACountUnit)*p.readUnits + countWrites*p.writeUnits) / million / boxes,
		fixed:   12 * fixed / boxes,
	}
}

// calls is what the box itself costs, and all is that with its share of what does not grow.
func (b bill) calls() float64 { return b.bells + b.polls + b.checks + b.reports }
func (b bill) all() float64   { return b.calls() + b.counts + b.fixed }
