package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
)

const (
	// The gateway waits this much longer than a function may run, so that the function's own end is
	// what is seen; and never longer than API Gateway can.
	integrationMargin  = time.Second
	longestIntegration = 29 * time.Second
	// How long the gateway uses an answer of the authorizer again, by token. The functions look at
	// the token's expiry themselves.
	authorizerCache = 300 * time.Second
)

// addAPI makes the REST API: a method for each row behind the authorizer, the answers that the
// gateway gives by itself, and the stage.
func (s *service) addAPI() {
	s.api = awsapigateway.NewRestApi(s.stack, jsii.String("api"), &awsapigateway.RestApiProps{
		RestApiName:           s.stack.StackName(),
		EndpointConfiguration: &awsapigateway.EndpointConfiguration{Types: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL}},
		// The copilot passes bodies on that are no text; with this the gateway hands over every body
		// as bytes, and the functions' adapter undoes it.
		BinaryMediaTypes: jsii.Strings("*/*"),
		// One role a region and account, through which API Gateway writes logs. Other APIs of the
		// account come to lean on it, so it stays when the stack goes.
		CloudWatchRole:              jsii.Bool(true),
		CloudWatchRoleRemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		DeployOptions:               s.stageOptions(),
	})
	s.addExecutionLogs()
	authorizer := awsapigateway.NewRequestAuthorizer(s.stack, jsii.String("token"), &awsapigateway.RequestAuthorizerProps{
		Handler:         s.functions[operations.Authorizer],
		IdentitySources: &[]*string{awsapigateway.IdentitySource_Header(jsii.String("Authorization"))},
		ResultsCacheTtl: awscdk.Duration_Millis(jsii.Number(authorizerCache.Milliseconds())),
	})
	for _, op := range operations.Table {
		wait := min(op.Timeout+integrationMargin, longestIntegration)
		s.api.Root().ResourceForPath(jsii.String(op.Path)).AddMethod(jsii.String(op.Method),
			awsapigateway.NewLambdaIntegration(s.functions[op.ID], &awsapigateway.LambdaIntegrationOptions{
				Timeout: awscdk.Duration_Millis(jsii.Number(wait.Milliseconds())),
				// The console's test button would cost one permission more for each method.
				AllowTestInvoke: jsii.Bool(false),
			}),
			&awsapigateway.MethodOptions{
				OperationName:     jsii.String(op.ID),
				AuthorizationType: awsapigateway.AuthorizationType_CUSTOM,
				Authorizer:        authorizer,
			})
	}
	s.addPreflight()
	s.addUnknown()
	s.addDocs()
	s.addGatewayResponses()
	excuse(s.api, "AwsSolutions-APIG2", "The functions check every request themselves: they report all faults at once and in the service's own form, which the gateway's validation cannot.")
	excuse(s.api, "AwsSolutions-APIG3", "A web ACL is the account's own choice; the stage throttles and every caller is authenticated and limited.")
	excuse(s.api, "AwsSolutions-COG4", "The Lambda authorizer verifies the tokens of several issuers, the user pool's among them.")
	excuse(s.api, "AwsSolutions-IAM4", "AWS's own policy for the role that API Gateway writes the account's logs with.",
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs")
	s.output("ApiUrl", "The base URL: the operations' paths follow it, without a slash between", s.baseURL())
}

// baseURL is the stage's URL without the slash at its end, since the paths begin with one.
func (s *service) baseURL() *string {
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), s.api.RestApiId(), jsii.String(".execute-api."), s.stack.Region(), jsii.String("."),
		s.stack.UrlSuffix(), jsii.String("/" + string(s.settings.Stage)),
	})
}

func (s *service) stageOptions() *awsapigateway.StageOptions {
	s.access = awslogs.NewLogGroup(s.stack, jsii.String("access-logs"), &awslogs.LogGroupProps{
		Retention: retentionDays[s.settings.LogRetentionDays], RemovalPolicy: s.removal(),
	})
	return &awsapigateway.StageOptions{
		StageName:            jsii.String(string(s.settings.Stage)),
		AccessLogDestination: awsapigateway.NewLogGroupLogDestination(s.access),
		AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog())),
		// Errors only, and never the data of a call: that would log tokens and bodies.
		LoggingLevel:         awsapigateway.MethodLoggingLevel_ERROR,
		DataTraceEnabled:     jsii.Bool(false),
		TracingEnabled:       jsii.Bool(true),
		ThrottlingRateLimit:  jsii.Number(s.settings.ThrottleRate),
		ThrottlingBurstLimit: jsii.Number(s.settings.ThrottleBurst),
		MethodOptions:        s.docsThrottle(),
	}
}

