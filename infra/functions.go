package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
)

// A functionSpec defines a function.
type functionSpec struct {
	name        string // also its folder in functions and in dist
	description string
	memoryMB    int
	timeout     time.Duration
	grants      []operations.Grant
	tables      []tableRef // of each grant
	environment map[string]*string
	// reserved is its share of the account's concurrent executions; 0: it has no reservation.
	reserved int
	// secret is the ARN of the secret that it reads; nil: none.
	secret *string
	// rights are permissions other than those for its tables and its secret.
	rights []awsiam.PolicyStatement
	// sampled functions are called so often that Lambda's own two log lines for each call would cost more than the calls.
	// Of Lambda's lines, only warnings are kept.
	sampled bool
	// untraced functions are called so often that traces would cost as much as the calls.
	untraced bool
}

// wholeProcessor is the memory, in MB, with which Lambda gives a function a whole processor.
const wholeProcessor = 1769

// preTokenGeneration is the trigger of the stack's own user pool.
const preTokenGeneration = "pre-token-generation"

// addOperations makes one function for each row of the table of operations.
func (s *service) addOperations() {
	for _, op := range s.rows {
		s.add(functionSpec{
			name: op.ID, description: op.Summary, memoryMB: op.MemoryMB, timeout: op.Timeout,
			grants: op.Grants, environment: s.operationEnvironment(op), sampled: op.Sampled,
			reserved: s.settings.Concurrency.of(op.ID, op), secret: s.secretOf(op),
		})
	}
}

// addAuthorizer makes the function that turns a token into a principal.
func (s *service) addAuthorizer(issuers *string) {
	spec := helper(operations.Authorizer, "Verify an access token", map[string]*string{token.Setting: issuers})
	spec.grants = operations.AuthorizerGrants
	if s.settings.ForeignTokens {
		spec.grants = slices.Concat(spec.grants, operations.ForeignGrants)
		spec.environment[string(setting.ForeignTokens)] = jsii.String("true")
	}
	spec.reserved = s.settings.Concurrency.of(operations.Authorizer, operations.Operation{})
	s.add(spec)
}

// helper is a function that is not an operation.
func helper(name, description string, environment map[string]*string) functionSpec {
	return functionSpec{
		name: name, description: description, environment: environment,
		memoryMB: operations.HelperMemoryMB, timeout: operations.HelperTimeout,
	}
}

// add makes a function of the service and registers it.
func (s *service) add(spec functionSpec) awslambda.Function {
	for _, g := range spec.grants {
		spec.tables = append(spec.tables, s.held.tables[g.Table])
	}
	spec.rights = append(spec.rights, s.artifactRights(spec.name)...)
	f := s.addFunction(spec, jsii.String(s.function(spec.name)))
	if len(s.artifactRights(spec.name)) > 0 {
		excuseLike(f.Role(), "AwsSolutions-IAM5", "Any object of the artifacts' bucket: the keys are random.", `/^Resource::arn:.*:s3:::<[A-Za-z0-9]+>\/\*$/`)
	}
	s.functions[spec.name] = f
	return f
}

