// Command get-edge-enrolment answers with an enrolment: the boxes that it registered, and those that wait.
package main

import (
	"net/http"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(enrolments.GetEdgeEnrolment, wire) }

func wire(env lambdahttp.Env) function.Handler {
	enrolments := enrolment.NewReader(env.DB)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("enrolmentId")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		details, err := enrolments.Get(c.Context(), c.Caller, id)
		return lambdahttp.Answer{Status: http.StatusOK, Body: details}, err
	}
}
