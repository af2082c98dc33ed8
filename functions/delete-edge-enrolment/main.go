// Command delete-edge-enrolment ends an enrolment: 204. Its code is no longer valid.
package main

import (
	"net/http"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/function"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/platform/lambdahttp"
)

func main() { function.Run(enrolments.DeleteEdgeEnrolment(), wire) }

func wire(env lambdahttp.Env) function.Handler[string] {
	enrolments := enrolment.NewStore(env.DB)
	return func(c *function.Call, id string) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusNoContent), enrolments.End(c.Context(), c.Origin(), c.Caller, id)
	}
}
