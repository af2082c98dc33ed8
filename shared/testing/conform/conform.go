// Package conform checks HTTP exchanges against the contract. It is for tests: every status, header, media type and
// field that passes through it must be documented.
package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"wavegate/shared/contract"
	"wavegate/shared/testing/expect"
)

// A Checker judges exchanges. It may be used by many goroutines.
type Checker struct {
	doc *openapi3.T

	mu     sync.Mutex
	seen   map[string]map[Answer]int // operation → answer → exchanges
	shapes map[string]int            // shape → exchanges
}

// New reads the contract and makes a checker of it.
func New() (*Checker, error) {
	doc, err := Load(contract.Document)
	if err != nil {
		return nil, err
	}
	closeAnswers(doc)
	openapi3filter.RegisterBodyDecoder("application/jsonl", openapi3filter.FileBodyDecoder)
	return &Checker{doc: doc, seen: map[string]map[Answer]int{}, shapes: map[string]int{}}, nil
}

// Load reads a document and checks that it is valid OpenAPI, its examples included. Callers must accept values that
// x-extensible-enum or x-codes does not list. The service itself may only send the listed ones: here they are an enum like
// any other.
func Load(document []byte) (*openapi3.T, error) {
	document = bytes.ReplaceAll(document, []byte("x-extensible-enum:"), []byte("enum:"))
	document = codes.ReplaceAll(document, []byte("properties: {code: {enum: $1}}"))
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("conform: read the contract: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("conform: the contract is not valid: %w", err)
	}
	return doc, nil
}

// codes matches the list of a refusal's problem codes.
var codes = regexp.MustCompile(`(?m)x-codes: (\[.*\])$`)

// An Exchange is one request and its answer.
type Exchange struct {
	Method string
	// Target is the path, with any prefix before /api, and the query, as they were in the request.
	Target     string
	Header     http.Header
	Body       []byte
	Status     int
	Answer     http.Header
	AnswerBody []byte
}

// perShape is how many exchanges of one shape are checked. A fleet's polls differ only in values, and there are tens of
// thousands of them. Another status, header, media type, field or problem makes another shape.
var perShape = expect.Long(5, 100)

// Check returns every difference between an exchange and the contract: what the answer has that is not documented, and
// what it lacks. It also finds a request that was carried out although the contract forbids it, and one that was
// refused as bad although the contract allows it.
func (c *Checker) Check(x Exchange) error {
	path, rawQuery, _ := strings.Cut(x.Target, "?")
	route, parameters := c.route(x.Method, path)
	if route == nil {
		return c.noRoute(x)
	}
	if !c.count(route.Operation.OperationID, x) {
		return nil
	}
	sent, err := http.NewRequestWithContext(context.Background(), x.Method, "http://contract.invalid/?"+rawQuery, bytes.NewReader(x.Body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", x.Method, x.Target, err)
	}
	sent.Header = x.Header.Clone()
	input := &openapi3filter.RequestValidationInput{
		Request: sent, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true, SkipSettingDefaults: true, MultiError: true,
		},
	}
	err = errors.Join(request(input, x), answer(input, x))
	if err != nil {
		return fmt.Errorf("%s, answered %d: %w", route.Operation.OperationID, x.Status, err)
	}
	return nil
}

// request checks what the service did with a request against what the contract says of it.
func request(input *openapi3filter.RequestValidationInput, x Exchange) error {
	refusal := validRequest(input)
	switch {
	case x.Status < 400, x.Status == http.StatusConflict, x.Status == http.StatusPreconditionFailed,
		x.Status == http.StatusUnprocessableEntity:
		// What a box says is read otherwise, or not at all, if it is not as the contract wants it.
		if refusal != nil && input.Route.Operation.Extensions["x-hears"] == nil {
			return fmt.Errorf("the service took a request that the contract forbids: %w", refusal)
		}
	case x.Status == http.StatusBadRequest && refusal == nil:
		return faultsBeyondSchemas(input.Route, x.AnswerBody)
	}
	return nil
}

