package main

import (
	"maps"
	"path/filepath"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/telemetry"
)

// A functionSpec is what one function differs in from the others.
type functionSpec struct {
	name        string // also its folder in functions and in dist
	description string
	memoryMB    int
	timeout     time.Duration
	grants      []operations.Grant
	environment map[string]*string
	// sampled functions are called so often that Lambda's own two lines a call would cost more than
	// the calls: of those only warnings are kept.
	sampled bool
}

// preTokenGeneration is the trigger of the stack's own user pool.
const preTokenGeneration = "pre-token-generation"

// addOperations makes one function for each row of the table of operations.
func (s *service) addOperations() {
	for _, op := range operations.Table {
		s.addFunction(functionSpec{
			name: op.ID, description: op.Summary, memoryMB: op.MemoryMB, timeout: op.Timeout,
			grants: op.Grants, environment: s.operationEnvironment(op), sampled: op.Sampled,
		})
	}
}

// addAuthorizer makes the function that turns a token into a principal.
func (s *service) addAuthorizer(issuers *string) {
	s.addHelper(operations.Authorizer, "Verify an access token", map[string]*string{token.Setting: issuers})
}

// addHelper makes a function that is no operation.
func (s *service) addHelper(name, description string, environment map[string]*string) awslambda.Function {
	return s.addFunction(functionSpec{
		name: name, description: description, environment: environment,
		memoryMB: operations.HelperMemoryMB, timeout: operations.HelperTimeout,
	})
}

// addFunction makes a function with its log group and its role.
func (s *service) addFunction(spec functionSpec) awslambda.Function {
	logs := awslogs.NewLogGroup(s.stack, jsii.String(spec.name+"-logs"), &awslogs.LogGroupProps{
		Retention: retentionDays[s.settings.LogRetentionDays], RemovalPolicy: s.removal(),
	})
	env := map[string]*string{telemetry.Stage: jsii.String(string(s.settings.Stage))}
	maps.Copy(env, spec.environment)
	for _, g := range spec.grants {
		env[g.Table.EnvName()] = s.tables[g.Table].TableName()
	}
	if len(spec.grants) > 0 && s.settings.Local() {
		env["AWS_ENDPOINT_URL_DYNAMODB"] = jsii.String(s.settings.StoreEndpoint)
	}
	lambdaLines := awslambda.SystemLogLevel_INFO
	if spec.sampled {
		lambdaLines = awslambda.SystemLogLevel_WARN
	}
	f := awslambda.NewFunction(s.stack, jsii.String(spec.name), &awslambda.FunctionProps{
		Description:  jsii.String(spec.description),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture: s.architecture(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Join(s.settings.Functions, spec.name)), nil),
		MemorySize:   jsii.Number(spec.memoryMB),
		Timeout:      awscdk.Duration_Millis(jsii.Number(spec.timeout.Milliseconds())),
		Environment:  &env,
		Tracing:      awslambda.Tracing_ACTIVE,
		LogGroup:     logs,
		// The functions write JSON themselves; this makes Lambda's own lines JSON too.
		LoggingFormat:         awslambda.LoggingFormat_JSON,
		ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO,
		SystemLogLevelV2:      lambdaLines,
		// Without this the CDK would add to the role what it deems fit.
		Role: s.role(spec, logs).WithoutPolicyUpdates(nil),
	})
	// The role is referred to already; the CDK's explicit dependency says it twice.
	f.Node().DefaultChild().(awslambda.CfnFunction).AddDeletionOverride(jsii.String("DependsOn"))
	s.functions[spec.name], s.logs[spec.name], s.memory[spec.name] = f, logs, float64(spec.memoryMB)
	return f
}

func (s *service) architecture() awslambda.Architecture {
	if s.settings.Architecture == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// role gives a function the rights of its row and no others.
func (s *service) role(spec functionSpec, logs awslogs.LogGroup) awsiam.Role {
	statements := []awsiam.PolicyStatement{
		allow(texts("logs:CreateLogStream", "logs:PutLogEvents"), logs.LogGroupArn()),
		// X-Ray knows no resources: nothing narrower can be granted.
		allow(texts("xray:PutTraceSegments", "xray:PutTelemetryRecords"), jsii.String("*")),
	}
	for _, g := range spec.grants {
		statements = append(statements, s.statements(g)...)
	}
	role := awsiam.NewRole(s.stack, jsii.String(spec.name+"-role"), &awsiam.RoleProps{
		Description: jsii.String("What the function " + spec.name + " may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"row": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	excuse(role, "AwsSolutions-IAM5", "X-Ray's actions know no resources; AWS documents * as the only value.", "Resource::*")
	return role
}

// statements turns one grant into IAM: queries go to the named indexes and, unless the grant says
// otherwise, to the table; everything else goes to the table.
func (s *service) statements(g operations.Grant) []awsiam.PolicyStatement {
	table := s.tables[g.Table].TableArn()
	var indexes []*string
	for _, name := range g.Indexes {
		indexes = append(indexes, awscdk.Fn_Join(jsii.String("/"), &[]*string{table, jsii.String("index"), jsii.String(name)}))
	}
	var onTable []string
	for _, a := range g.Actions {
		if a == dynamo.Query && g.OnlyIndexes {
			continue
		}
		onTable = append(onTable, "dynamodb:"+string(a))
	}
	var list []awsiam.PolicyStatement
	if len(onTable) > 0 {
		list = append(list, allow(texts(onTable...), table))
	}
	if len(indexes) > 0 {
		list = append(list, allow(texts("dynamodb:"+string(dynamo.Query)), indexes...))
	}
	return list
}

func allow(actions *[]*string, resources ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: actions, Resources: &resources})
}
