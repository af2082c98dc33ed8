// Command docs serves the contract and the page that shows it, to anyone. It is not an operation: it asks for no token
// and reads no table. The local service always runs it; a stack has it only on request (the setting docs).
package main

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/platform/lambdahttp"
)

func main() {
	// Lambda sets this variable to the directory with the function's files.
	lambda.Start(serve(os.DirFS(os.Getenv("LAMBDA_TASK_ROOT"))))
}

// serve answers the gateway's events with the pages; files are those beside the program.
func serve(files fs.FS) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		pages := pages(files, base(event), lambdahttp.Missing(event))
		// Under a custom domain the path has that domain's prefix; the route does not.
		route := event.Resource
		if strings.HasSuffix(event.Path, "/") {
			route += "/"
		}
		event.Path = route
		return lambdahttp.Proxy(pages)(ctx, event)
	}
}

// base is the URL at which the caller reached the API. The operations' paths follow it.
func base(event events.APIGatewayProxyRequest) string {
	scheme := "https"
	for name, value := range event.Headers {
		if strings.EqualFold(name, "X-Forwarded-Proto") { // the gateway's own; the local one speaks http
			scheme = value
		}
	}
	path := strings.TrimSuffix(event.RequestContext.Path, "/")
	return scheme + "://" + event.RequestContext.DomainName + strings.TrimSuffix(path, event.Resource)
}
