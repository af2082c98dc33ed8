// Command function stands for the versions of functions that a release may have; FATE says what becomes of its calls.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	fate := os.Getenv("FATE")
	if fate == "ends at its start" {
		os.Exit(1)
	}
	calls := 0
	lambda.Start(func(_ context.Context, event json.RawMessage) (any, error) {
		calls++
		answer := map[string]any{"statusCode": 200, "body": "{}"}
		switch {
		case fate == "fails":
			answer = map[string]any{"statusCode": 500, "body": `{"code":"INTERNAL"}`}
		case fate == "answers something else":
			return "hello", nil
		case fate == "hangs":
			time.Sleep(time.Hour)
		case fate == "has its permissions after a while" && calls < 3:
			answer = map[string]any{"statusCode": 503, "body": `{"code":"UNAVAILABLE"}`}
		case strings.Contains(string(event), `"exp":"1"`):
			answer = map[string]any{"statusCode": 401, "body": `{"code":"UNAUTHENTICATED"}`}
		}
		return answer, nil
	})
}
