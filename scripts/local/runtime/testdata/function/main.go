// Command function does what its event says, for the tests of the Runtime API.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do    string `json:"do"`
	Value string `json:"value"`
}

func handle(ctx context.Context, e event) (any, error) {
	switch e.Do {
	case "wait": // until a file exists
		for _, err := os.Stat(e.Value); err != nil; _, err = os.Stat(e.Value) {
			time.Sleep(time.Millisecond)
		}
	case "exit":
		os.Exit(3)
	case "panic":
		panic("it was told to panic")
	case "error":
		return nil, errors.New(e.Value)
	case "grow":
		return strings.Repeat("x", 7<<20), nil
	case "log":
		fmt.Println("to standard output: " + e.Value)
		fmt.Fprint(os.Stderr, "to standard error: "+e.Value)
		os.Exit(0)
	}
	deadline, _ := ctx.Deadline()
	lc, _ := lambdacontext.FromContext(ctx)
	return map[string]any{
		"value": e.Value, "pid": os.Getpid(), "environment": os.Environ(),
		"deadline": deadline, "requestId": lc.AwsRequestID, "arn": lc.InvokedFunctionArn,
		"trace": os.Getenv("_X_AMZN_TRACE_ID"),
	}, nil
}

func main() {
	switch os.Getenv("INIT") {
	case "exit":
		os.Exit(4)
	case "error":
		url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/init/error"
		answer, err := http.Post(url, "application/json", strings.NewReader(`{"errorType":"Init","errorMessage":"no settings"}`))
		if err == nil {
			answer.Body.Close()
		}
		time.Sleep(time.Minute)
	}
	lambda.Start(handle)
}
