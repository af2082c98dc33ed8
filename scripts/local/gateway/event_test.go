package gateway

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/testing/expect"
)

// masked checks the form of values that differ from call to call, and replaces them.
func masked(t *testing.T, e map[string]any) map[string]any {
	t.Helper()
	mask := func(m map[string]any, name, form string) {
		s, _ := m[name].(string)
		expect.That(t, regexp.MustCompile("^"+form+"$").MatchString(s),
			"%s is %q, which does not have the form %s", name, s, form)
		m[name] = "<" + name + ">"
	}
	const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	const trace = `Root=1-[0-9a-f]{8}-[0-9a-f]{24}`
	c := e["requestContext"].(map[string]any)
	mask(c, "requestId", uuid)
	mask(c, "extendedRequestId", `[A-Za-z0-9_-]{15}=`)
	mask(e["headers"].(map[string]any), "X-Amzn-Trace-Id", trace)
	many := e["multiValueHeaders"].(map[string]any)
	values, _ := many["X-Amzn-Trace-Id"].([]any)
	expect.That(t, len(values) == 1, "multiValueHeaders has the trace %v", many["X-Amzn-Trace-Id"])
	delete(many, "X-Amzn-Trace-Id")
	return e
}

func document(t *testing.T, text string) map[string]any {
	t.Helper()
	var d map[string]any
	expect.OK(t, json.Unmarshal([]byte(text), &d))
	return d
}

func TestEvent_OfAFunction_FieldByField(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Prefix = "/prod" })
	host := w.address
	_, port, _ := net.SplitHostPort(host)
	w.send(t, "PUT /prod/api/factories/munich-1/machines/M%201?a=1&b=x%20y&a=2+3&c", `{"name":"Größe"}`,
		"Content-Type: application/json", "tEsT-HEADeR: aValUE", "User-Agent: test/1", "X-Twice: one", "X-Twice: two",
		"X-Forwarded-For: 203.0.113.9", "Connection: keep-alive")

	got := masked(t, w.function.last(t))
	context := got["requestContext"].(map[string]any)
	delete(got, "requestContext")
	expect.Equal(t, got, document(t, `{
		"resource": "/api/factories/{factoryId}/machines/{code}",
		"path": "/api/factories/munich-1/machines/M%201",
		"httpMethod": "PUT",
		"headers": {
			"authorization": "Bearer good", "content-type": "application/json", "Host": "`+host+`", "user-agent": "test/1",
			"X-Amzn-Trace-Id": "<X-Amzn-Trace-Id>", "X-Forwarded-For": "203.0.113.9, 127.0.0.1", "X-Forwarded-Port": "`+port+`",
			"X-Forwarded-Proto": "http", "x-twice": "two", "test-header": "aValUE"
		},
		"multiValueHeaders": {
			"authorization": ["Bearer good"], "content-type": ["application/json"], "Host": ["`+host+`"], "user-agent": ["test/1"],
			"X-Forwarded-For": ["203.0.113.9, 127.0.0.1"], "X-Forwarded-Port": ["`+port+`"],
			"X-Forwarded-Proto": ["http"], "x-twice": ["one", "two"], "test-header": ["aValUE"]
		},
		"queryStringParameters": {"a": "2 3", "b": "x y", "c": ""},
		"multiValueQueryStringParameters": {"a": ["1", "2 3"], "b": ["x y"], "c": [""]},
		"pathParameters": {"factoryId": "munich-1", "code": "M%201"},
		"stageVariables": null,
		"body": "`+base64.StdEncoding.EncodeToString([]byte(`{"name":"Größe"}`))+`",
		"isBase64Encoded": true
	}`), "the event")
	expect.Equal(t, context, document(t, `{
		"resourceId": "put-machine",
		"authorizer": {"principalId": "ann", "userId": "ann", "exp": "1790000000", "number": "7", "truth": "true",
			"integrationLatency": `+number(context)+`},
		"resourcePath": "/api/factories/{factoryId}/machines/{code}",
		"httpMethod": "PUT",
		"extendedRequestId": "<extendedRequestId>",
		"requestTime": "01/Jul/2026:10:34:56 +0000",
		"path": "/prod/api/factories/munich-1/machines/M%201",
		"accountId": "000000000000",
		"protocol": "HTTP/1.1",
		"stage": "prod",
		"domainPrefix": "localgate1",
		"requestTimeEpoch": 1782902096789,
		"requestId": "<requestId>",
		"identity": {"cognitoIdentityPoolId": null, "accountId": null, "cognitoIdentityId": null, "caller": null,
			"sourceIp": "127.0.0.1", "principalOrgId": null, "accessKey": null, "cognitoAuthenticationType": null,
			"cognitoAuthenticationProvider": null, "userArn": null, "userAgent": "test/1", "user": null},
		"domainName": "`+host+`",
		"deploymentId": "local1",
		"apiId": "localgate1"
	}`), "its context")
}

