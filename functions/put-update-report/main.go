// Command put-update-report records a box's report on its offer, and tells the box when to continue.
package main

import (
	"net/http"
	"time"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(boxes.PutUpdateReport, wire) }

// An advice tells a box what to do: wait and continue, or give up.
type advice struct {
	RetryAfterSeconds *int  `json:"retryAfterSeconds,omitempty"`
	Retry             *bool `json:"retry,omitempty"`
}

func wire(env lambdahttp.Env) function.Handler {
	reports := edge.NewReports(env.DB, report.ReadShards(env.Settings), edge.ReadIssuers(env.Settings))
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("edgeId")
		outcome := edge.OutcomeOf(c.Body())
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		if err := edge.Named(c.Caller, id); err != nil {
			return lambdahttp.Answer{}, err
		}
		outcome.At = env.DB.Now()
		answer, err := reports.Take(c.Context(), c.Caller, id, outcome)
		body := advice{Retry: new(bool)}
		if !answer.GiveUp {
			seconds := int((answer.RetryAfter + time.Second - 1) / time.Second)
			body = advice{RetryAfterSeconds: &seconds}
		}
		return lambdahttp.Answer{Status: http.StatusOK, Body: body}, err
	}
}
