package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
)

// A mock is API Gateway's own answer to a method: it calls no function and requires no token, so the answer must
// not reveal anything but this.
type mock struct {
	status  int
	headers map[string]string // as mapping expressions: a literal is in single quotes
	// body is a template. Mocks of the same kind share it. A mock without a kind has its own, which may contain values that
	// are known only at deploy time.
	body, kind string
	// dynamic are headers that the body's template sets.
	dynamic []string
	// passthrough is what API Gateway does with a body of a media type without a template; "never" refuses it with 415.
	passthrough string
}

// mocked is the mock in the OpenAPI document. The stack's template contains its body once for each kind.
func (s *service) mocked(m mock) method {
	status := strconv.Itoa(m.status)
	declared, parameters := map[string]map[string]any{}, map[string]string{}
	for name, value := range m.headers {
		declared[name] = map[string]any{"schema": map[string]any{"type": "string"}}
		parameters["method.response.header."+name] = value
	}
	template := m.body
	if m.kind != "" {
		template = s.shared(m.kind, m.body)
	}
	for _, name := range m.dynamic {
		declared[name] = map[string]any{"schema": map[string]any{"type": "string"}}
	}
	return method{
		Responses: map[string]response{status: {Description: "API Gateway's own answer", Headers: declared}},
		Integration: integration{
			Type: "mock", Passthrough: m.passthrough,
			// Every media type counts as binary, so API Gateway must be told to read a template as text.
			ContentHandling:  "CONVERT_TO_TEXT",
			RequestTemplates: map[string]string{"application/json": `{"statusCode": ` + status + `}`},
			Responses: map[string]mockResponse{"default": {
				StatusCode: status, Parameters: parameters, Templates: map[string]string{"application/json": template},
			}},
		},
	}
}

// shared is a reference to a text that the template contains once.
func (s *service) shared(name, text string) string {
	if s.texts == nil {
		s.texts = awscdk.NewCfnMapping(s.stack, jsii.String("texts"), nil)
	}
	const answers = "answers"
	s.texts.SetValue(jsii.String(answers), &name, text)
	return *s.texts.FindInMap(jsii.String(answers), &name, nil)
}

// mocks are the methods that API Gateway answers itself, by path and method:
//
//   - OPTIONS of every operation's path, if pages of other origins may call;
//   - how people sign in;
//   - 405 for the other methods of the paths that exist;
//   - 404 for their parent paths, and for everything else. Otherwise API Gateway would take the token of such a call
//     for an AWS signature, and answer 403.
func (s *service) mocks() map[string]map[string]mock {
	mocks := map[string]map[string]mock{}
	set := func(path, method string, m mock) {
		if mocks[path] == nil {
			mocks[path] = map[string]mock{}
		}
		mocks[path][method] = m
	}
	missing := s.refusal("missing", problem.GatewayResponseOf("RESOURCE_NOT_FOUND"))
	for _, path := range []string{"/", s.unknown()} {
		set(path, operations.Any, missing)
	}
	methods := s.methods()
	for path, allowed := range methods {
		for parent := path; parent != ""; parent = parent[:strings.LastIndex(parent, "/")] {
			if methods[parent] == nil {
				set(parent, operations.Any, missing)
			}
		}
		if !slices.Contains(allowed, operations.Any) {
			set(path, operations.Any, s.refusal("method", problem.MethodNotAllowedResponse(allowed)))
		}
	}
	if len(s.settings.Origins) > 0 {
		for _, op := range s.rows {
			set(op.Path, "OPTIONS", s.preflight())
			if root := op.RootPath(); root != "" && s.settings.DDIRoot {
				set(root, "OPTIONS", s.preflight())
			}
		}
	}
	if s.login != nil {
		set(operations.LoginPath, http.MethodGet, s.login.loginAnswer())
	}
	return mocks
}

// unknown is the path that matches everything else. API Gateway allows only one variable segment after the same path.
func (s *service) unknown() string {
	if s.settings.DDIRoot {
		return "/{tenant}/{unknown+}"
	}
	return "/{unknown+}"
}

// methods lists the methods of every path that has some.
func (s *service) methods() map[string][]string {
	methods := map[string][]string{}
	for _, op := range s.rows {
		methods[op.Path] = append(methods[op.Path], op.Method)
		if root := op.RootPath(); root != "" && s.settings.DDIRoot {
			methods[root] = append(methods[root], op.Method)
		}
	}
	if len(s.settings.Origins) > 0 {
		for path, m := range methods {
			methods[path] = append(m, "OPTIONS")
		}
	}
	for path := range s.pages() {
		methods[path] = []string{http.MethodGet}
	}
	if s.login != nil {
		methods[operations.LoginPath] = []string{"GET"}
	}
	return methods
}

// refusal is a mock that answers with a problem document. The body's template also sets the headers that all mocks of
// its kind share, because the stack's template contains it only once, but mappings once for each path.
func (s *service) refusal(kind string, g problem.GatewayResponse) mock {
	body, headers := s.answer(g)
	own := map[string]string{}
	for _, name := range []string{"Allow", "Content-Type"} {
		if value, given := headers[name]; given {
			own[name] = value
			delete(headers, name)
		}
	}
	names := slices.Sorted(maps.Keys(headers))
	var sets strings.Builder
	for _, name := range names {
		sets.WriteString(setHeader(name, strings.Trim(headers[name], "'")))
	}
	return mock{status: g.Status, headers: own, body: sets.String() + body, kind: kind, dynamic: names, passthrough: "never"}
}

// setHeader is the part of a template that sets a header of the answer. It adds nothing to the body.
func setHeader(name, value string) string {
	return fmt.Sprintf("#set($context.responseOverride.header.%s = %q)", name, value)
}

// gatewayResponses gives API Gateway's answers to calls that reach no method the form of the functions' answers.
func (s *service) gatewayResponses() map[string]gatewayResponse {
	responses := map[string]gatewayResponse{}
	for _, g := range problem.GatewayResponses {
		body, headers := s.answer(g)
		parameters := map[string]string{}
		for name, value := range headers {
			parameters["gatewayresponse.header."+name] = value
		}
		r := gatewayResponse{Parameters: parameters, Templates: map[string]string{"application/json": body}}
		if g.Status != 0 {
			r.StatusCode = strconv.Itoa(g.Status)
		}
		responses[g.Type] = r
	}
	return responses
}

// answer is the body and the headers of API Gateway's own answer, as templates.
func (s *service) answer(g problem.GatewayResponse) (body string, headers map[string]string) {
	document := g.Document("$context.path", "$context.requestId")
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // a document of strings and numbers always marshals
	}
	h := g.Header()
	maps.Copy(h, lambdahttp.SecurityHeaders())
	if g.SpreadRetry {
		h.Set("Retry-After", "") // replaced below
	}
	lambdahttp.ShareOwn(h, s.settings.Origins)
	headers = map[string]string{}
	for name := range h {
		headers[strings.Replace(name, "Www-", "WWW-", 1)] = "'" + h.Get(name) + "'"
	}
	if g.SpreadRetry {
		headers["Retry-After"] = "context.authorizer." + auth.KeyRetryAfter
	}
	return string(text), headers
}
