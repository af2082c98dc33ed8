package main

import (
	"fmt"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
)

// addPreflight answers the preflight requests of browsers on every path, for the origins of the
// settings. Without origins there are none, and no page of another origin can call.
func (s *service) addPreflight() {
	if len(s.settings.Origins) == 0 {
		return
	}
	done := map[string]bool{}
	for _, op := range operations.Table {
		if done[op.Path] {
			continue
		}
		done[op.Path] = true
		s.addMock(op.Path, "OPTIONS", mock{
			status: 204, body: jsii.String(s.originTemplate()), dynamic: []string{"Access-Control-Allow-Origin"},
			headers: map[string]*string{
				"Access-Control-Allow-Headers": jsii.String("'" + lambdahttp.AllowedHeaders + "'"),
				"Access-Control-Allow-Methods": jsii.String("'" + lambdahttp.AllowedMethods + "'"),
				"Access-Control-Max-Age":       jsii.String("'" + lambdahttp.PreflightAge + "'"),
				"Vary":                         jsii.String("'Origin'"),
			},
			reason: "A browser sends no token with a preflight request; the answer says nothing but who may ask.",
		})
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

// allowOrigin lets a page read the gateway's own answers. Their headers are fixed, so this is
// possible for one origin; with several a page sees that a call failed and not why.
func (s *service) allowOrigin(headers map[string]*string) {
	if len(s.settings.Origins) == 1 {
		headers["Access-Control-Allow-Origin"] = jsii.String("'" + s.settings.Origins[0] + "'")
		headers["Access-Control-Expose-Headers"] = jsii.String("'" + lambdahttp.ExposedHeaders + "'")
		headers["Vary"] = jsii.String("'Origin'")
	}
}
