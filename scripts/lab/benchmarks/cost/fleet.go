package main

import (
	"fmt"
	"math"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/operations"
)

// afterEnd is on how many days after a rollout these go on.
var afterEnd = bell.AfterEnd(heartbeat*time.Second).Hours() / 24

// A fleet is what boxes do in a month.
type fleet struct {
	Boxes float64
	// Interval is how often a box polls while something goes on at its channel, and Idle otherwise, in seconds.
	Interval, Idle float64
	// Days is on how many days of the month something goes on at a box's channel, and Releases how many releases
	// come.
	Days, Releases float64
	// Bell is set if the boxes listen, all of one channel.
	Bell bool
}

// authorizerCache is auth.GatewayCache in seconds. It keeps a box that polls less often from ever being known.
var authorizerCache = auth.GatewayCache.Seconds()

const (
	monthDays = 365.0 / 12
	day       = 86_400.0
	// pollCPU and authorizerCPU are milliseconds of processor time, and logged bytes: scripts/lab/benchmarks/results/cost.md.
	pollCPU, pollLogged             = 1.3, 10.0
	authorizerCPU, authorizerLogged = 0.63, 300.0
	authorizerMemory                = operations.HelperMemoryMB
	// answerBytes is what an answer to a poll takes on the wire, most of it headers: an estimate.
	answerBytes = 700.0
	// handshakeBytes is what the service sends in a full TLS handshake, most of it certificates.
	handshakeBytes = 3800.0
	// storedBytes is what the tables keep of a box.
	storedBytes = 2000.0
	// fixed is what a stage costs that nobody calls, and the metrics of operations that people use.
	fixed = alarmMetrics*alarmMetric + dashboard + writtenMetrics*writtenMetric
	// A count of a channel's boxes is made each minute of an active rollout. It reads the index entry of each box,
	// entryBytes with names of some 20 characters, at half a unit for 4 KB. It looks up when boxes were last seen, at a
	// unit for the row and half a unit for the counter: 1,000 for the progress, 1,000 of the present stage once it has
	// soaked, and 5,000 each half an hour, when the guard looks at silence. It keeps what it counted.
	entryBytes  = 280.0
	countShare  = entryBytes / 8192
	countUnits  = 1.5 * (1000 + 1000 + 5000.0/30)
	countWrites = 8.0
	// A box that listens does so at Idle, and at Interval for an hour after each of the five changes that a release makes
	// by itself: start, three stages and completion. It polls at its heartbeat, at each of these changes, and some ten
	// times around its update.
	releaseChanges, updatePolls = 5.0, 10.0
	heartbeat                   = 21_600.0
	// bellCPU is milliseconds of processor time for a call of the bell, and bellBytes what its answer takes on the wire.
	bellCPU, bellBytes = 0.32, 400.0
	// watched is how many boxes of a stage poll at Idle during a rollout and afterwards. See bell.Sizes.
	watched = 1.2 * 1000
	// reportReads and reportWrites are what a box's report row takes for a release, by the same page.
	reportReads, reportWrites = 2.0, 6.0
)

// Shares of the gateway's first price that calls beyond so many millions a month cost, as us-east-1 has them. They
// are taken off in a line of their own, since regions differ.
var tiers = []struct{ Millions, Share float64 }{{333, 1}, {667, 2.80 / 3.50}, {19_000, 2.38 / 3.50}, {1e12, 1.51 / 3.50}}

// A cost is one line of a fleet's bill, in dollars a month.
type cost struct {
	Name, Formula string
	Dollars       float64
}

// stageShares are the shares of a fleet that the stages of a rollout reach first.
var stageShares = []float64{0.01, 0.09, 0.4, 0.5}

// listens is how often the boxes listen in a month.
func (f fleet) listens() float64 {
	if !f.Bell {
		return 0
	}
	return f.Boxes * (day*monthDays/f.Idle + f.Releases*releaseChanges*3600*max(0, 1/f.Interval-1/f.Idle))
}

