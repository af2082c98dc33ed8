// Package hawkbit answers DDI clients, at the API and at the door. ddi.Boxes says what a poll costs.
package hawkbit

import (
	"net/http"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
)

func boxes(env lambdahttp.Env) *ddi.Boxes {
	return ddi.NewBoxes(env.DB, polling.ReadSettings(env.Settings), ratelimit.LastSeen(env.API), env.Now)
}

// Base answers the poll of a DDI client: whether there is an action for the box, and when to poll again.
func Base(env lambdahttp.Env) function.Handler[ddi.ClientCall] {
	known := boxes(env).With(polling.NewWatch(census.NewCountedSizes(env.DB).Of, env.Now))
	return func(c *function.Call, in ddi.ClientCall) (lambdahttp.Answer, error) {
		if c.Caller.Has(auth.Edge) {
			in.Calls = c.Calls
		}
		base, err := known.Poll(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox))
		polling.Warn(c.Context(), env.Log, env.Metrics, env.Now(), "get-ddi-base", base.Unrecorded)
		base.Frequent.Emit(env.Metrics, env.Now())
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}},
			Body: base.Answer(c.Self()), // with the path that the client used
			Wait: base.Sleep,
		}, polling.Spread(err)
	}
}

// Deployment tells a DDI client what to install, and where the bytes are.
func Deployment(env lambdahttp.Env) function.Handler[ddi.CallAbout] {
	known := boxes(env)
	return func(c *function.Call, in ddi.CallAbout) (lambdahttp.Answer, error) {
		deployment, err := known.Deployment(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox), in.Action)
		return lambdahttp.Present(deployment.Answer()), err
	}
}

// CancelAction tells a DDI client which action to cancel.
func CancelAction(env lambdahttp.Env) function.Handler[ddi.CallAbout] {
	known := boxes(env)
	return func(c *function.Call, in ddi.CallAbout) (lambdahttp.Answer, error) {
		return lambdahttp.Present(ddi.NewCancelAnswer(in.Action)), known.Cancel(c.Context(), in.By(c.Caller, c.Origin(), c.CountBox), in.Action)
	}
}

// DeploymentFeedback records a DDI client's progress with an installation.
func DeploymentFeedback(env lambdahttp.Env) function.Handler[input.Sent[ddi.CallAbout, ddi.Status]] {
	known := boxes(env)
	return func(c *function.Call, in input.Sent[ddi.CallAbout, ddi.Status]) (lambdahttp.Answer, error) {
		feedback := in.Body.Deployment(in.Path.Action)
		feedback.At = env.DB.Now()
		return lambdahttp.Empty(http.StatusOK), known.Report(c.Context(), in.Path.Hearing(c.Reader.Heard()).By(c.Caller, c.Origin(), c.CountBox), feedback)
	}
}

// CancelFeedback records whether a DDI client has cancelled an action.
func CancelFeedback(env lambdahttp.Env) function.Handler[input.Sent[ddi.CallAbout, ddi.Status]] {
	known := boxes(env)
	return func(c *function.Call, in input.Sent[ddi.CallAbout, ddi.Status]) (lambdahttp.Answer, error) {
		feedback := in.Body.Cancellation(in.Path.Action)
		feedback.At = env.DB.Now()
		return lambdahttp.Empty(http.StatusOK), known.Report(c.Context(), in.Path.Hearing(c.Reader.Heard()).By(c.Caller, c.Origin(), c.CountBox), feedback)
	}
}

// ConfigData records what a DDI client says about its box. The attribute installed is the version that the box runs;
// the others are kept as the box's attributes.
func ConfigData(env lambdahttp.Env) function.Handler[input.Sent[ddi.ClientCall, ddi.Statement]] {
	known := boxes(env)
	return func(c *function.Call, in input.Sent[ddi.ClientCall, ddi.Statement]) (lambdahttp.Answer, error) {
		return lambdahttp.Empty(http.StatusOK), known.State(c.Context(), in.Path.Hearing(c.Reader.Heard()).By(c.Caller, c.Origin(), c.CountBox), in.Body)
	}
}
