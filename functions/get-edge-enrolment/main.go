// Command get-edge-enrolment answers with an enrolment: the boxes that it registered, and those that wait.
package main

import (
	"net/http"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(enrolments.GetEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	enrolments := enrolment.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		details, err := enrolments.Get(c.Context(), c.Caller, id)
		return lambdahttp.Answer{Status: http.StatusOK, Body: details}, err
	}
}