// addFunction makes a function with its log group and its role. A nil name lets CloudFormation choose one.
func (p part) addFunction(spec functionSpec, name *string) awslambda.Function {
	logs := p.addLogs(spec.name+"-logs", nil)
	env := map[string]*string{telemetry.Stage: jsii.String(string(p.settings.Stage))}
	if spec.memoryMB < wholeProcessor {
		// Lambda shows two processors even to a function that gets less than one processor's time. Go's scheduler and
		// collector would use both; scripts/lab/benchmarks/results/gomaxprocs.md has the cost of that.
		env["GOMAXPROCS"] = jsii.String("1")
	}
	maps.Copy(env, spec.environment)
	for i, g := range spec.grants {
		env[g.Table.EnvName()] = spec.tables[i].name
	}
	if len(spec.grants) > 0 && p.settings.Local() {
		env["AWS_ENDPOINT_URL_DYNAMODB"] = jsii.String(p.settings.StoreEndpoint)
	}
	lambdaLines := awslambda.SystemLogLevel_INFO
	if spec.sampled {
		lambdaLines = awslambda.SystemLogLevel_WARN
	}
	tracing := awslambda.Tracing_ACTIVE
	if spec.untraced {
		tracing = awslambda.Tracing_DISABLED
	}
	code := filepath.Join(p.settings.Functions, spec.name)
	if _, err := os.Stat(code + ".zip"); err == nil {
		code += ".zip" // of a release
	}
	props := &awslambda.FunctionProps{
		FunctionName: name,
		Description:  jsii.String(spec.description),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture: p.architecture(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(&code, nil),
		MemorySize:   jsii.Number(spec.memoryMB),
		Timeout:      awscdk.Duration_Millis(jsii.Number(spec.timeout.Milliseconds())),
		Environment:  &env,
		Tracing:      tracing,
		LogGroup:     logs,
		// The functions write JSON themselves; this makes Lambda's own lines JSON, too.
		LoggingFormat:         awslambda.LoggingFormat_JSON,
		ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO,
		SystemLogLevelV2:      lambdaLines,
		// Otherwise the CDK would add permissions to the role.
		Role: p.role(spec, logs).WithoutPolicyUpdates(nil),
	}
	// A rollback needs the old version.
	props.CurrentVersionOptions = &awslambda.VersionOptions{RemovalPolicy: p.versionRemoval()}
	if spec.reserved > 0 {
		props.ReservedConcurrentExecutions = jsii.Number(spec.reserved)
	}
	f := awslambda.NewFunction(p.stack, jsii.String(spec.name), props)
	// The function already refers to the role, so the CDK's explicit dependency is redundant.
	f.Node().DefaultChild().(awslambda.CfnFunction).AddDeletionOverride(jsii.String("DependsOn"))
	return f
}

// addLogs makes a log group. A nil name lets CloudFormation choose one.
func (p part) addLogs(id string, name *string) awslogs.LogGroup {
	return awslogs.NewLogGroup(p.stack, &id, &awslogs.LogGroupProps{
		LogGroupName: name, Retention: retentionDays[p.settings.LogRetentionDays], RemovalPolicy: p.removal(), EncryptionKey: p.key,
	})
}

func (p part) architecture() awslambda.Architecture {
	if p.settings.Architecture == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// role gives a function the permissions of its row and no others.
func (p part) role(spec functionSpec, logs awslogs.LogGroup) awsiam.Role {
	statements := []awsiam.PolicyStatement{allow(texts("logs:CreateLogStream", "logs:PutLogEvents"), logs.LogGroupArn())}
	if !spec.untraced {
		// X-Ray has no resources, so nothing narrower can be granted.
		statements = append(statements, allow(texts("xray:PutTraceSegments", "xray:PutTelemetryRecords"), jsii.String("*")))
	}
	for i, g := range spec.grants {
		statements = append(statements, rights(g, spec.tables[i].arn)...)
	}
	statements = append(statements, spec.rights...)
	var shared []awsiam.IManagedPolicy
	if len(spec.grants) > 0 && p.tablesKey != nil {
		shared = append(shared, p.tablesKey)
	}
	if spec.secret != nil {
		statements = append(statements, allow(texts("secretsmanager:GetSecretValue"), spec.secret))
		if p.settings.KMSKeyARN != "" {
			statements = append(statements, p.useOfKey("secretsmanager", "kms:Decrypt"))
		}
	}
	return awsiam.NewRole(p.stack, jsii.String(spec.name+"-role"), &awsiam.RoleProps{
		Description:     jsii.String("What the function " + spec.name + " may do"),
		AssumedBy:       awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		ManagedPolicies: &shared,
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"row": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
}

// addTablesKey makes the policy that lets functions use the customer-managed key through DynamoDB. All functions share it,
// because a statement for each would take half a kilobyte of the template.
func (p *part) addTablesKey() {
	if p.settings.KMSKeyARN == "" {
		return
	}
	p.tablesKey = awsiam.NewManagedPolicy(p.stack, jsii.String("tables-key"), &awsiam.ManagedPolicyProps{
		Description: jsii.String("Use of the key through DynamoDB"),
		Statements: &[]awsiam.PolicyStatement{p.useOfKey("dynamodb", "kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo",
			"kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:DescribeKey")},
	})
}

// useOfKey is the permission to use the customer-managed key, but only through one AWS service.
func (p part) useOfKey(through string, actions ...string) awsiam.PolicyStatement {
	statement := allow(texts(actions...), &p.settings.KMSKeyARN)
	via := awscdk.Fn_Join(jsii.String("."), &[]*string{&through, p.stack.Region(), p.stack.UrlSuffix()})
	statement.AddCondition(jsii.String("StringEquals"), &map[string]any{"kms:ViaService": via})
	return statement
}

// rights turns one grant into IAM statements: queries on the listed indexes and, unless the grant excludes it, on the
// table; everything else on the table.
func rights(g operations.Grant, table *string) []awsiam.PolicyStatement {
	var indexes []*string
	for _, name := range g.Indexes {
		indexes = append(indexes, awscdk.Fn_Join(jsii.String("/"), &[]*string{table, jsii.String("index"), jsii.String(name)}))
	}
	var onTable []string
	for _, a := range g.Actions {
		if a == dynamo.Query && g.OnlyIndexes {
			continue
		}
		for _, action := range a.Actions() {
			onTable = append(onTable, "dynamodb:"+string(action))
		}
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
