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

// A mock is an answer that the gateway gives to a method without asking a function. Nobody is asked for a
// token: the answer says nothing but what is here.
type mock struct {
	status  int
	headers map[string]string // as mappings: a text stands in single quotes
	// body is a template, and kind names it: mocks of one kind have the same. One without a kind is the only
	// one, and may hold what only a deploy knows.
	body, kind string
	// dynamic are headers that the body's template sets.
	dynamic []string
	// passthrough says what becomes of a body that no template is for; "never" refuses it with 415.
	passthrough string
}

// mocked is the mock as the document has it. Its body stands in the stack's template once for each kind.
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
		Responses: map[string]response{status: {Description: "The gateway's own answer", Headers: declared}},
		Integration: integration{
			Type: "mock", Passthrough: m.passthrough,
			// Every media type counts as binary, and a template is read as text only if told so.
			ContentHandling:  "CONVERT_TO_TEXT",
			RequestTemplates: map[string]string{"application/json": `{"statusCode": ` + status + `}`},
			Responses: map[string]mockResponse{"default": {
				StatusCode: status, Parameters: parameters, Templates: map[string]string{"application/json": template},
			}},
		},
	}
}

// shared is a reference to a text that the template holds once.
func (s *service) shared(name, text string) string {
	if s.texts == nil {
		s.texts = awscdk.NewCfnMapping(s.stack, jsii.String("texts"), nil)
	}
	const answers = "answers"
	s.texts.SetValue(jsii.String(answers), &name, text)
	return *s.texts.FindInMap(jsii.String(answers), &name, nil)
}

// mocks are the methods that the gateway answers itself, by path and method:
//
//   - OPTIONS of every operation's path, where pages of other origins may call;
//   - how people log in;
//   - 405 for the other methods of the paths that exist;
//   - 404 for the parts that lead to them, and for everything else. Left to itself API Gateway takes the
//     token of such a call for one of AWS's own signatures, and answers 403.
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

// unknown is the path of what no other path matches. The API can have only one variable segment after the same path.
func (s *service) unknown() string {
	if s.settings.DDIRoot {
		return "/{tenant}/{unknown+}"
	}
	return "/{unknown+}"
}

// methods lists the methods of every path that answers something.
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

// refusal is a mock that answers with a problem document. The body's template sets the headers that all mocks of its
// kind have: the stack's template holds it once, and mappings once for each path.
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

// setHeader is the part of a template that sets a header of the answer. It leaves nothing in the body.
func setHeader(name, value string) string {
	return fmt.Sprintf("#set($context.responseOverride.header.%s = %q)", name, value)
}

// gatewayResponses makes the answers that the gateway gives without a method look like the functions'
// own.
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

// answer is the body and the headers of an answer that the gateway gives by itself, as its templates have
// them.
func (s *service) answer(g problem.GatewayResponse) (body string, headers map[string]string) {
	document := g.Document("$context.path", "$context.requestId")
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // a document of strings and numbers always marshals
	}
	h := g.Header()
	maps.Copy(h, lambdahttp.SecurityHeaders())
	if g.SpreadRetry {
		h.Set("Retry-After", "") // put in below
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
