package main

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// addAPI makes the REST API from its body, and the API Gateway stage that serves it. An HTTP API would cost a third for each
// call. But only a REST API lets us write API Gateway's own answers, with a code and a Retry-After, and supports a web ACL
// and X-Ray.
func (s *service) addAPI() {
	role, policies := s.addInvoker()
	s.access = s.addLogs("access-logs", nil)
	s.addThrottledCount()
	s.api = awsapigateway.NewSpecRestApi(s.stack, jsii.String("api"), &awsapigateway.SpecRestApiProps{
		RestApiName:               jsii.String(s.name()),
		ApiDefinition:             awsapigateway.ApiDefinition_FromInline(s.body(role)),
		EndpointTypes:             &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		DisableExecuteApiEndpoint: jsii.Bool(s.settings.Domain.Name != ""),
		// API Gateway writes logs with one role per region and account. Other APIs of the account may come to need it,
		// so it stays when the stack is deleted.
		CloudWatchRole:              jsii.Bool(true),
		CloudWatchRoleRemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		DeployOptions:               s.stageOptions(),
	})
	// The CDK's own output of the URL ignores the domain. Use ApiUrl instead.
	s.api.Node().TryRemoveChild(jsii.String("Endpoint"))
	// A route goes live with its deployment. The permission to invoke its function must exist before.
	for _, policy := range policies {
		s.api.LatestDeployment().Node().AddDependency(policy)
	}
	s.addExecutionLogs()
	s.addDomain()
	s.addWebACL()
	excuse(s.api, "AwsSolutions-APIG2", "The functions check every request themselves: they report all faults together and in the service's own form, which API Gateway's validation cannot.")
	excuse(s.api, "AwsSolutions-IAM4", "AWS's own policy for the role with which API Gateway writes the account's logs.",
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs")
	s.output("ApiUrl", "The base URL: append an operation's path, which begins with a slash", s.baseURL())
	if s.settings.Docs {
		s.output("DocsUrl", "The contract for people; openapi.yaml is next to it",
			awscdk.Fn_Join(jsii.String(""), &[]*string{s.baseURL(), jsii.String("/docs")}))
	}
	if s.settings.Console != "" {
		s.output("ConsoleUrl", "The operator's page", awscdk.Fn_Join(jsii.String(""), &[]*string{s.baseURL(), jsii.String(operations.ConsolePath)}))
	}
	s.output("StageArn", "The API's stage in API Gateway, for a web ACL", s.api.DeploymentStage().StageArn())
}

// addWebACL puts the web ACL of the settings in front of the API.
func (s *service) addWebACL() {
	if s.settings.WebACLARN == "" {
		excuse(s.api, "AwsSolutions-APIG3", "No web ACL is set (webAclArn). Without one, only API Gateway's throttles bound calls without a valid token: "+
			"each method has one, and the authorizer checks every token that is not cached.")
		return
	}
	awswafv2.NewCfnWebACLAssociation(s.stack, jsii.String("web-acl"), &awswafv2.CfnWebACLAssociationProps{
		WebAclArn: &s.settings.WebACLARN, ResourceArn: s.api.DeploymentStage().StageArn(),
	})
}

func (s *service) stageOptions() *awsapigateway.StageOptions {
	return &awsapigateway.StageOptions{
		StageName:            jsii.String(string(s.settings.Stage)),
		AccessLogDestination: awsapigateway.NewLogGroupLogDestination(s.access),
		AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog())),
		// Errors only, and never the data of a call: that would log tokens and bodies.
		LoggingLevel:         awsapigateway.MethodLoggingLevel_ERROR,
		DataTraceEnabled:     jsii.Bool(false),
		TracingEnabled:       jsii.Bool(true),
		ThrottlingRateLimit:  jsii.Number(s.settings.Throttles.Method.Rate),
		ThrottlingBurstLimit: jsii.Number(s.settings.Throttles.Method.Burst),
		MethodOptions:        s.methodThrottles(),
	}
}

// accessLog is the format of an access log line: API Gateway fills in the variables. An operation is named by method and
// route, because API Gateway has no other name for it. The line omits the query. The problem's code is in the function's
// own lines, which have the same request id.
func accessLog() string {
	line, err := json.Marshal(map[string]string{
		"time":           "$context.requestTimeEpoch",
		"requestId":      "$context.requestId",
		"extendedId":     "$context.extendedRequestId",
		"traceId":        "$context.xrayTraceId",
		"issuer":         "$context.authorizer.issuer",
		"userId":         "$context.authorizer.userId",
		"organizationId": "$context.authorizer.organizationId",
		"sourceIp":       "$context.identity.sourceIp",
		"tls":            "$context.tlsVersion",
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

// addExecutionLogs declares the log group that API Gateway would otherwise make when it first logs an error, and keep
// forever.
func (s *service) addExecutionLogs() {
	group := s.addLogs("execution-logs", awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("API-Gateway-Execution-Logs_"), s.api.RestApiId(), jsii.String("/" + string(s.settings.Stage)),
	}))
	s.api.DeploymentStage().Node().AddDependency(group)
}
