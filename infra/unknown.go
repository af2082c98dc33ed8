package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/problem"
)

// addUnknown answers what is no operation: any other method of the paths there are, and any other path.
// Left to itself API Gateway takes the token of such a call for one of AWS's own signatures, and answers
// 403 for a reason that has nothing to do with it. Nobody is asked for a token: there is nothing here.
func (s *service) addUnknown() {
	if s.settings.Local() {
		return // SAM would take these for functions, and before the operations
	}
	unknown := problem.GatewayResponseOf("RESOURCE_NOT_FOUND")
	e := problem.New(unknown.Code, "%s", unknown.Detail)
	body, err := json.Marshal(e.Document("$context.path", "$context.requestId"))
	if err != nil {
		panic(err) // a document of strings and numbers always marshals
	}
	plain := map[string]*string{}
	for name := range e.Header() {
		plain[name] = jsii.String("'" + e.Header().Get(name) + "'")
	}
	s.allowOrigin(plain)
	headers, declared := map[string]*string{}, map[string]*bool{}
	for name, value := range plain {
		headers["method.response.header."+name], declared["method.response.header."+name] = value, jsii.Bool(true)
	}
	status := jsii.String(strconv.Itoa(unknown.Status))
	integration := awsapigateway.NewMockIntegration(&awsapigateway.IntegrationOptions{
		// Every media type counts as binary, and a template is read as text only if told so. Whatever is
		// sent is not looked at; what has another type than JSON is refused for that.
		ContentHandling:     awsapigateway.ContentHandling_CONVERT_TO_TEXT,
		PassthroughBehavior: awsapigateway.PassthroughBehavior_NEVER,
		RequestTemplates:    &map[string]*string{"application/json": jsii.String(`{"statusCode": ` + *status + `}`)},
		IntegrationResponses: &[]*awsapigateway.IntegrationResponse{{
			StatusCode: status, ResponseParameters: &headers,
			ResponseTemplates: &map[string]*string{"application/json": jsii.String(string(body))},
		}},
	})
	add := func(resource awsapigateway.IResource) {
		method := resource.AddMethod(jsii.String(operations.Any), integration, &awsapigateway.MethodOptions{
			AuthorizationType: awsapigateway.AuthorizationType_NONE,
			MethodResponses:   &[]*awsapigateway.MethodResponse{{StatusCode: status, ResponseParameters: &declared}},
		})
		const nothing = "There is no operation here: every caller is told so, and nothing else."
		excuse(method, "AwsSolutions-APIG4", nothing)
		excuse(method, "AwsSolutions-COG4", nothing)
	}
	for _, path := range s.unknownPaths() {
		add(s.api.Root().ResourceForPath(&path))
	}
	add(s.api.Root())
}

// unknownPaths are the paths at which something is unknown: each of the operations' and the pages', but
// for what takes every method itself, each part that leads there, and all else.
func (s *service) unknownPaths() []string {
	all := slices.Clone(operations.Table)
	if s.settings.Docs {
		for _, path := range operations.DocsPaths {
			all = append(all, operations.Operation{Path: path})
		}
	}
	paths := map[string]bool{"/{unknown+}": true}
	for _, op := range all {
		for path := op.Path; path != ""; path = path[:strings.LastIndex(path, "/")] {
			if path != op.Path || op.Method != operations.Any {
				paths[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}
