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
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// An Env is what a function is wired from.
type Env struct {
	DB  *dynamo.DB
	API dynamo.API
	Now func() time.Time
	Log *slog.Logger
	// Metrics takes embedded metrics, a line each.
	Metrics io.Writer
	// Admission, where set, counts every authenticated call.
	Admission Admission
	// LogSample logs one success in so many of an operation that is Sampled; 0 and 1: each.
	LogSample int
	// Origins are those whose pages may read answers; see EnvOrigins.
	Origins []string
}

// Require ends the process when a setting makes no sense: a function must not start with it, since it
// would do something else than it was told.
func (e Env) Require(err error) {
	if err != nil {
		e.Log.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
}

// A Handler answers one operation: with an Answer, or with an error that package problem turns into
// a document. It runs beside the limiter, so it may read at once; what it writes through
// dynamo.DB.Commit waits until the call is admitted.
type Handler func(*Call) (Answer, error)

// An Admission counts a call against the caller's fair-use limits. It returns the headers that every
// answer carries from then on, and an error when the call is not admitted.
type Admission func(ctx context.Context, caller auth.Principal, class operations.LimitClass) (http.Header, error)

// Run is the main function of an operation's function: it makes the clients once, wires the handler
// and serves calls until the process is ended. It does not return.
func Run(id string, wire func(Env) Handler) {
	client := dynamo.NewClient()
	env := Env{
		DB: dynamo.Open(client, time.Now), API: client, Now: time.Now,
		Log: lambdacontext.NewLogger(), Metrics: os.Stdout, Origins: Origins(os.Getenv(EnvOrigins)),
	}
	op := operations.Get(id)
	if op.Sampled {
		var err error
		env.LogSample, err = logSampleFromEnv()
		env.Require(err)
	}
	env.Admission = limit(op.ID, env)
	lambda.Start(New(op, env, wire(env)))
}

// A Function is what Lambda calls with an event of API Gateway.
type Function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