// rare is how many polls boxes that listen make at their heartbeats and for releases, in a month.
func (f fleet) rare() float64 {
	return f.Boxes * (day*monthDays/heartbeat + f.Releases*(releaseChanges+updatePolls))
}

// watched is how many polls the watched boxes make beside these, at so many seconds.
func (f fleet) watched(interval float64) (sum float64) {
	for _, share := range stageShares {
		sum += min(share*f.Boxes, watched) * day * min(f.Days+f.Releases*afterEnd, monthDays) / interval
	}
	return sum
}

// polls is how many polls a fleet makes in a month.
func (f fleet) polls() float64 {
	if f.Bell {
		return f.rare() + f.watched(f.Idle)
	}
	return f.Boxes * day * (f.Days/f.Interval + (monthDays-f.Days)/f.Idle)
}

// checks is how often the authorizer looks at a token. It is asked at each poll that comes later than the gateway's
// cache lasts.
func (f fleet) checks() float64 {
	if f.Bell {
		return f.rare() + f.watched(max(f.Idle, authorizerCache))
	}
	return f.Boxes * day * (f.Days/max(f.Interval, authorizerCache) + (monthDays-f.Days)/max(f.Idle, authorizerCache))
}

// bill is what a fleet costs, by what a poll takes of the store.
func (f fleet) bill(poll limit) []cost {
	millions, checks := f.polls()/1e6, f.checks()/1e6
	op := operations.Get("get-manifest")
	duration := float64(poll.Rounds)*roundTripMS + pollCPU*fullCPU/float64(op.MemoryMB)
	compute := lambdaRequests + duration/1000*float64(op.MemoryMB)/1024*lambdaGBSecond*1e6
	check := authorizerCPU*fullCPU/authorizerMemory/1000*authorizerMemory/1024*lambdaGBSecond*1e6 + lambdaRequests +
		(authorizerLogged+platformLog)/1e9*logsGB*1e6
	counts := f.Days * 24 * 60 * (countUnits + f.Boxes*countShare)
	ring := bellCPU * fullCPU / operations.HelperMemoryMB / 1000 * operations.HelperMemoryMB / 1024 * lambdaGBSecond * 1e6
	var listens []cost
	if f.Bell {
		listens = []cost{
			{"bell", fmt.Sprintf("listens × (%.2f + %.3f)", lambdaRequests, ring), f.listens() / 1e6 * (lambdaRequests + ring)},
			{"bell's traffic", fmt.Sprintf("listens × %.0f bytes × %.2f a GB", bellBytes, transferGB), f.listens() * bellBytes / 1e9 * transferGB},
		}
	}
	return append(listens, []cost{
		{"gateway", fmt.Sprintf("polls × %.2f", gatewayCalls), millions * gatewayCalls},
		{"get-manifest", fmt.Sprintf("polls × %.2f", compute), millions * compute},
		{"limiter's writes", fmt.Sprintf("polls × %g write units × %.4f", poll.Write, writeUnits), millions * poll.Write * writeUnits},
		{"reads of boxes", fmt.Sprintf("polls × %g read units × %.4f", poll.Read, readUnits), millions * poll.Read * readUnits},
		{"access logs", fmt.Sprintf("polls × %.0f bytes × %.2f a GB", accessLog+pollLogged, logsGB), millions * (accessLog + pollLogged) / 1e9 * logsGB * 1e6},
		{"traces", fmt.Sprintf("polls × %g %% × %.2f", traced*100, traces), millions * traced * traces},
		{"authorizer", fmt.Sprintf("checks × %.2f", check), checks * check},
		{"traffic", fmt.Sprintf("polls × %.0f bytes × %.2f a GB", answerBytes, transferGB), millions * answerBytes / 1e9 * transferGB * 1e6},
		{"reports", fmt.Sprintf("boxes × releases × (%g write units × %.4f + %g read units × %.4f)", reportWrites, writeUnits, reportReads, readUnits),
			f.Boxes * f.Releases / 1e6 * (reportWrites*writeUnits + reportReads*readUnits)},
		{"counts of rollouts", fmt.Sprintf("days × 1,440 × ((%.0f + boxes / %.0f) read units × %.4f + %g write units × %.4f)", countUnits, 1/countShare, readUnits, countWrites, writeUnits),
			(counts*readUnits + f.Days*24*60*countWrites*writeUnits) / 1e6},
		{"storage and its backups", fmt.Sprintf("boxes × %g KB × %.2f a GB", storedBytes/1000, storedGB+backedUpGB), f.Boxes * storedBytes / 1e9 * (storedGB + backedUpGB)},
		{"what does not grow", "alarms, dashboard, metrics", fixed},
	}...)
}

