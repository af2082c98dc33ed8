// Package lambdahttp connects an operation to API Gateway. It turns an event into a Call, runs
// the same steps for every operation (recover, log, principal, limit, role), and turns the
// handler's result into an answer: a body or a problem document.
package lambdahttp

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// An Env is what a function needs from its environment.
type Env struct {
	DB       *dynamo.DB
	API      dynamo.API
	Now      func() time.Time
	Log      *slog.Logger
	Settings *setting.Reader
	// Metrics receives embedded metrics, one line each.
	Metrics io.Writer
	// Limiter counts every authenticated call. Without it no call can change anything.
	Limiter Limiter
}

// Start ends the process if a setting is invalid, because the function would not do what it was
// told. Call it after all settings were read.
func (e Env) Start() {
	if err := e.Settings.Err(); err != nil {
		e.Log.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
}

// A Handler answers one operation with an Answer, or with an error that package problem turns
// into a document. It runs in parallel with the limiter. It may read at once, and its context
// ends if the call is refused. Its writes through package change wait until the call is
// admitted.
type Handler func(*Call) (Answer, error)

// A Limiter enforces the caller's fair-use limits. The returned headers are sent with every
// answer to the call.
type Limiter interface {
	// Recall returns an error if this container remembers that the call would be refused. It
	// makes no network call. Without an error, the decision is still open.
	Recall(caller auth.Principal, class operations.LimitClass) (http.Header, error)
	// Admit counts a call, and returns an error if the call is not admitted.
	Admit(ctx context.Context, caller auth.Principal, class operations.LimitClass) (http.Header, error)
}

// A Function is what Lambda calls with an event from API Gateway.
type Function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
