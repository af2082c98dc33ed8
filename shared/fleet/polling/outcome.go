package polling

import (
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

// OutcomeBody is what a box reports.
var OutcomeBody = &input.Shape{Fields: input.Fields{
	{Name: "version", Is: release.VersionRule, Required: true},
	{Name: "rolloutId", Is: input.UUID},
	{Name: "attempt", Is: report.AttemptRule, Required: true},
	{Name: "outcome", Is: report.OutcomeRule, Required: true},
	{Name: "code", Is: report.CodeRule},
	{Name: "detail", Is: report.DetailRule},
	{Name: "until", Is: input.Time},
}}

// OutcomeOf reads an outcome.
func OutcomeOf(body *input.Object) report.Outcome {
	o := report.Outcome{
		Version: body.Text("version"),
		Attempt: int(body.Integer("attempt")),
		State:   report.State(body.Text("outcome")),
	}
	o.RolloutID, _ = body.OptionalText("rolloutId")
	code, coded := body.OptionalText("code")
	o.Detail, _ = body.OptionalText("detail")
	until, ends := body.OptionalText("until")
	if coded && o.State != report.Failed {
		body.Fault("code", "exclusive", "is only allowed with the outcome failed")
	}
	if ends && o.State != report.Deferred {
		body.Fault("until", "exclusive", "is only allowed with the outcome deferred")
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
