package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/setting"
)

// Defaults of the stack's settings. A test of infra compares them with infra.
const (
	webhookRate, webhookHours = 10, 4 // events a second that an endpoint gets, and hours for which they wait
	tableQuota                = 40_000
	manifestReserved          = 0.20 // of the account's concurrent executions
	authorizerReserved        = 0.10
)

// Limits of AWS, from the pages named in infra/fleet-size.md.
const (
	partitionWrites, partitionReads = 1000, 3000 // units a second of one partition
	newRequests                     = 10_000     // a second, for which Lambda makes room in ten seconds
	callsOfExecution                = 10         // a second, of one execution
	// movedWrites is the number of writes of the index byState for a box in a new state: the old entry is deleted, and a
	// new one added.
	movedWrites = 2.0
)

// A boundary is a limit that some number of boxes reaches, with default settings.
type boundary struct {
	What    string
	Boxes   float64
	Formula string
	Then    string
	Moves   string
}

// boundaries lists the limits for boxes that poll, or listen, at the default interval, all on a channel with an
// active rollout.
func boundaries(poll limit) []boundary {
	every := float64(setting.Ranges[setting.PollIntervalSeconds].Default)
	shards := float64(setting.Ranges[setting.ReportShards].Default)
	cache := float64(setting.Ranges[setting.ChannelCacheSeconds].Default)
	op := table.Get("get-manifest")
	duration := (float64(poll.Rounds)*roundTripMS + pollCPU*fullCPU/float64(op.MemoryMB)) / 1000
	check := (authorizerCPU*fullCPU/authorizerMemory + roundTripMS) / 1000
	list := []boundary{
		{"`reserveBell`, where boxes listen", bellShare * concurrencyQuota * callsOfExecution * every,
			fmt.Sprintf("10 %% of %s executions × %d calls a second × %g s", thousands(concurrencyQuota), callsOfExecution, every),
			"429; boxes listen again, and poll each hour after ten intervals", "`reserveBell`, `accountConcurrency`"},
		{"`pollRate`", pollRate * every, fmt.Sprintf("%s a second × %g s", thousands(pollRate), every),
			"429 with `Retry-After`; boxes poll later", "`pollRate`, below `throttleRate`"},
		{"the webhook of `eventsEndpoint`, in one import", webhookRate * webhookHours * 3600,
			fmt.Sprintf("%d events a second × %d hours, one event for a box", webhookRate, webhookHours),
			"events go to the queue of what was not delivered", "`eventsEndpoint` (`rate`, to 300)"},
		{"a new table `rate-counters`", warmed * every / poll.Write,
			fmt.Sprintf("%s writes a second × %g s / %g write unit of a poll", thousands(warmed), every, poll.Write),
			"polls are admitted without being counted", "`warmWrites`"},
		{"the index of a new table `reports`, when a stage goes from 50 to 100 %", warmed * every / movedWrites / 0.5,
			fmt.Sprintf("%s writes a second × %g s / %g writes / half of the boxes", thousands(warmed), every, movedWrites),
			"503 with `Retry-After` for some; these boxes come again", "`warmWrites`"},
		{"requests a second of the account", gatewayQuota * every, fmt.Sprintf("%s a second × %g s", thousands(gatewayQuota), every),
			"429 for all APIs of the account; api-quota goes off at 80 %", "the quota, then `apiQuota`"},
		{"executions of `get-manifest`, with a store three times as slow", manifestReserved * concurrencyQuota / (3 * duration) * every,
			fmt.Sprintf("20 %% of %s executions / (3 × %.0f ms) × %g s", thousands(concurrencyQuota), duration*1000, every),
			"502 for some; functions-throttled goes off", "`reserveManifest`, `accountConcurrency`"},
		{"new executions of one function", newRequests * every,
			fmt.Sprintf("%s requests a second in the first ten seconds × %g s", thousands(newRequests), every),
			"502 for some, for ten seconds more with each further " + thousands(newRequests) + " requests a second", "no setting; `pollRate` spreads boxes"},
		{"the authorizer, when all tokens are checked within an interval", authorizerReserved * concurrencyQuota / check * every,
			fmt.Sprintf("10 %% of %s executions / %.1f ms × %g s", thousands(concurrencyQuota), check*1000, every),
			"500 for some; these boxes come again", "`reserveAuthorizer`, `accountConcurrency`"},
		{"the index `byState` of `reports`: boxes of one channel that move on at once", shards * partitionWrites * every / movedWrites,
			fmt.Sprintf("%g parts × %s writes a second × %g s / %g writes", shards, thousands(partitionWrites), every, movedWrites),
			"503 for some; these boxes come again", "`reportShards`; from 50 to 100 %, half of them move, so twice as many boxes"},
		{"writes a second of one table (`rate-counters`)", tableQuota * every / poll.Write,
			fmt.Sprintf("%s units a second × %g s / %g write unit of a poll", thousands(tableQuota), every, poll.Write),
			"as for a new table; table-quota goes off at 80 %", "the quota, then `tableQuota`"},
		{"the row of one channel", partitionReads * cache / duration * every,
			fmt.Sprintf("%s reads a second × %g s that a container keeps it / %.0f ms × %g s", thousands(partitionReads), cache, duration*1000, every),
			"503 for some; these boxes come again", "no setting; several channels"},
	}
	slices.SortStableFunc(list, func(a, b boundary) int { return cmp.Compare(a.Boxes, b.Boxes) })
	return list
}

// writeBoundaries writes the table of limits by number of boxes.
func writeBoundaries(w io.Writer) error {
	all, err := limits()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| boxes | reach | formula | then | what moves it |\n|--:|---|---|---|---|")
	for _, b := range boundaries(all[pollCall]) {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", thousands(math.Floor(b.Boxes/1000)*1000), b.What, b.Formula, b.Then, b.Moves)
	}
	return nil
}
