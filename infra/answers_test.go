package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// headerSet matches a header that a template sets before its body.
var headerSet = regexp.MustCompile(`^#set\(\$context\.responseOverride\.header\.([A-Za-z-]+) = "([^"$]*)"\)`)

// mockOf returns a mocked method's answer: status, headers and the template of the body.
func mockOf(t *testing.T, m map[string]any) (status string, header map[string]any, body string) {
	t.Helper()
	integration := m["x-amazon-apigateway-integration"]
	answer := value(integration, "responses", "default")
	status, _ = value(answer, "statusCode").(string)
	header = map[string]any{}
	mapped, _ := value(answer, "responseParameters").(map[string]any)
	maps.Copy(header, mapped)
	body = text(value(answer, "responseTemplates", "application/json"))
	for set := headerSet.FindStringSubmatch(body); set != nil; set = headerSet.FindStringSubmatch(body) {
		header["method.response.header."+set[1]] = "'" + set[2] + "'"
		body = body[len(set[0]):]
	}
	declared, _ := value(m, "responses", status, "headers").(map[string]any)
	for name := range header {
		expect.That(t, declared[strings.TrimPrefix(name, "method.response.header.")] != nil,
			"%s is mapped and not declared", name)
	}
	expect.Equal[any](t, value(integration, "requestTemplates", "application/json"), `{"statusCode": `+status+`}`, "the request template of a mock of %s is", status)
	return status, header, body
}

// hasSecurityHeaders checks the headers that every answer has; their names begin with prefix.
func hasSecurityHeaders(t *testing.T, what, prefix string, header map[string]any) {
	t.Helper()
	for name, values := range lambdahttp.SecurityHeaders() {
		expect.Equal[any](t, header[prefix+name], "'"+values[0]+"'", "%s: %s is", what, name)
	}
}

// TestAnswers_WhatIsNoOperation_IsToldSo: existing paths answer 405 with their methods, others 404. Without a method for
// it, API Gateway takes the token of such a call for an AWS signature, and answers 403.
func TestAnswers_WhatIsNoOperation_IsToldSo(t *testing.T) {
	const header = "method.response.header."
	for name, s := range map[string]stage{"dev": dev(), "pages": pages(), "full": full()} {
		routes := s.api(t).routes()
		methods := map[string][]string{}
		for route := range routes {
			method, path, _ := strings.Cut(route, " ")
			methods[path] = append(methods[path], method)
		}
		for path, all := range methods {
			for parent := path; parent != "" && parent != "/"; parent = parent[:strings.LastIndex(parent, "/")] {
				expect.That(t, routes["ANY "+parent] != nil,
					"%s: some methods of %s are left to API Gateway", name, parent)
			}
			answer := routes["ANY "+path]
			if answer == nil || !mocked(answer) {
				continue
			}
			status, headers, body := mockOf(t, answer)
			var document problem.Document
			if err := json.Unmarshal([]byte(body), &document); err != nil || document.RequestID != "$context.requestId" || document.Instance != "$context.path" {
				t.Errorf("%s: %s answers %s (%v)", name, path, body, err)
			}
			all = slices.DeleteFunc(all, func(m string) bool { return m == operations.Any })
			slices.Sort(all)
			wantStatus, wantCode, wantAllow := "404", problem.NotFound, any(nil)
			if len(all) > 0 {
				wantStatus, wantCode, wantAllow = "405", problem.MethodNotAllowed, "'"+strings.Join(all, ", ")+"'"
			}
			if status != wantStatus || document.Code != wantCode || headers[header+"Allow"] != wantAllow {
				t.Errorf("%s: %s answers %s %s, Allow %v; want %s, %v", name, path, status, document.Code, headers[header+"Allow"], wantStatus, wantAllow)
			}
			expect.Equal[any](t, headers[header+"Content-Type"], "'"+problem.ContentType+"'", "%s: the media type of %s is", name, path)
			hasSecurityHeaders(t, path, header, headers)
		}
		unknown := "/{unknown+}"
		if routes["ANY "+unknown] == nil {
			unknown = "/{tenant}/{unknown+}" // with the setting ddiRoot
		}
		for _, path := range []string{"/", unknown} {
			expect.That(t, routes["ANY "+path] != nil, "%s: some paths are left to API Gateway", name)
		}
	}
}

func TestGatewayResponses_SpeakLikeTheFunctions(t *testing.T) {
	const header = "gatewayresponse.header."
	responses, _ := dev().api(t)["x-amazon-apigateway-gateway-responses"].(map[string]any)
	expect.Equal(t, len(responses), len(problem.GatewayResponses), "the number of types, the list has is")
	for _, want := range problem.GatewayResponses {
		p := responses[want.Type]
		status := fmt.Sprint(want.Status)
		if got := value(p, "statusCode"); want.Status == 0 && got != nil || want.Status != 0 && got != status {
			t.Errorf("%s has the status %v, want %s", want.Type, got, status)
		}
		var body problem.Document
		err := json.Unmarshal([]byte(value(p, "responseTemplates", "application/json").(string)), &body)
		expect.Must(t, err == nil, "%s: %v", want.Type, err)
		if body.Code != want.Code || body.Detail != want.Detail || body.RequestID != "$context.requestId" || body.Instance != "$context.path" || body.Type != want.Code.Type() {
			t.Errorf("%s answers %+v", want.Type, body)
		}
		headers, _ := value(p, "responseParameters").(map[string]any)
		expect.Equal[any](t, headers[header+"Content-Type"], "'application/problem+json'", "%s has the headers %v", want.Type, headers)
		hasSecurityHeaders(t, want.Type, header, headers)
		expect.That(t, (headers[header+"WWW-Authenticate"] == "'Bearer'") == (want.Status == 401),
			"%s: WWW-Authenticate belongs to 401 and to nothing else: %v", want.Type, headers)
		if after := headers[header+"Retry-After"]; (after != nil) != (want.RetryAfter > 0 || want.SpreadRetry) {
			t.Errorf("%s has Retry-After %v, want %v", want.Type, after, want.RetryAfter)
		}
		expect.That(t, headers[header+"Access-Control-Allow-Origin"] == nil,
			"%s lets pages of other origins read it, although none is set", want.Type)
	}
	if value(responses["MISSING_AUTHENTICATION_TOKEN"], "statusCode") != "404" || value(responses["ACCESS_DENIED"], "statusCode") != "401" {
		t.Error("an unknown route is 404, and a denied token 401")
	}
}

