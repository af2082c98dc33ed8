// Package updatereport records a box's report on its offer, at the API and at the door, and tells the box when to
// continue.
package updatereport

import (
	"net/http"
	"time"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
)

// An advice tells a box what to do: wait and continue, or give up.
type advice struct {
	RetryAfterSeconds *int  `json:"retryAfterSeconds,omitempty"`
	Retry             *bool `json:"retry,omitempty"`
}

// Handle makes the handler.
func Handle(env lambdahttp.Env) function.Handler[input.Sent[string, report.Outcome]] {
	reports := polling.NewReports(env.DB, report.ReadShards(env.Settings), boxauth.ReadIssuers(env.Settings))
	return func(c *function.Call, in input.Sent[string, report.Outcome]) (lambdahttp.Answer, error) {
		id, outcome := in.Path, in.Body
		if err := boxauth.Named(c.Caller, id); err != nil {
			return lambdahttp.Answer{}, err
		}
		outcome.At = env.DB.Now()
		answer, err := reports.Take(c.Context(), c.Caller, id, outcome, c.Reader.Heard()...)
		body := advice{Retry: new(bool)}
		if !answer.GiveUp {
			seconds := int((answer.RetryAfter + time.Second - 1) / time.Second)
			body = advice{RetryAfterSeconds: &seconds}
		}
		return lambdahttp.Answer{Status: http.StatusOK, Body: body}, err
	}
}
