// Command empty is the least that a function can be: what every start-up is compared with.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context) (string, error) { return "", nil })
}
