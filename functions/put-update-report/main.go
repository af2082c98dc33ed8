// Command put-update-report takes a box's report of how it gets on with the version that it was offered, and tells
// it when to go on.
package main

import (
	"net/http"
	"time"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/value"
)

func main() { function.Run("put-update-report", wire) }

// An advice is what a box is to do: wait and go on, or give up.
type advice struct {
	RetryAfterSeconds *int  `json:"retryAfterSeconds,omitempty"`
	Retry             *bool `json:"retry,omitempty"`
}

func wire(env lambdahttp.Env) lambdahttp.Handler {
	reports := edge.NewReports(env.DB, report.ReadShards(env.Settings), edge.ReadIssuers(env.Settings))
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		id := c.Path("edgeId", value.Name)
		outcome := read(c.Body())
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		if c.Caller.UserID != id {
			return lambdahttp.Answer{}, problem.Missing() // a box may not know of others
		}
		outcome.At = env.DB.Now()
		answer, err := reports.Take(c.Context(), id, c.Caller.Issuer, outcome)
		body := advice{Retry: new(bool)}
		if !answer.GiveUp {
			seconds := int((answer.RetryAfter + time.Second - 1) / time.Second)
			body = advice{RetryAfterSeconds: &seconds}
		}
		return lambdahttp.Answer{Status: http.StatusOK, Body: body}, err
	}
}

// read reads an outcome from a request's body.
func read(body *fields.Object) report.Outcome {
	o := report.Outcome{
		Version: body.Text("version", release.VersionRule),
		Attempt: int(body.Integer("attempt", report.AttemptRule)),
		Stand:   report.Stand(body.Text("outcome", report.OutcomeRule)),
	}
	o.RolloutID, _ = body.OptionalText("rolloutId", value.UUID)
	code, coded := body.OptionalText("code", report.CodeRule)
	o.Detail, _ = body.OptionalText("detail", report.DetailRule)
	until, ends := body.OptionalText("until", value.Time)
	if coded && o.Stand != report.Failed {
		body.Fault("code", "exclusive", "goes with the outcome failed")
	}
	if ends && o.Stand != report.Deferred {
		body.Fault("until", "exclusive", "goes with the outcome deferred")
	}
	if o.Code = report.Code(code); o.Stand == report.Failed && !coded {
		o.Code = report.CodeOther
	}
	if ends {
		at := value.ParseTime(until).Truncate(time.Millisecond)
		o.Until = &at
	}
	return o
}
