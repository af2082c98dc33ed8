// Command door answers the calls of boxes at a URL of its own, without API Gateway and the authorizer: those of package
// door, for boxes with a token of their own. The handlers and the limiter are those of the API. A stack has it only on
// request (the setting door).
package main

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/handlers/manifest"
	"wavegate/shared/handlers/updatereport"
	"wavegate/shared/operations"
	"wavegate/shared/operations/boxes"
	row "wavegate/shared/operations/door"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/trail/audit"
)

func main() {
	p := function.NewProcess(row.Function.Settings)
	d := wire(p)
	p.Start()
	lambda.Start(d.answer)
}

// A door answers the events of the function's URL.
type door struct {
	routes []route
	refuse lambdahttp.Function
	keeper keeper
}

func wire(p *function.Process) *door {
	api := p.Env.Settings.Text(setting.APIURL)
	tokens := boxauth.NewTokens(p.Env.DB, boxauth.ReadIssuers(p.Env.Settings))
	foreign := boxauth.ReadForeign(p.Env.Settings, tokens, func(ctx context.Context, from audit.Origin, edgeID string) error {
		return edge.Guess(ctx, p.Env.DB, from, edgeID)
	})
	return &door{
		routes: []route{
			behind(p, boxes.GetManifest(), manifest.Handle),
			behind(p, boxes.PutUpdateReport(), updatereport.Handle),
			behind(p, hawkbit.GetDDIBase(), handlers.Base),
			behind(p, hawkbit.GetDDIDeployment(), handlers.Deployment),
			behind(p, hawkbit.GetDDICancelAction(), handlers.CancelAction),
			behind(p, hawkbit.PostDDIDeploymentFeedback(), handlers.DeploymentFeedback),
			behind(p, hawkbit.PostDDICancelFeedback(), handlers.CancelFeedback),
			behind(p, hawkbit.PutDDIConfigData(), handlers.ConfigData),
		},
		refuse: lambdahttp.New(lambdahttp.Spec{ID: operations.Door}, p.Env, func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
			err, _ := c.Context().Value(refusal{}).(error)
			if api != "" && problem.Has(err, problem.Unauthenticated) {
				c.Header.Set("Link", "<"+api+`>; rel="alternate"`)
			}
			return lambdahttp.Answer{}, err
		}),
		keeper: keeper{tokens: tokens, foreign: foreign, now: p.Env.Now, unknown: map[string]time.Time{}},
	}
}

// refusal is the key of a context's value, the error with which a call is refused at the door.
type refusal struct{}

// answer lets a call in, or refuses it with the answer that the API gives.
func (d *door) answer(ctx context.Context, r events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
	event := lambdahttp.EventOf(r)
	var to route
	var enter entry
	err := lambdahttp.Recovered(func() (err error) {
		if to, err = d.find(event.HTTPMethod, event.Path); err == nil {
			enter, err = d.keeper.enter(ctx, event, to.parameters["controllerId"], lambdahttp.HostOf(r))
		}
		return err
	})
	if err != nil {
		res, err := d.refuse(context.WithValue(ctx, refusal{}, err), event)
		return lambdahttp.URLResponseOf(res), err
	}
	event.PathParameters, event.RequestContext.Authorizer = to.parameters, enter.caller
	res, err := to.answer(enter.ctx, event)
	return lambdahttp.URLResponseOf(res), err
}

// A route is an operation behind the door.
type route struct {
	op         operations.Operation
	answer     lambdahttp.Function
	parameters map[string]string
}

func behind[T any](p *function.Process, op operations.Row[T], wire func(lambdahttp.Env) function.Handler[T]) route {
	return route{op: op.Operation, answer: function.Answers(p, op, wire)}
}

// find returns the route of a path, with its parameters as they were sent. It returns NOT_FOUND and METHOD_NOT_ALLOWED as
// API Gateway does. A slash at the end is ignored.
func (d *door) find(method, path string) (route, error) {
	var methods []string
	for _, r := range d.routes {
		for _, pattern := range []string{r.op.Path, r.op.RootPath()} {
			parameters, ok := match(pattern, strings.TrimSuffix(path, "/"))
			if ok && r.op.Method == method {
				r.parameters = parameters
				return r, nil
			}
			if ok {
				methods = append(methods, r.op.Method)
			}
		}
	}
	if len(methods) > 0 {
		g := problem.MethodNotAllowedResponse(methods)
		return route{}, problem.New(g.Code, "%s", g.Detail).Allowing(g.Allow)
	}
	return route{}, problem.Missing()
}

// match returns the parameters in a path, and reports whether it fits an operation's pattern. Nothing fits an empty one.
func match(pattern, path string) (map[string]string, bool) {
	want, sent := strings.Split(pattern, "/"), strings.Split(path, "/")
	if pattern == "" || len(want) != len(sent) {
		return nil, false
	}
	parameters := map[string]string{}
	for i, segment := range want {
		if name, ok := strings.CutPrefix(segment, "{"); ok && sent[i] != "" {
			parameters[strings.TrimSuffix(name, "}")] = sent[i]
		} else if segment != sent[i] {
			return nil, false
		}
	}
	return parameters, true
}
