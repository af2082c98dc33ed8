package polling

import (
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

// offeredRule accepts what a manifest names as the version: its name, or the box's own words for it.
var offeredRule = &input.Text{Min: 1, Max: RunningRule.Max, Check: input.Visible, Says: "1 to 128 characters without control characters and invisible characters"}

// OutcomeOf reads what a box reports.
func OutcomeOf(body *input.Object) report.Outcome {
	o := report.Outcome{
		Version: body.Text("version", offeredRule),
		Attempt: int(body.Integer("attempt", report.AttemptRule)),
		State:   report.State(body.Text("outcome", report.OutcomeRule)),
	}
	o.RolloutID, _ = body.OptionalText("rolloutId", input.UUID)
	code, coded := body.OptionalText("code", report.CodeRule)
	o.Detail, _ = body.OptionalText("detail", report.DetailRule)
	until, ends := body.OptionalText("until", input.Time)
	if coded && o.State != report.Failed {
		body.Fault("code", "exclusive", "is only allowed with the outcome failed")
		code = ""
	}
	if ends && o.State != report.Deferred {
		body.Fault("until", "exclusive", "is only allowed with the outcome deferred")
		ends = false
	}
	if o.Code = report.FailureCode(code); o.State == report.Failed && !coded {
		o.Code = report.CodeOther
	}
	if ends {
		at := input.ParseTime(until).Truncate(time.Millisecond)
		o.Until = &at
	}
	return o
}
