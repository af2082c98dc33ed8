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
	DetailRule = &input.Text{
		Pattern: "[^\\x00-\\x1f\\x7f-\\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]{0,256}",
		Check:   input.Visible, // also beyond U+FFFF
		Says:    "at most 256 visible characters: no control characters, and none that have no width or change the direction of writing",
	}
	// StateRule accepts the states to search boxes by.
	StateRule = &input.Text{
		Pattern: `offered|working|deferred|installed|failed|reverted`,
		Says:    "offered, working, deferred, installed, failed or reverted",
	}
)

// AttemptRule accepts the number of an attempt; the first is 1.
var AttemptRule = &input.Integer{Least: 1, Most: 1000}
