// Package lambdahttp is a function's way in and out. It turns API Gateway's event into a Call, takes
// the call through the same steps for every operation (recover, log, principal, limit, role), and
// turns what the handler returns into an answer: a body, or a problem document.
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

// An Env is what a function is wired from.
type Env struct {
	DB       *dynamo.DB
	API      dynamo.API
	Now      func() time.Time
	Log      *slog.Logger
	Settings *setting.Reader
	// Metrics takes embedded metrics, a line each.
	Metrics io.Writer
	// Admit counts every authenticated call. Without it, no call can change anything; see Unlimited.
	Admit Admit
}

// Start ends the process when a setting makes no sense: a function must not start with it, since it
// would do something other than it was told. A function calls it once it has read its settings.
func (e Env) Start() {
	if err := e.Settings.Err(); err != nil {
		e.Log.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
}

// A Handler answers one operation: with an Answer, or with an error that package problem turns into
// a document. It runs beside the limiter, so it may read at once; what it writes through package
// change waits until the call is admitted.
type Handler func(*Call) (Answer, error)

// An Admit counts a call against the caller's fair-use limits. It returns the headers that every
// answer carries from then on, and an error when the call is not admitted.
type Admit func(ctx context.Context, caller auth.Principal, class operations.LimitClass) (http.Header, error)

// Unlimited admits every call.
func Unlimited(context.Context, auth.Principal, operations.LimitClass) (http.Header, error) {
	return nil, nil
}

// A Function is what Lambda calls with an event of API Gateway.
type Function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
