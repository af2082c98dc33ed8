package lambdahttp

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// EventOf turns an event of a function's URL (payload version 2.0) into the one that API Gateway would send for the request,
// without path parameters and caller.
func EventOf(r events.LambdaFunctionURLRequest) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		Path: r.RawPath, HTTPMethod: r.RequestContext.HTTP.Method, MultiValueHeaders: map[string][]string{},
		MultiValueQueryStringParameters: Query(r.RawQueryString), Body: r.Body, IsBase64Encoded: r.IsBase64Encoded,
	}
	e.RequestContext.Path, e.RequestContext.RequestID = r.RawPath, r.RequestContext.RequestID
	e.RequestContext.DomainName, e.RequestContext.Identity.SourceIP = r.RequestContext.DomainName, r.RequestContext.HTTP.SourceIP
	for name, value := range r.Headers {
		e.MultiValueHeaders[name] = []string{value}
	}
	return e
}

// HostOf is the scheme and the host with which a function's URL was called.
func HostOf(r events.LambdaFunctionURLRequest) string {
	return cmp.Or(r.Headers["x-forwarded-proto"], "https") + "://" + r.RequestContext.DomainName
}

// URLResponseOf turns an answer to API Gateway into one of a function's URL, which has one value of each header.
func URLResponseOf(a events.APIGatewayProxyResponse) events.LambdaFunctionURLResponse {
	res := events.LambdaFunctionURLResponse{StatusCode: a.StatusCode, Headers: map[string]string{}, Body: a.Body, IsBase64Encoded: a.IsBase64Encoded}
	for name, values := range a.MultiValueHeaders {
		res.Headers[name] = strings.Join(values, ", ")
	}
	return res
}

// Query decodes a query as API Gateway does. Parts that cannot be decoded stay unchanged; the function decides about them.
func Query(raw string) map[string][]string {
	var all map[string][]string
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if all == nil {
			all = map[string][]string{}
		}
		name, value = unescape(name), unescape(value)
		all[name] = append(all[name], value)
	}
	return all
}

func unescape(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		return decoded
	}
	return s
}
