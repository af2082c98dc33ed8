package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"

	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
)

// addUnknown answers what is no operation: any other method of the paths there are, and any other path.
// Left to itself API Gateway takes the token of such a call for one of AWS's own signatures, and answers
// 403 for a reason that has nothing to do with it. Nobody is asked for a token: there is nothing here.
func (s *service) addUnknown() {
	if s.settings.Local() {
		return // SAM would take these for functions, and before the operations
	}
	unknown := problem.GatewayResponseOf("RESOURCE_NOT_FOUND")
	body, headers := s.answer(unknown)
	for _, path := range s.unknownPaths() {
		s.addMock(path, operations.Any, mock{
			status: unknown.Status, headers: headers, body: body,
			// What is sent is not looked at; what has another type than JSON is refused for that.
			passthrough: awsapigateway.PassthroughBehavior_NEVER,
			reason:      "There is no operation here: every caller is told so, and nothing else.",
		})
	}
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
	paths := map[string]bool{"/": true, "/{unknown+}": true}
	for _, op := range all {
		for path := op.Path; path != ""; path = path[:strings.LastIndex(path, "/")] {
			if path != op.Path || op.Method != operations.Any {
				paths[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}
