// Command get-bell tells boxes that something has changed for them, but not what: they then poll. It is not an
// operation: it has its own URL, asks for no token and no limit counts it. So it reads only for addresses that the
// service made, and writes nothing. A stack has it only on request (the setting bell).
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/bell/keys"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/secret"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
)

func main() {
	client := dynamo.NewClient()
	env := lambdahttp.Env{
		DB: dynamo.Open(client, time.Now), API: client, Now: time.Now,
		Log: telemetry.Log(), Metrics: os.Stdout, Settings: setting.NewValues(boxes.BellSettings...),
	}
	answer := wire(env, secret.NewClient())
	env.Start()
	lambda.Start(answer)
}

// A handler answers an event of the function's URL.
type handler func(context.Context, events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error)

const (
	// keep lets caches keep an answer for as long as a container does.
	keep = "public, max-age=2"
	// interval is the header with the interval, which answers without a body have too.
	interval = "Wavegate-Interval"
	// later is how long a box waits if the bell cannot be read.
	later = time.Minute
)

func wire(env lambdahttp.Env, secrets secret.Manager) handler {
	own, rings := keys.Read(env.Settings, secrets, env.Now), polling.NewBell(env.DB, env.Settings, env.Now)
	if own.Missing() {
		env.Settings.Fault("%s must be set", setting.BellSecretID)
	}
	return func(ctx context.Context, r events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
		a, err := ask(ctx, r, own, rings)
		if err != nil {
			p := problem.From(err)
			if p.Code != problem.NotFound && p.Code != problem.MethodNotAllowed {
				env.Log.LogAttrs(ctx, slog.LevelError, "the bell is not answered", slog.String("cause", err.Error()))
			}
			return refuse(r, p)
		}
		header := map[string]string{"ETag": a.ETag, "Cache-Control": keep, interval: strconv.Itoa(a.IntervalSeconds)}
		if input.NotModified(&http.Request{Header: http.Header{"If-None-Match": {r.Headers["if-none-match"]}}}, a.ETag) {
			return respond(http.StatusNotModified, header, nil)
		}
		header["Content-Type"] = "application/json"
		return respond(http.StatusOK, header, a)
	}
}

// ask returns NOT_FOUND without a read unless the service made the address. It can also return UNAVAILABLE.
func ask(ctx context.Context, r events.LambdaFunctionURLRequest, own *keys.Keys, rings *polling.Bell) (bell.Response, error) {
	at, ok := bell.ParseAddress(r.RawPath)
	if !ok {
		return bell.Response{}, problem.Missing()
	}
	valid, err := own.Valid(ctx)
	if err != nil {
		return bell.Response{}, wait(err)
	}
	with, ok := valid.Made(at)
	if !ok {
		return bell.Response{}, problem.Missing()
	}
	if m := r.RequestContext.HTTP.Method; m != http.MethodGet {
		return bell.Response{}, problem.New(problem.MethodNotAllowed, "The bell accepts only GET.").Allowing([]string{http.MethodGet})
	}
	a, err := rings.Ask(ctx, with, at)
	return a, wait(err)
}

// wait tells boxes to come back later if the bell is not available.
func wait(err error) error {
	if problem.Has(err, problem.Unavailable) || problem.Has(err, problem.Timeout) {
		return problem.Wrap(err, problem.Unavailable, "The bell is not available at the moment. Try again after the given time.").After(later)
	}
	return err
}

// refuse answers with a problem document.
func refuse(r events.LambdaFunctionURLRequest, p *problem.Error) (events.LambdaFunctionURLResponse, error) {
	header := map[string]string{"Content-Type": problem.ContentType, "Cache-Control": "no-store"}
	for name := range p.Header() {
		header[name] = p.Header().Get(name)
	}
	return respond(problem.ClassOf(p.Code).Status, header, p.Document(r.RawPath, r.RequestContext.RequestID))
}

// respond sends a body as JSON, or no body if it is nil.
func respond(status int, header map[string]string, body any) (events.LambdaFunctionURLResponse, error) {
	for name := range lambdahttp.SecurityHeaders() {
		header[name] = lambdahttp.SecurityHeaders().Get(name)
	}
	res := events.LambdaFunctionURLResponse{StatusCode: status, Headers: header}
	if body == nil {
		return res, nil
	}
	b, err := json.Marshal(body)
	res.Body = string(b)
	return res, err
}
