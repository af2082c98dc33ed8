package lambdahttp

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"wavegate/shared/platform/problem"
)

// Proxy answers the gateway's events with an http.Handler.
//
// This is the only file that uses aws-lambda-go-api-proxy, which AWS archived in May 2025: it gets no fixes any more.
// It does two things here. It makes an http.Request of an event: method, path, query, headers and the body, which may
// be base64. And it makes the event's answer of what a handler writes: the status, the headers in MultiValueHeaders,
// and the body, in base64 if it is not UTF-8. To remove the module, implement both here. The tests of this package and
// of the local gateway say what must stay the same.
func Proxy(h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return httpadapter.New(h).ProxyWithContext
}

// Missing answers an event with NOT_FOUND. It is for functions that serve pages to anyone.
func Missing(event events.APIGatewayProxyRequest) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, problem.From(problem.Missing()), asked(event), event.RequestContext.RequestID)
	}
}
