package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"wavegate/shared/platform/lambdahttp"
)

// preflight answers browsers' preflight requests for the origins of the settings. Without origins there is no such
// method, and no page of another origin can call.
func (s *service) preflight() mock {
	headers := map[string]string{
		"Access-Control-Allow-Headers": lambdahttp.AllowedHeaders,
		"Access-Control-Allow-Methods": lambdahttp.AllowedMethods,
		"Access-Control-Max-Age":       lambdahttp.PreflightAge,
		"Vary":                         "Origin",
	}
	names := slices.Sorted(maps.Keys(headers))
	// The body's template sets all headers, because the stack's template contains it only once, but mappings once for each path.
	body := s.originTemplate()
	for _, name := range names {
		body += "\n" + setHeader(name, headers[name])
	}
	return mock{
		status: 204, body: body, kind: "preflight", dynamic: append(names, "Access-Control-Allow-Origin"),
		passthrough: "when_no_match",
	}
}

// originTemplate returns the caller's origin in the answer if the settings list it.
func (s *service) originTemplate() string {
	tests := make([]string, len(s.settings.Origins))
	for i, o := range s.settings.Origins {
		tests[i] = fmt.Sprintf("$origin == %q", o)
	}
	return `#set($origin = $input.params().header.get("Origin"))
#if($origin == "")#set($origin = $input.params().header.get("origin"))#end
#if(` + strings.Join(tests, " || ") + `)#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end`
}