// validRequest returns what the contract forbids in a request.
func validRequest(input *openapi3filter.RequestValidationInput) error {
	query, err := url.ParseQuery(input.Request.URL.RawQuery)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range slices.Concat(input.Route.PathItem.Parameters, input.Route.Operation.Parameters) {
		if p.Value.In == openapi3.ParameterInQuery {
			known[p.Value.Name] = true
		}
	}
	_, open := input.Route.Operation.Extensions["x-any-query"]
	for name := range query {
		if !known[name] && !open {
			return fmt.Errorf("there is no query parameter %q", name)
		}
	}
	return openapi3filter.ValidateRequest(context.Background(), input)
}

// answer checks an answer against its operation.
func answer(input *openapi3filter.RequestValidationInput, x Exchange) error {
	documented := input.Route.Operation.Responses.Status(x.Status)
	if documented == nil {
		documented = input.Route.Operation.Responses.Default()
	}
	if documented == nil {
		return fmt.Errorf("the status is not documented; the body is %.300s", x.AnswerBody)
	}
	var all []error
	if _, free := documented.Value.Extensions["x-any-answer"]; free {
		return nil
	}
	all = append(all, headers(documented.Value, x.Answer))
	if len(documented.Value.Content) == 0 && len(x.AnswerBody) > 0 {
		all = append(all, fmt.Errorf("a body is not documented: %.300s", x.AnswerBody))
	}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: x.Status, Header: x.Answer,
		Body: io.NopCloser(bytes.NewReader(x.AnswerBody)), Options: input.Options,
	})
	return errors.Join(append(all, err)...)
}

// transport are the headers that HTTP and API Gateway add to any answer.
var transport = []string{
	"Content-Type", "Content-Length", "Date", "Connection", "Transfer-Encoding",
	"X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id",
	// A REST API does not let a function send WWW-Authenticate by that name.
	"X-Amzn-Remapped-Www-Authenticate",
	// On every answer, as the contract says once; package lambdahttp says which.
	"Strict-Transport-Security", "X-Content-Type-Options", "X-Frame-Options",
	// For pages of the origins that the settings allow (WHATWG Fetch, "CORS protocol").
	"Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
}

// headers finds those that are not documented and those that are missing.
func headers(documented *openapi3.Response, got http.Header) error {
	var all []error
	known := map[string]bool{}
	for name, h := range documented.Headers {
		known[http.CanonicalHeaderKey(name)] = true
		if h.Value.Required && got.Get(name) == "" {
			all = append(all, fmt.Errorf("the header %s is missing", name))
		}
	}
	for name := range got {
		name = http.CanonicalHeaderKey(name)
		if !known[name] && !slices.Contains(transport, name) {
			all = append(all, fmt.Errorf("the header %s is not documented", name))
		}
	}
	return errors.Join(all...)
}

// count counts an exchange and reports whether it must be checked.
func (c *Checker) count(operation string, x Exchange) bool {
	shape := operation + " " + shapeOf(x)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[operation] == nil {
		c.seen[operation] = map[Answer]int{}
	}
	c.seen[operation][answerOf(x)]++
	c.shapes[shape]++
	return c.shapes[shape] <= perShape
}

// route finds the operation that a path belongs to, and the decoded values of its parameters.
func (c *Checker) route(method, path string) (*routers.Route, map[string]string) {
	if i := strings.Index(path, "/api/"); i > 0 {
		path = path[i:]
	}
	var found *routers.Route
	var values map[string]string
	for template, item := range c.doc.Paths.Map() {
		op := item.GetOperation(method)
		got, ok := match(template, path)
		if op == nil || !ok || found != nil && len(got) >= len(values) {
			continue
		}
		// Of two templates, the one with fewer parameters is more exact.
		found = &routers.Route{Spec: c.doc, Path: template, PathItem: item, Method: method, Operation: op}
		values = got
	}
	return found, values
}