// number returns the authorizer's latency, which the test cannot know.
func number(context map[string]any) string {
	b, _ := json.Marshal(context["authorizer"].(map[string]any)["integrationLatency"])
	return string(b)
}

func TestEvent_WithoutQueryBodyOrParameters_HasNulls(t *testing.T) {
	w := newWorld(t)
	w.send(t, "GET /api/factories", "")
	e := w.function.last(t)
	for _, name := range []string{"body", "queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "stageVariables"} {
		v, there := e[name]
		expect.That(t, there && v == nil, "%s is %v, want null", name, v)
	}
	expect.Equal(t, e["requestContext"].(map[string]any)["path"], "/api/factories", "the context's path without a prefix is")
}

func TestEvent_OfTheAuthorizer_HasTheMethodArnAndNoBody(t *testing.T) {
	w := newWorld(t)
	w.send(t, "PUT /api/factories/munich-1/machines/M-1?a=1", `{}`, "Content-Type: application/json")
	e := w.authorizer.last(t)
	_, there := e["body"]
	expect.That(t, !there, "the authorizer sees a body")
	want := map[string]any{
		"type":                  "REQUEST",
		"methodArn":             "arn:aws:execute-api:eu-central-1:000000000000:localgate1/prod/PUT/api/factories/munich-1/machines/M-1",
		"resource":              "/api/factories/{factoryId}/machines/{code}",
		"path":                  "/api/factories/munich-1/machines/M-1",
		"httpMethod":            "PUT",
		"pathParameters":        map[string]any{"factoryId": "munich-1", "code": "M-1"},
		"queryStringParameters": map[string]any{"a": "1"},
	}
	for name, v := range want {
		expect.Equal(t, e[name], v, "%s is", name)
	}
	expect.Equal(t, e["headers"].(map[string]any)["authorization"], "Bearer good", "Authorization is")
}

// The types into which functions decode events must fit too.
func TestEvent_DecodesIntoAWSTypes(t *testing.T) {
	w := newWorld(t)
	w.send(t, "GET /api/factories/munich-1/machines/M-1?a=1&a=2", "")
	var e events.APIGatewayProxyRequest
	expect.OK(t, json.Unmarshal(w.function.events[0], &e))
	expect.That(t, e.PathParameters["code"] == "M-1" && len(e.MultiValueQueryStringParameters["a"]) == 2 &&
		e.RequestContext.Authorizer["userId"] == "ann" && e.RequestContext.Identity.SourceIP == "127.0.0.1", "%+v", e)
	var a events.APIGatewayCustomAuthorizerRequestTypeRequest
	expect.OK(t, json.Unmarshal(w.authorizer.events[0], &a))
	expect.That(t, a.Type == "REQUEST" && a.MethodArn != "" && a.Headers["authorization"] == "Bearer good", "%+v", a)
}

func TestEvent_BodyThatIsNotUTF8_IsUnchanged(t *testing.T) {
	w := newWorld(t)
	w.send(t, "PUT /api/factories/f/machines/m", "\xff\xfe{}")
	e := w.function.last(t)
	want := []any{true, base64.StdEncoding.EncodeToString([]byte("\xff\xfe{}"))}
	expect.Equal(t, []any{e["isBase64Encoded"], e["body"]}, want, "the body")
}

func TestEvent_HeaderNames_AreInLowerCase_AsOverHTTP2(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"authorization", "AUTHORIZATION", "Authorization", "aUTHORIZATION"} {
		w.raw(t, "PUT /api/factories/f/machines/m", name+": Bearer good")
		headers := w.function.last(t)["headers"].(map[string]any)
		if headers["authorization"] != "Bearer good" || name != "authorization" && headers[name] != nil {
			t.Errorf("sent as %s: %v", name, headers)
		}
	}
}

func TestEvent_PathsReachTheFunctionAsSent(t *testing.T) {
	for _, code := range []string{"..", "%2e%2e", "a%2Fb", "a%20b", "a+b", "%C3%BC", "a;b=c", "*", "a:b@c", strings.Repeat("x", 3000)} {
		w := newWorld(t)
		path := "/api/factories/munich-1/machines/" + code
		if r := w.raw(t, "GET "+path); r.status != 200 {
			t.Errorf("%s: %d %s", code, r.status, r.body)
			continue
		}
		e := w.function.last(t)
		expect.That(t, e["path"] == path && e["pathParameters"].(map[string]any)["code"] == code,
			"%s arrived as path %v, parameters %v", path, e["path"], e["pathParameters"])
	}
}
