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
	// Limiter counts every authenticated call. Without it, no call can change anything.
	Limiter Limiter
}

// Start ends the process when a setting makes no sense: a function must not start with it, since it
// would do something other than it was told. It is called once all settings were read.
func (e Env) Start() {
	if err := e.Settings.Err(); err != nil {
		e.Log.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
}

// A Handler answers one operation: with an Answer, or with an error that package problem turns into
// a document. It runs beside the limiter, so it may read at once; its context ends when the call is refused,
// and what it writes through package change waits until the call is admitted.
type Handler func(*Call) (Answer, error)

// A Limiter holds calls to the caller's fair-use limits. The headers that it returns are those that every
// answer to the call carries.
type Limiter interface {
	// Recall refuses a call, with an error, that this container remembers would be refused. It asks nobody.
	// Without an error, nothing is known yet.
	Recall(caller auth.Principal, class operations.LimitClass) (http.Header, error)
	// Admit counts a call, and returns an error when the call is not admitted.
	Admit(ctx context.Context, caller auth.Principal, class operations.LimitClass) (http.Header, error)
}

// A Function is what Lambda calls with an event of API Gateway.
type Function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