// handshakes is what the bytes of TLS handshakes cost, if each poll begins a connection and they are on the bill.
func (f fleet) handshakes() float64 {
	return (f.polls() + f.listens()) * handshakeBytes / 1e9 * transferGB
}

// tiered is what the gateway's volume prices take off.
func (f fleet) tiered() float64 {
	left, off := f.polls()/1e6, 0.0
	for _, t := range tiers {
		some := min(left, t.Millions)
		off += some * gatewayCalls * (1 - t.Share)
		left -= some
	}
	return off
}

// A need is what a fleet's account and settings must allow.
type need struct {
	PerSecond               float64 // polls, while something goes on at every box's channel
	PollRate, PollBurst     int
	ThrottleRate, Burst     int
	GatewayQuota            int // requests a second of the account
	Executions, Concurrency int // of get-manifest at its mean, and the account's quota
	WarmWrites              int // of rate-counters, a second
	Bell                    int // executions to reserve for get-bell
}

const (
	// spare is how much more than the mean rate is allowed for: boxes that come back together.
	spare = 1.25
	// The defaults of settings and of the quotas.
	pollRate, pollBurst, throttleRate, throttleBurst = 1800, 1000, 2000, 2000
	gatewayQuota, concurrencyQuota                   = 10_000, 1_000
	// warmed is how many writes a second a new on-demand table takes at once.
	warmed = 4_000
	// manifestShare is the share of the account's executions that get-manifest has at the most.
	manifestShare = 0.3
	// bellShare is the share that get-bell has if nothing else is said.
	bellShare = 0.1
)

// needs is what a fleet needs of settings and quotas.
func (f fleet) needs(poll limit) need {
	n := need{PerSecond: f.Boxes / min(f.Interval, f.Idle)}
	up := func(x float64, step int) int { return (int(x)/step + 1) * step }
	n.PollRate, n.PollBurst = max(pollRate, up(n.PerSecond*spare, 100)), max(pollBurst, up(n.PerSecond/4, 100))
	n.ThrottleRate, n.Burst = max(throttleRate, n.PollRate+200), max(throttleBurst, n.PollBurst+200)
	n.GatewayQuota = gatewayQuota
	if wanted := float64(n.PollRate) * spare; wanted > gatewayQuota {
		n.GatewayQuota = up(wanted, 1000)
	}
	op := operations.Get("get-manifest")
	duration := float64(poll.Rounds)*roundTripMS + pollCPU*fullCPU/float64(op.MemoryMB)
	n.Executions = int(n.PerSecond*duration/1000) + 1
	n.Concurrency = concurrencyQuota
	// A store that is three times as slow must not use up the share.
	if wanted := float64(n.Executions) * 3 / manifestShare; wanted > concurrencyQuota {
		n.Concurrency = up(wanted, 500)
	}
	if f.Bell { // three times what the fleet needs, of 10 calls a second each
		n.Bell = int(math.Ceil(3 * f.Boxes / f.Interval / 10))
		if wanted := float64(n.Concurrency)*(1-bellShare) + float64(n.Bell); wanted > float64(n.Concurrency) {
			n.Concurrency = up(wanted, 500)
		}
	}
	if writes := n.PerSecond * spare * poll.Write; writes > warmed {
		n.WarmWrites = up(writes, 1000)
	}
	return n
}