// TestThrottled_RetryAfter_IsTheCallersOwn: the authorizer passes on a number of seconds for each caller. With the same
// number, all would come back together.
func TestThrottled_RetryAfter_IsTheCallersOwn(t *testing.T) {
	throttled := value(map[string]any(dev().api(t)), "x-amazon-apigateway-gateway-responses", "THROTTLED", "responseParameters")
	expect.Equal[any](t, value(throttled, "gatewayresponse.header.Retry-After"), "context.authorizer."+auth.KeyRetryAfter, "Retry-After is")
}

// TestOwnAnswers_MayBeReadByTheOnlyOrigin_OrByAnyOfSeveral: API Gateway's own answers have fixed headers.
func TestOwnAnswers_MayBeReadByTheOnlyOrigin_OrByAnyOfSeveral(t *testing.T) {
	one := expect.Value(ReadSettings(map[string]any{"origins": "https://a.example"}))(t)
	for want, headers := range map[string]map[string]string{
		"'https://a.example'": headersOf(one, problem.GatewayResponseOf("UNAUTHORIZED")),
		"'*'":                 headersOf(Settings{Origins: []string{"https://a.example", "https://b.example"}}, problem.MethodNotAllowedResponse([]string{"GET"})),
		"":                    headersOf(Settings{}, problem.GatewayResponseOf("DEFAULT_5XX")),
	} {
		expect.Equal(t, headers["Access-Control-Allow-Origin"], want, "may be read by")
	}
	// A page may also read the answer's headers.
	for kind, want := range map[string]string{"THROTTLED": "'Retry-After'", "QUOTA_EXCEEDED": "'Retry-After'", "UNAUTHORIZED": ""} {
		expect.Equal(t, headersOf(one, problem.GatewayResponseOf(kind))["Access-Control-Expose-Headers"], want, "of %s a page may read", kind)
	}
	expect.Equal(t, headersOf(one, problem.MethodNotAllowedResponse([]string{"GET"}))["Access-Control-Expose-Headers"], "'Allow'", "of 405 a page may read")
	responses, _ := full().api(t)["x-amazon-apigateway-gateway-responses"].(map[string]any)
	for kind, r := range responses {
		expect.Equal[any](t, value(r, "responseParameters", "gatewayresponse.header.Access-Control-Allow-Origin"), "'*'", "%s may be read by", kind)
	}
}

func headersOf(settings Settings, g problem.GatewayResponse) map[string]string {
	s := &service{part: part{settings: settings}}
	_, headers := s.answer(g)
	return headers
}

func TestOrigins_OnlyThoseOfTheSettings_MayCallFromABrowser(t *testing.T) {
	for route := range dev().api(t).routes() {
		expect.That(t, !strings.HasPrefix(route, "OPTIONS "),
			"%s: preflight requests are answered, and no origin is set", route)
	}
	template := full()
	routes := template.api(t).routes()
	preflights := 0
	for route, m := range routes {
		if !strings.HasPrefix(route, "OPTIONS ") {
			continue
		}
		preflights++
		status, headers, body := mockOf(t, m)
		if status != "204" || !strings.Contains(body, `$origin == "https://a.example" || $origin == "https://b.example"`) {
			t.Errorf("%s: %s by %s", route, status, body)
		}
		expect.That(t, len(headers) == 0, "%s has mapped headers, such as an unchecked origin: %v", route, headers)
		declared, _ := value(m, "responses", "204", "headers").(map[string]any)
		for name, want := range map[string]string{
			"Access-Control-Allow-Headers": `"` + lambdahttp.AllowedHeaders + `"`, "Access-Control-Allow-Methods": `"` + lambdahttp.AllowedMethods + `"`,
			"Access-Control-Max-Age": `"` + lambdahttp.PreflightAge + `"`, "Vary": `"Origin"`, "Access-Control-Allow-Origin": "$origin",
		} {
			if !strings.Contains(body, "#set($context.responseOverride.header."+name+" = "+want+")") || declared[name] == nil {
				t.Errorf("%s does not answer %s: %s, or does not declare it", route, name, want)
			}
		}
	}
	paths := map[string]bool{}
	for _, op := range table.All {
		paths[op.Path] = true
		if root := op.RootPath(); root != "" {
			paths[root] = true
		}
		expect.That(t, routes["OPTIONS "+op.Path] != nil, "%s answers no preflight request", op.Path)
		env := environment(template.function(t, op.ID))
		got := value(env, "CORS_ORIGINS")
		expect.That(t, got == "https://a.example,https://b.example", "%s lets pages of %v read its answers", op.ID, got)
	}
	expect.That(t, preflights == len(paths), "%d paths answer preflight requests, there are %d", preflights, len(paths))
}
