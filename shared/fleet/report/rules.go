package report

import "wavegate/shared/platform/input"

// Rules of what a box reports.
var (
	// OutcomeRule is what a box may say of an attempt. That it runs a version is said by its polls.
	OutcomeRule = &input.Text{Pattern: `working|deferred|failed`, Says: "working, deferred or failed"}
	// CodeRule is why an attempt failed.
	CodeRule = &input.Text{
		Pattern: `download|checksum|signature|space|power|incompatible|install|boot|health|other`,
		Says:    "download, checksum, signature, space, power, incompatible, install, boot, health or other",
	}
	// DetailRule is what a box says in its own words. It is shown to people.
	DetailRule = &input.Text{
		Pattern: "[^\\x00-\\x1f\\x7f-\\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]{0,256}",
		Check:   input.Visible, // beyond U+FFFF
		Says:    "at most 256 characters that can all be seen: none that control, that have no width or that change the direction of writing",
	}
	// StateRule is a state that boxes are looked for at.
	StateRule = &input.Text{
		Pattern: `offered|working|deferred|installed|failed|reverted`,
		Says:    "offered, working, deferred, installed, failed or reverted",
	}
)

// AttemptRule is that of the attempt that a box speaks of; the first is 1.
var AttemptRule = &input.Integer{Least: 1, Most: 1000}
