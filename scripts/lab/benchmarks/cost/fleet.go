package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
)

// afterEnd is the number of days after a rollout for which these continue.
var afterEnd = bell.AfterEnd(heartbeat*time.Second).Hours() / 24

// A fleet describes the boxes and what they do in a month.
type fleet struct {
	Boxes float64
	// Interval is the time between polls while the box's channel is busy, and Idle at other times, in seconds.
	Interval, Idle float64
	// Days is the number of busy days of a channel in a month, and Releases the number of releases.
	Days, Releases float64
	// Channels is how many channels the boxes follow, each with its own rollouts; 0: one.
	Channels float64
	// Bell is set if the boxes listen, and Door if they have tokens of their own and poll at the door.
	Bell, Door bool
}

// authorizerCache is auth.GatewayCache in seconds. A box that polls less often is never in the cache.
var authorizerCache = auth.GatewayCache.Seconds()

const (
	monthDays = 365.0 / 12
	day       = 86_400.0
	// pollCPU and authorizerCPU are milliseconds of processor time, and logged bytes: scripts/lab/benchmarks/results/cost.md.
	pollCPU, pollLogged             = 1.3, 10.0
	authorizerCPU, authorizerLogged = 0.63, 300.0
	authorizerMemory                = operations.HelperMemoryMB
	// answerBytes is an estimate of an answer to a poll on the wire, mostly headers.
	answerBytes = 700.0
	// doorBytes is the same at the door, without API Gateway's headers: 350 bytes for a manifest and 460 for a DDI client
	// locally, where hosts are shorter.
	doorBytes = 500.0
	// handshakeBytes are the bytes that the service sends in a full TLS handshake, mostly certificates.
	handshakeBytes = 3800.0
	// storedBytes are the bytes that the tables keep for a box.
	storedBytes = 2000.0
	// fixed is the cost of a deployment without calls, and of the metrics of operations that people use.
	fixed = alarmMetrics*alarmMetric + writtenMetrics*writtenMetric
	// A count of a channel's boxes is made each minute of an active rollout; see countReads. It reads the index entry of each box,
	// entryBytes with names of some 20 characters, at half a unit for 4 KB. It looks up when boxes were last seen, at a
	// unit for the row and half a unit for the counter: every ten minutes 1,000 for the progress and 1,000 of the present stage
	// once it has soaked, and 5,000 every half hour, when the guard checks for silence, apart from boxes that are new since the
	// start. It stores its counts, and the item of the present hour's history, which grows by 200 bytes each minute.
	entryBytes  = 280.0
	countShare  = entryBytes / 8192
	countWrites = 12.0
	// A box listens at Idle, and at Interval for an hour after each of the five changes of a release: start, three
	// stages and completion. It polls at its heartbeat, at each of these changes, and about ten times around its update.
	releaseChanges, updatePolls = 5.0, 10.0
	heartbeat                   = 21_600.0
	// bellCPU is milliseconds of processor time for a call of the bell, and bellBytes the size of its answer on the
	// wire.
	bellCPU, bellBytes = 0.32, 400.0
	// watched is the number of a stage's boxes that poll at Idle during a rollout and afterwards. See bell.Sizes.
	watched = 1.2 * 1000
	// reportReads and reportWrites are the units for a box's report row per release, from the same page.
	reportReads, reportWrites = 2.0, 6.0
)

// The prices of API Gateway beyond so many million calls a month, as shares of its first price in us-east-1. The
// discount has its own line, because regions differ.
var tiers = []struct{ Millions, Share float64 }{{333, 1}, {667, 2.80 / 3.50}, {19_000, 2.38 / 3.50}, {1e12, 1.51 / 3.50}}

// countReads is how many read units the count of a channel of so many boxes takes, as a mean.
func countReads(n float64) float64 {
	return 1.5*(min(n, 1000)/10+min(n, 1000)/10+min(n, 5000)/30) + n*countShare
}

// A cost is one line of a fleet's bill, in dollars a month.
type cost struct {
	Name, Formula string
	Dollars       float64
}

// stageShares are the shares of a fleet that each stage of a rollout adds.
var stageShares = []float64{0.01, 0.09, 0.4, 0.5}

// near is the share of the boxes that poll at Interval on a busy day, as a mean of the stages: those that the rollout has
// reached, and the watched ones of the other stages.
func (f fleet) near() float64 {
	reached, sum := 0.0, 0.0
	for i, share := range stageShares {
		reached += share
		sum += reached
		for _, later := range stageShares[i+1:] {
			sum += min(later, watched*max(f.Channels, 1)/f.Boxes)
		}
	}
	return sum / float64(len(stageShares))
}