// accessLog is the format of an access log line: API Gateway fills in the variables. The operation
// is named by method and route, since the gateway knows no other name when it writes the line. The
// query is left out; the functions' own lines, found by the request id, hold the problem's code.
func accessLog() string {
	line, err := json.Marshal(map[string]string{
		"time":           "$context.requestTimeEpoch",
		"requestId":      "$context.requestId",
		"traceId":        "$context.xrayTraceId",
		"issuer":         "$context.authorizer.issuer",
		"userId":         "$context.authorizer.userId",
		"organizationId": "$context.authorizer.organizationId",
		"sourceIp":       "$context.identity.sourceIp",
		"operation":      "$context.httpMethod $context.resourcePath",
		"path":           "$context.path",
		"status":         "$context.status",
		"latency":        "$context.responseLatency",
		"integration":    "$context.integration.latency",
		"authorizer":     "$context.authorizer.latency",
		"bytes":          "$context.responseLength",
		"error":          "$context.error.responseType",
		"integrationErr": "$context.integration.error",
	})
	if err != nil {
		panic(err) // a map of strings always marshals
	}
	return string(line)
}

// addExecutionLogs declares the log group that API Gateway would otherwise make by itself when it
// first logs an error, to be kept for ever.
func (s *service) addExecutionLogs() {
	group := awslogs.NewLogGroup(s.stack, jsii.String("execution-logs"), &awslogs.LogGroupProps{
		LogGroupName: awscdk.Fn_Join(jsii.String(""), &[]*string{
			jsii.String("API-Gateway-Execution-Logs_"), s.api.RestApiId(), jsii.String("/" + string(s.settings.Stage)),
		}),
		Retention: retentionDays[s.settings.LogRetentionDays], RemovalPolicy: s.removal(),
	})
	s.api.DeploymentStage().Node().AddDependency(group)
}

// addGatewayResponses makes the answers that the gateway gives without a function look like the
// functions' own.
func (s *service) addGatewayResponses() {
	for _, g := range problem.GatewayResponses {
		body, headers := s.answer(g)
		options := &awsapigateway.GatewayResponseOptions{
			Type:            awsapigateway.ResponseType_Of(jsii.String(g.Type)),
			ResponseHeaders: &headers,
			Templates:       &map[string]*string{"application/json": body},
		}
		if g.Status != 0 {
			options.StatusCode = jsii.String(strconv.Itoa(g.Status))
		}
		s.api.AddGatewayResponse(jsii.String("answer-"+g.Type), options)
	}
}

// answer is the body and the headers of an answer that the gateway gives by itself, as its templates have
// them.
func (s *service) answer(g problem.GatewayResponse) (body *string, headers map[string]*string) {
	e := problem.New(g.Code, "%s", g.Detail).After(g.RetryAfter)
	document := e.Document("$context.path", "$context.requestId")
	if g.Status != 0 {
		document.Status = g.Status
	}
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // a document of strings and numbers always marshals
	}
	headers = map[string]*string{}
	for name := range e.Header() {
		value := "'" + e.Header().Get(name) + "'"
		headers[strings.Replace(name, "Www-", "WWW-", 1)] = &value
	}
	s.allowOrigin(headers)
	return jsii.String(string(text)), headers
}

// A mock is an answer that the gateway gives to a method without asking a function.
type mock struct {
	status  int
	headers map[string]*string
	body    *string // a template
	// dynamic are headers that the body's template sets.
	dynamic     []string
	passthrough awsapigateway.PassthroughBehavior
	// reason is why anyone may ask.
	reason string
}

// addMock answers a method of a path so.
func (s *service) addMock(path, method string, m mock) {
	headers, declared := map[string]*string{}, map[string]*bool{}
	for name, value := range m.headers {
		headers["method.response.header."+name], declared["method.response.header."+name] = value, jsii.Bool(true)
	}
	for _, name := range m.dynamic {
		declared["method.response.header."+name] = jsii.Bool(true)
	}
	status := jsii.String(strconv.Itoa(m.status))
	added := s.api.Root().ResourceForPath(&path).AddMethod(&method,
		awsapigateway.NewMockIntegration(&awsapigateway.IntegrationOptions{
			// Every media type counts as binary, and a template is read as text only if told so.
			ContentHandling:     awsapigateway.ContentHandling_CONVERT_TO_TEXT,
			PassthroughBehavior: m.passthrough,
			RequestTemplates:    &map[string]*string{"application/json": jsii.String(`{"statusCode": ` + *status + `}`)},
			IntegrationResponses: &[]*awsapigateway.IntegrationResponse{{
				StatusCode: status, ResponseParameters: &headers,
				ResponseTemplates: &map[string]*string{"application/json": m.body},
			}},
		}),
		&awsapigateway.MethodOptions{
			AuthorizationType: awsapigateway.AuthorizationType_NONE,
			MethodResponses:   &[]*awsapigateway.MethodResponse{{StatusCode: status, ResponseParameters: &declared}},
		})
	excuse(added, "AwsSolutions-APIG4", m.reason)
}
