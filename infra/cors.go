package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/lambdahttp"
	"wavegate/shared/operations"
)

// addPreflight answers the preflight requests of browsers on every path, for the origins of the
// settings. Without origins there are none, and no page of another origin can call.
func (s *service) addPreflight() {
	if len(s.settings.Origins) == 0 {
		return
	}
	headers := map[string]*string{
		"method.response.header.Access-Control-Allow-Headers": jsii.String("'" + lambdahttp.AllowedHeaders + "'"),
		"method.response.header.Access-Control-Allow-Methods": jsii.String("'" + lambdahttp.AllowedMethods + "'"),
		"method.response.header.Access-Control-Max-Age":       jsii.String("'" + lambdahttp.PreflightAge + "'"),
		"method.response.header.Vary":                         jsii.String("'Origin'"),
	}
	declared := map[string]*bool{"method.response.header.Access-Control-Allow-Origin": jsii.Bool(true)}
	for name := range headers {
		declared[name] = jsii.Bool(true)
	}
	done := map[string]bool{}
	for _, op := range operations.Table {
		if done[op.Path] {
			continue
		}
		done[op.Path] = true
		preflight := s.api.Root().ResourceForPath(jsii.String(op.Path)).AddMethod(jsii.String("OPTIONS"),
			awsapigateway.NewMockIntegration(&awsapigateway.IntegrationOptions{
				// Every media type counts as binary, and a template is read as text only if told so.
				ContentHandling:  awsapigateway.ContentHandling_CONVERT_TO_TEXT,
				RequestTemplates: &map[string]*string{"application/json": jsii.String(`{"statusCode": 204}`)},
				IntegrationResponses: &[]*awsapigateway.IntegrationResponse{{
					StatusCode: jsii.String("204"), ResponseParameters: &headers,
					ResponseTemplates: &map[string]*string{"application/json": jsii.String(s.originTemplate())},
				}},
			}),
			&awsapigateway.MethodOptions{
				AuthorizationType: awsapigateway.AuthorizationType_NONE,
				MethodResponses:   &[]*awsapigateway.MethodResponse{{StatusCode: jsii.String("204"), ResponseParameters: &declared}},
			})
		excuse(preflight, "AwsSolutions-APIG4", "A browser sends no token with a preflight request; the answer says nothing but who may ask.")
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
