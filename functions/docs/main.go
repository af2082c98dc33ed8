// Command docs serves the contract and the page that shows it, to anyone: it is no operation, asks
// for no token and reads no table. The local service always runs it; a stack has it when it is asked
// to (the setting docs).
package main

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/klauspost/compress/gzhttp"

	"wavegate/shared/platform/lambdahttp"
)

func main() {
	// Lambda names the directory that the function's files lie in.
	lambda.Start(serve(os.DirFS(os.Getenv("LAMBDA_TASK_ROOT"))))
}

// serve answers the gateway's events with the pages; files are what lies beside the program. Lambda
// hands over 6 MB at the most, and a page loads faster the less it is, so answers are compressed.
func serve(files fs.FS) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		pages := gzhttp.GzipHandler(pages(files, base(event), lambdahttp.Missing(event)))
		// Under a domain of one's own the path has that domain's prefix; the route has not.
		route := event.Resource
		if strings.HasSuffix(event.Path, "/") {
			route += "/"
		}
		event.Path = route
		return lambdahttp.Proxy(pages)(ctx, event)
	}
}

// base is the URL that the caller reached the API by: the operations' paths follow it.
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
