package main

import (
	"fmt"
	"strings"

	"wavegate/shared/platform/lambdahttp"
)

// preflight answers the preflight requests of browsers, for the origins of the settings. Without origins
// there is no such method, and no page of another origin can call.
func (s *service) preflight() mock {
	headers := map[string]string{
		"Access-Control-Allow-Headers": "'" + lambdahttp.AllowedHeaders + "'",
		"Access-Control-Allow-Methods": "'" + lambdahttp.AllowedMethods + "'",
		"Access-Control-Max-Age":       "'" + lambdahttp.PreflightAge + "'",
		"Vary":                         "'Origin'",
	}
	return mock{
		status: 204, headers: headers, body: s.originTemplate(), kind: "preflight", dynamic: []string{"Access-Control-Allow-Origin"},
		passthrough: "when_no_match",
	}
}

// originTemplate names the caller's origin in the answer if it is one of the settings'.
func (s *service) originTemplate() string {
	tests := make([]string, len(s.settings.Origins))
	for i, o := range s.settings.Origins {
		tests[i] = fmt.Sprintf("$origin == %q", o)
	}
	return `#set($origin = $input.params().header.get("Origin"))
#if($origin == "")#set($origin = $input.params().header.get("origin"))#end
#if(` + strings.Join(tests, " || ") + `)#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end`
}
