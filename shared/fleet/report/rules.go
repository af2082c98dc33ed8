package report

import "wavegate/shared/platform/input"

// Rules for what a box reports.
var (
	// OutcomeRule accepts the outcomes of an attempt that a box may report. Its polls say which version it runs.
	OutcomeRule = &input.Text{Pattern: `working|deferred|failed`, Says: "working, deferred or failed"}
	// CodeRule accepts the reasons why an attempt failed.
	CodeRule = &input.Text{
		Pattern: `download|checksum|signature|space|power|incompatible|install|boot|health|other`,
		Says:    "download, checksum, signature, space, power, incompatible, install, boot, health or other",
	}
	// DetailRule accepts a box's message in its own words. It is shown to people.
	DetailRule = &input.Text{Max: 256, Check: input.Visible, Says: "at most 256 characters without control characters and invisible characters"}
	// StateRule accepts the states to search boxes by.
	StateRule = &input.Text{
		Pattern: `offered|working|deferred|installed|failed|reverted`,
		Says:    "offered, working, deferred, installed, failed or reverted",
	}
)

// AttemptRule accepts the number of an attempt; the first is 1.
var AttemptRule = &input.Integer{Least: 1, Most: 1000}
