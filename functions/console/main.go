// Command console serves the operator's page to anyone. It is not an operation: it asks for no token, reads no table
// and sees no data of the service. The page itself calls the operations, with the token of the person who signs in. The
// local service always runs it; a stack has it only on request (the setting console).
package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/setting"
)

func main() {
	r := setting.NewValues(setting.LoginOrigin, setting.ArtifactStoreURL)
	login, store := r.Text(setting.LoginOrigin), r.Text(setting.ArtifactStoreURL)
	if err := r.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.Start(serve(login, store))
}

// serve answers the gateway's events with the page and its files. login and store are origins that the page may call besides
// its own; without a store of artifacts, store is empty.
func serve(login, store string) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	site, policy := read(store), policy(login, store)
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		// Under a stage's URL the path has the stage's prefix; the route does not.
		route := operations.ConsolePath
		if file := event.PathParameters["file"]; file != "" {
			route = path.Join(route, event.PathParameters["version"], file)
		} else if strings.HasSuffix(event.Path, "/") {
			route += "/"
		}
		event.Path = route
		return lambdahttp.Proxy(pages(site, policy, lambdahttp.Missing(event)))(ctx, event)
	}
}
