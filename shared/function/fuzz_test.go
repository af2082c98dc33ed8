package function_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/access/auth"
	"wavegate/shared/function"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// FuzzEvent checks any event. The function must answer it without an internal error, refuse it
// only with a problem document, and take the caller only from the authorizer's context.
func FuzzEvent(f *testing.F) {
	whole := expect.Value(json.Marshal(event()))(f)
	seeds := []string{string(whole), `{}`, `{"requestContext":{"authorizer":{"issuer":"i","userId":"u","exp":"4000000000"}}}`}
	for _, change := range [][2]string{
		{`"httpMethod":"GET"`, `"httpMethod":"G T"`},
		{`"isBase64Encoded":false`, `"isBase64Encoded":true,"body":"%%"`},
		{`"body":""`, `"body":"{\"name\":\"a\"}"`},
		{`"id":"r-1"`, `"id":"%2e%2e"`},
		{`"userId":"olga"`, `"userId":7`},
		{`"exp":"`, `"exp":"-`},
		{`"roles":"platform_owner"`, `"roles":"(member)"`},
		{`"path":"/prod/api/ota/rollouts/r-1"`, `"path":"\u0000"`},
		{`"multiValueHeaders":{`, `"multiValueHeaders":{"If-None-Match":["W/\"1\"",""],"":["x"],`},
		{`"multiValueQueryStringParameters":null`, `"multiValueQueryStringParameters":{"limit":["1","2"],"":[]}`},
	} {
		seeds = append(seeds, strings.Replace(string(whole), change[0], change[1], 1))
	}
	samples, err := filepath.Glob("../../events/*.json")
	expect.Must(f, err == nil && len(samples) != 0, "there are no sample events: %v", err)
	for _, name := range samples {
		text := expect.Value(os.ReadFile(name))(f)
		seeds = append(seeds, string(text))
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e events.APIGatewayProxyRequest
		if json.Unmarshal(text, &e) != nil {
			return // the runtime refuses it before the function sees it
		}
		b := newBench()
		var seen *auth.Principal
		res, err := b.run(t, "get-rollout", e, func(c *function.Call, r request) (lambdahttp.Answer, error) {
			seen = &c.Caller
			return lambdahttp.OK(map[string]string{"id": r.id, "href": c.Href("/api/x")}, `"1"`), nil
		})
		if err != nil || res.StatusCode == http.StatusInternalServerError {
			t.Fatalf("answered %d, %v: %s", res.StatusCode, err, b.log.String())
		}
		if res.StatusCode >= 400 {
			var d problem.Document
			if err := json.Unmarshal([]byte(res.Body), &d); err != nil || d.Status != res.StatusCode || problem.ClassOf(d.Code).Code != d.Code {
				t.Fatalf("answered %d %s", res.StatusCode, res.Body)
			}
		}
		if seen == nil {
			return
		}
		context := e.RequestContext.Authorizer
		if context["userId"] != seen.UserID || context["issuer"] != seen.Issuer || seen.UserID == "" || !seen.Has(table.Get("get-rollout").Roles...) {
			t.Fatalf("the caller is %+v, but the context is %v", *seen, context)
		}
	})
}

// A request is read of every call.
type request struct{ id string }

// readAll reads all that a request can contain, with a body or without one.
func readAll(in *input.Reader, body bool) request {
	r := request{in.Path("id", &input.Text{})}
	in.Query("q", &input.Text{})
	in.QueryInteger("limit", &input.Integer{Least: 1, Most: 100}, 50)
	if body {
		in.Body().OptionalText("name", &input.Text{})
	}
	return r
}
