// Package lambdahttp connects an operation to API Gateway. It turns an event into a Call, runs
// the same steps for every operation (recover, log, count), and turns the handler's result into an
// answer: a body or a problem document.
package lambdahttp

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
)

// An Env is what a function needs from its environment.
type Env struct {
	DB       *dynamo.DB
	API      dynamo.API
	Now      func() time.Time
	Log      *slog.Logger
	Settings *setting.Values
	// Metrics receives embedded metrics, one line each.
	Metrics io.Writer
}

// Start ends the process if a setting is invalid, because the function would not do what it should. Call it after all
// settings were read.
func (e Env) Start() {
	if err := e.Settings.Err(); err != nil {
		e.Log.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
}

// A Handler answers one operation with an Answer, or with an error that package problem turns
// into a document.
type Handler func(*Call) (Answer, error)

// A Spec is what the package needs to know about an operation.
type Spec struct {
	ID    string
	Takes input.Takes
	// Sampled operations have so many calls that only a sample of their successes is logged; see
	// setting.LogSamplePolls.
	Sampled bool
	// Timeout bounds the function; 0: nothing does.
	Timeout time.Duration
	// People call it, and wait, so each call that takes long is counted.
	People bool
}

// A Function is what Lambda calls with an event from API Gateway.
type Function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
