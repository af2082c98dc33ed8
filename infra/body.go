package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
)

// The API is one document: OpenAPI 3.0 with API Gateway's extensions. As separate resources it would take several for
// each operation, and a stack may have only 500.

const (
	// API Gateway waits this much longer than a function may run, so that the function itself reports the timeout; but
	// never longer than API Gateway can.
	integrationMargin  = time.Second
	longestIntegration = 29 * time.Second
	// anyMethod matches every method without its own entry.
	anyMethod = "x-amazon-apigateway-any-method"
	// scheme is the authorizer's name in the document.
	scheme = "token"
	// pathScheme is the authorizer for DDI clients that may have tokens of another form.
	pathScheme = "token-and-path"
)

// A document is an API as API Gateway imports it.
type document struct {
	OpenAPI    string                       `json:"openapi"`
	Info       map[string]string            `json:"info"`
	Paths      map[string]map[string]method `json:"paths"`
	Components map[string]map[string]any    `json:"components"`
	// Responses are API Gateway's own answers by their type.
	Responses map[string]gatewayResponse `json:"x-amazon-apigateway-gateway-responses"`
	// The copilot forwards binary bodies. With this, API Gateway passes every body on in base64, and the functions' adapter
	// decodes it.
	BinaryMediaTypes []string `json:"x-amazon-apigateway-binary-media-types"`
}

// A method is one method of a path.
type method struct {
	OperationID string                `json:"operationId,omitempty"`
	Security    []map[string][]string `json:"security,omitempty"` // none: open to anyone
	Responses   map[string]response   `json:"responses,omitempty"`
	Integration integration           `json:"x-amazon-apigateway-integration"`
}

// A response declares the answer of a mocked method.
type response struct {
	Description string                    `json:"description"`
	Headers     map[string]map[string]any `json:"headers,omitempty"`
}

// An integration answers a method: a function, or a mock.
type integration struct {
	Type        string `json:"type"` // aws_proxy or mock
	HTTPMethod  string `json:"httpMethod,omitempty"`
	URI         string `json:"uri,omitempty"`
	Credentials string `json:"credentials,omitempty"`
	TimeoutMS   int64  `json:"timeoutInMillis,omitempty"`
	// The rest is for mocks.
	ContentHandling  string                  `json:"contentHandling,omitempty"`
	Passthrough      string                  `json:"passthroughBehavior,omitempty"`
	RequestTemplates map[string]string       `json:"requestTemplates,omitempty"`
	Responses        map[string]mockResponse `json:"responses,omitempty"`
}

// A mockResponse is a mock's answer.
type mockResponse struct {
	StatusCode string            `json:"statusCode"`
	Parameters map[string]string `json:"responseParameters"`
	Templates  map[string]string `json:"responseTemplates"`
}

// A gatewayResponse is API Gateway's answer to a call that no method could answer.
type gatewayResponse struct {
	StatusCode string            `json:"statusCode,omitempty"`
	Parameters map[string]string `json:"responseParameters"`
	Templates  map[string]string `json:"responseTemplates"`
}

// body is the API's document. invoker is the role with which API Gateway calls functions.
func (s *service) body(invoker awsiam.Role) any {
	paths := map[string]map[string]method{}
	set := func(path, name string, m method) {
		if paths[path] == nil {
			paths[path] = map[string]method{}
		}
		paths[path][key(name)] = m
	}
	for _, op := range s.rows {
		wait := min(op.Timeout+integrationMargin, longestIntegration)
		m := method{
			OperationID: op.ID, Security: []map[string][]string{{scheme: {}}},
			Integration: s.invocation(op.ID, invoker, wait),
		}
		if s.settings.ForeignTokens && op.RootPath() != "" {
			m.Security = []map[string][]string{{pathScheme: {}}}
		}
		set(op.Path, op.Method, m)
		if root := op.RootPath(); root != "" && s.settings.DDIRoot {
			m.OperationID += "-at-root"
			set(root, op.Method, m)
		}
	}
	for path, page := range s.pages() {
		set(path, http.MethodGet, method{Integration: s.invocation(page.function, invoker, operations.HelperTimeout+integrationMargin)})
	}
	for path, methods := range s.mocks() {
		for name, answer := range methods {
			set(path, name, s.mocked(answer))
		}
	}
	schemes := map[string]any{scheme: s.authorizer(invoker)}
	if s.settings.ForeignTokens {
		schemes[pathScheme] = s.authorizer(invoker, "context.path")
	}
	return inline(document{
		OpenAPI:          "3.0.1",
		Info:             map[string]string{"title": s.name(), "version": "1"},
		Paths:            paths,
		Components:       map[string]map[string]any{"securitySchemes": schemes},
		Responses:        s.gatewayResponses(),
		BinaryMediaTypes: []string{"*/*"},
	})
}

// key is a method's name in the document.
func key(method string) string {
	if method == operations.Any {
		return anyMethod
	}
	return strings.ToLower(method)
}

// invocation makes a function answer.
func (s *service) invocation(function string, invoker awsiam.Role, wait time.Duration) integration {
	return integration{
		Type: "aws_proxy", HTTPMethod: "POST", URI: s.invocationURI(function),
		Credentials: *invoker.RoleArn(), TimeoutMS: wait.Milliseconds(),
	}
}

// authorizer is the security scheme that calls the authorizer, which gets the whole request. Its answers are kept by the token
// and by the identity sources besides.
func (s *service) authorizer(invoker awsiam.Role, besides ...string) any {
	return map[string]any{
		"type": "apiKey", "name": "Authorization", "in": "header",
		"x-amazon-apigateway-authtype": "custom",
		"x-amazon-apigateway-authorizer": map[string]any{
			"type":                         "request",
			"identitySource":               strings.Join(append([]string{"method.request.header.Authorization"}, besides...), ", "),
			"authorizerUri":                s.invocationURI(operations.Authorizer),
			"authorizerCredentials":        *invoker.RoleArn(),
			"authorizerResultTtlInSeconds": int(auth.GatewayCache.Seconds()),
		},
	}
}

// invocationURI is the URI with which API Gateway calls a function.
func (s *service) invocationURI(function string) string {
	return *awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("arn:"), s.stack.Partition(), jsii.String(":apigateway:"), s.stack.Region(),
		jsii.String(":lambda:path/2015-03-31/functions/"), s.called(function), jsii.String("/invocations"),
	})
}

// inline turns a value into maps and lists, as the CDK requires.
func inline(value any) any {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // it is made of texts, numbers, lists and maps
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		panic(err) // it was JSON a moment ago
	}
	return v
}