// listens is the number of calls of the bell in a month.
func (f fleet) listens() float64 {
	if !f.Bell {
		return 0
	}
	return f.Boxes * (day*monthDays/f.Idle + f.Releases*releaseChanges*3600*max(0, 1/f.Interval-1/f.Idle))
}

// rare is the number of polls in a month that listening boxes make at heartbeats and for releases.
func (f fleet) rare() float64 {
	return f.Boxes * (day*monthDays/heartbeat + f.Releases*(releaseChanges+updatePolls))
}

// watched is the number of additional polls of the watched boxes, at an interval in seconds.
func (f fleet) watched(interval float64) (sum float64) {
	for _, share := range stageShares {
		sum += min(share*f.Boxes, watched) * day * min(f.Days+f.Releases*afterEnd, monthDays) / interval
	}
	return sum
}

// polls is the number of polls of a fleet in a month.
func (f fleet) polls() float64 {
	if f.Bell {
		return f.rare() + f.watched(f.Idle)
	}
	often := f.Days * f.near()
	return f.Boxes * day * (often/f.Interval + (monthDays-often)/f.Idle)
}

// checks is the number of calls of the authorizer: one for each poll that comes after API Gateway's cache has
// expired.
func (f fleet) checks() float64 {
	if f.Bell {
		return f.rare() + f.watched(max(f.Idle, authorizerCache))
	}
	often := f.Days * f.near()
	return f.Boxes * day * (often/max(f.Interval, authorizerCache) + (monthDays-often)/max(f.Idle, authorizerCache))
}

// bill is the cost of a fleet. poll has the units of a poll.
func (f fleet) bill(poll limit) []cost {
	millions, checks := f.polls()/1e6, f.checks()/1e6
	op := table.Get("get-manifest")
	if f.Door { // the token is verified before the limiter counts
		poll.Rounds++
	}
	duration := float64(poll.Rounds)*roundTripMS + pollCPU*fullCPU/float64(op.MemoryMB)
	compute := lambdaRequests + duration/1000*float64(op.MemoryMB)/1024*lambdaGBSecond*1e6
	check := authorizerCPU*fullCPU/authorizerMemory/1000*authorizerMemory/1024*lambdaGBSecond*1e6 + lambdaRequests +
		(authorizerLogged+platformLog)/1e9*logsGB*1e6
	channels := max(f.Channels, 1)
	ticks := f.Days * 24 * 60 * channels
	ring := bellCPU * fullCPU / operations.HelperMemoryMB / 1000 * operations.HelperMemoryMB / 1024 * lambdaGBSecond * 1e6
	var listens []cost
	if f.Bell {
		listens = []cost{
			{"bell", fmt.Sprintf("listens × (%.2f + %.3f)", lambdaRequests, ring), f.listens() / 1e6 * (lambdaRequests + ring)},
			{"bell's traffic", fmt.Sprintf("listens × %.0f bytes × %.2f a GB", bellBytes, transferGB), f.listens() * bellBytes / 1e9 * transferGB},
		}
	}
	bytes := answerBytes
	way := []cost{
		{"gateway", fmt.Sprintf("polls × %.2f", gatewayCalls), millions * gatewayCalls},
		{"get-manifest", fmt.Sprintf("polls × %.2f", compute), millions * compute},
		{"access logs", fmt.Sprintf("polls × %.0f bytes × %.2f a GB", accessLog+pollLogged, logsGB), millions * (accessLog + pollLogged) / 1e9 * logsGB * 1e6},
		{"traces", fmt.Sprintf("polls × %g %% × %.2f", traced*100, traces), millions * traced * traces},
		{"authorizer", fmt.Sprintf("checks × %.2f", check), checks * check},
	}
	if f.Door {
		bytes = doorBytes
		way = []cost{
			{"door", fmt.Sprintf("polls × %.2f", compute), millions * compute},
			{"logs", fmt.Sprintf("polls × %.0f bytes × %.2f a GB", pollLogged, logsGB), millions * pollLogged / 1e9 * logsGB * 1e6},
		}
	}
	return slices.Concat(listens, way, []cost{
		{"limiter's writes", fmt.Sprintf("polls × %g write units × %.4f", poll.Write, writeUnits), millions * poll.Write * writeUnits},
		{"reads of boxes", fmt.Sprintf("polls × %g read units × %.4f", poll.Read, readUnits), millions * poll.Read * readUnits},
		{"traffic", fmt.Sprintf("polls × %.0f bytes × %.2f a GB", bytes, transferGB), millions * bytes / 1e9 * transferGB * 1e6},
		{"reports", fmt.Sprintf("boxes × releases × (%g write units × %.4f + %g read units × %.4f)", reportWrites, writeUnits, reportReads, readUnits),
			f.Boxes * f.Releases / 1e6 * (reportWrites*writeUnits + reportReads*readUnits)},
		{"counts of rollouts", fmt.Sprintf("days × 1,440 × channels × (counts × %.4f + %g write units × %.4f)", readUnits, countWrites, writeUnits),
			ticks * (countReads(f.Boxes/channels)*readUnits + countWrites*writeUnits) / 1e6},
		{"storage and its backups", fmt.Sprintf("boxes × %g KB × %.2f a GB", storedBytes/1000, storedGB+backedUpGB), f.Boxes * storedBytes / 1e9 * (storedGB + backedUpGB)},
		{"what does not grow", fmt.Sprintf("%d metrics of alarms × %.2f + %d own metrics × %.2f", alarmMetrics, alarmMetric, writtenMetrics, writtenMetric), fixed},
	})
}

