package lambdahttp_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/testing/expect"
)

func TestEventOf_HasWhatAPIGatewayWouldSend(t *testing.T) {
	r := events.LambdaFunctionURLRequest{
		RawPath: "/api/edges/box%2F1/update/manifest", RawQueryString: "installed=1.0%2B1&bell=true&installed=%zz&&x",
		Headers: map[string]string{"if-none-match": `"a",W/"b"`}, Body: "e30=", IsBase64Encoded: true,
	}
	r.RequestContext.HTTP.Method, r.RequestContext.HTTP.SourceIP = http.MethodGet, "192.0.2.1"
	r.RequestContext.RequestID, r.RequestContext.DomainName = "r-1", "door.example"
	want := events.APIGatewayProxyRequest{
		Path: r.RawPath, HTTPMethod: http.MethodGet, MultiValueHeaders: map[string][]string{"if-none-match": {`"a",W/"b"`}},
		MultiValueQueryStringParameters: map[string][]string{"installed": {"1.0+1", "%zz"}, "bell": {"true"}, "x": {""}},
		Body:                            "e30=", IsBase64Encoded: true,
	}
	want.RequestContext.Path, want.RequestContext.RequestID, want.RequestContext.DomainName = r.RawPath, "r-1", "door.example"
	want.RequestContext.Identity.SourceIP = "192.0.2.1"
	expect.Equal(t, lambdahttp.EventOf(r), want, "the event")
}

func TestHostOf_IsHTTPSUnlessTheRequestWasNot(t *testing.T) {
	for proto, want := range map[string]string{"": "https://door.example", "https": "https://door.example", "http": "http://door.example"} {
		r := events.LambdaFunctionURLRequest{Headers: map[string]string{"x-forwarded-proto": proto}}
		r.RequestContext.DomainName = "door.example"
		expect.Equal(t, lambdahttp.HostOf(r), want, "with %q the host is", proto)
	}
}

func TestURLResponseOf_JoinsTheValuesOfAHeader(t *testing.T) {
	got := lambdahttp.URLResponseOf(events.APIGatewayProxyResponse{
		StatusCode: http.StatusOK, MultiValueHeaders: map[string][]string{"Vary": {"Origin", "Accept"}}, Body: "YQ==", IsBase64Encoded: true,
	})
	want := events.LambdaFunctionURLResponse{StatusCode: http.StatusOK, Headers: map[string]string{"Vary": "Origin, Accept"}, Body: "YQ==", IsBase64Encoded: true}
	expect.Equal(t, got, want, "the answer")
}
