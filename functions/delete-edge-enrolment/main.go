// Command delete-edge-enrolment ends an enrolment: 204. Its code is no longer valid.
package main

import (
	"net/http"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(enrolments.DeleteEdgeEnrolment, wire) }

func wire(env lambdahttp.Env) function.Handler {
	enrolments := enrolment.NewStore(env.DB, nil)
	return func(c *function.Call) (lambdahttp.Answer, error) {
		id := c.Path("enrolmentId")
		if err := c.Err(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return lambdahttp.Empty(http.StatusNoContent), enrolments.End(c.Context(), c.Origin(), c.Caller, id)
	}
}