// handshakes is the cost of the bytes of TLS handshakes, if each poll opens a connection and AWS bills them.
func (f fleet) handshakes() float64 {
	return (f.polls() + f.listens()) * handshakeBytes / 1e9 * transferGB
}

// tiered is the discount of API Gateway's volume prices.
func (f fleet) tiered() float64 {
	if f.Door {
		return 0
	}
	left, off := f.polls()/1e6, 0.0
	for _, t := range tiers {
		some := min(left, t.Millions)
		off += some * gatewayCalls * (1 - t.Share)
		left -= some
	}
	return off
}

// A need has the quotas and settings that a fleet needs.
type need struct {
	PerSecond               float64 // polls, while every box's channel is busy
	PollRate, PollBurst     int
	ThrottleRate, Burst     int
	GatewayQuota            int // requests a second of the account
	Executions, Concurrency int // of get-manifest at its mean, and the account's quota
	WarmWrites              int // of rate-counters, a second
	Bell                    int // executions to reserve for get-bell, or for the door
}

const (
	// spare is the reserve over the mean rate, for boxes that come back together.
	spare = 1.25
	// The defaults of settings and of the quotas.
	pollRate, pollBurst, throttleRate, throttleBurst = 1800, 1000, 2000, 2000
	gatewayQuota, concurrencyQuota                   = 10_000, 1_000
	// warmed is the number of writes a second that a new on-demand table accepts immediately.
	warmed = 4_000
	// manifestShare is the largest share of the account's executions for get-manifest.
	manifestShare = 0.3
	// bellShare is the default share of get-bell.
	bellShare = 0.1
)

// needs returns the settings and quotas that a fleet needs.
func (f fleet) needs(poll limit) need {
	n := need{PerSecond: f.Boxes / min(f.Interval, f.Idle)}
	up := func(x float64, step int) int { return (int(x)/step + 1) * step }
	n.PollRate, n.PollBurst = max(pollRate, up(n.PerSecond*spare, 100)), max(pollBurst, up(n.PerSecond/4, 100))
	n.ThrottleRate, n.Burst = max(throttleRate, n.PollRate+200), max(throttleBurst, n.PollBurst+200)
	n.GatewayQuota = gatewayQuota
	if wanted := float64(n.PollRate) * spare; wanted > gatewayQuota {
		n.GatewayQuota = up(wanted, 1000)
	}
	op := table.Get("get-manifest")
	duration := float64(poll.Rounds)*roundTripMS + pollCPU*fullCPU/float64(op.MemoryMB)
	n.Executions = int(n.PerSecond*duration/1000) + 1
	n.Concurrency = concurrencyQuota
	// A store that is three times as slow must not use up the share.
	if wanted := float64(n.Executions) * 3 / manifestShare; wanted > concurrencyQuota {
		n.Concurrency = up(wanted, 500)
	}
	kept := 0.0
	for _, one := range []bool{f.Bell, f.Door} {
		if one { // three times the need, at 10 calls a second each
			n.Bell = int(math.Ceil(3 * f.Boxes / f.Interval / 10))
			kept++
		}
	}
	if wanted := float64(n.Concurrency)*(1-kept*bellShare) + kept*float64(n.Bell); wanted > float64(n.Concurrency) {
		n.Concurrency = up(wanted, 500)
	}
	if writes := n.PerSecond * spare * poll.Write; writes > warmed {
		n.WarmWrites = up(writes, 1000)
	}
	return n
}
