package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// A part is a stack under construction.
type part struct {
	stack    awscdk.Stack
	settings Settings
	key      awskms.IKey // nil: AWS's own keys
	// tablesKey lets a function use the key through DynamoDB; nil: AWS's own keys.
	tablesKey awsiam.IManagedPolicy
}

// A service is the stack that answers calls: functions, the API, the pool's client.
type service struct {
	part
	rows []operations.Operation // the table of operations
	held held

	functions map[string]awslambda.Function
	live      map[string]*string // the ARN that calls of a function go to, if they do not go to the function itself
	smokeTest awslambda.Function // tries new versions; nil: there are none
	api       awsapigateway.SpecRestApi
	access    awslogs.LogGroup  // the access logs
	texts     awscdk.CfnMapping // answers that many methods of the API share
	login     *Login            // how people sign in; nil: unknown
	bell      bellRef
	doorURL   *string // nil: there is no door
}

// NewStacks defines the deployment as separate stacks: the data stack; the service stack, which can be made again at any
// time; and alarms and dashboard, which calls do not need. They are deployed one after the other, the data first. The
// other stacks read the names of tables and pool from Systems Manager parameters, because an export cannot change while
// another stack reads it. A local run under SAM has data and service in one stack, because SAM reads only one.
func NewStacks(app constructs.Construct, settings Settings, table []operations.Operation) []awscdk.Stack {
	name := "wavegate-" + string(settings.Stage)
	// The data stack, which must never be made again, has the deployment's plain name.
	data := newPart(app, name, "Wavegate: data and identities", settings)
	held := addData(data)
	// Every stack except the first waits for the previous one.
	stacks := []awscdk.Stack{data.stack}
	next := func(name, description, why string) part {
		p := newPart(app, name, description, settings)
		p.stack.AddStackDependency(stacks[len(stacks)-1], &why)
		stacks = append(stacks, p.stack)
		return p
	}
	if settings.Local() {
		addService(data, held, table)
		return stacks
	}
	data.publish(held)
	rest := next(name+"-service", "Wavegate: releases and production methods for factories", "it reads the parameters that the data stack writes")
	addService(rest, rest.published(), table)
	if settings.Events.On {
		told := next(name+"-events", "Wavegate: events for other systems", "it reads the stream of the data stack")
		addEvents(told, told.read(parameterStream))
	}
	if settings.Backup.On {
		addBackup(next(name+"-backup", "Wavegate: backups of the tables", "it reads the parameters that the data stack writes"))
	}
	seen := next(name+"-watch", "Wavegate: alarms and dashboard", "it watches the resources of the other stacks")
	addWatch(seen, seen.publishedNames(), table)
	return stacks
}

func newPart(app constructs.Construct, name, description string, settings Settings) part {
	tags := map[string]*string{tagService: jsii.String("wavegate"), tagStage: jsii.String(string(settings.Stage))}
	for name, value := range settings.Tags {
		tags[name] = jsii.String(value)
	}
	env := awscdk.Environment{}
	if settings.Account != "" {
		env.Account = &settings.Account
	}
	if settings.Region != "" {
		env.Region = &settings.Region
	}
	p := part{settings: settings, stack: awscdk.NewStack(app, &name, &awscdk.StackProps{
		Description: jsii.String(description + " (" + string(settings.Stage) + ")"),
		// A single mistake must not delete the stacks of a deployment that keeps its data.
		TerminationProtection: jsii.Bool(settings.Keeps()),
		Tags:                  &tags,
		// CloudFormation takes a megabyte, white space included.
		SuppressTemplateIndentation: jsii.Bool(true),
		Env:                         &env,
	})}
	excuseAll(p.stack, "AwsSolutions-IAM5", "X-Ray's actions have no resources; AWS documents * as the only value. A test checks that nothing else has it.", "Resource::*")
	if settings.KMSKeyARN != "" {
		p.key = awskms.Key_FromKeyArn(p.stack, jsii.String("key"), &settings.KMSKeyARN)
	}
	if settings.PermissionsBoundary != "" {
		awsiam.PermissionsBoundary_Of(p.stack).Apply(
			awsiam.ManagedPolicy_FromManagedPolicyArn(p.stack, jsii.String("boundary"), &settings.PermissionsBoundary))
	}
	return p
}

// addService makes everything that answers calls.
func addService(p part, held held, table []operations.Operation) {
	s := &service{
		part: p, rows: table, held: held, login: p.settings.Login,
		functions: map[string]awslambda.Function{},
		live:      map[string]*string{},
	}
	s.addTablesKey()
	s.addSmokeTest()
	s.addBell()
	s.addDoor()
	s.addOperations()
	s.addTasks()
	s.addAuthorizer(s.issuers())
	s.addDocs()
	s.addConsole()
	s.addLive()
	s.addSchedules()
	s.addAPI()
	s.addQueries()
	s.addTraceRules()
}

// function is the name of a function of the service. It is fixed, so that alarms need no export from the service stack.
func (p part) function(id string) string { return p.name() + "-" + id }

// name is the prefix of names that operators look for.
func (p part) name() string { return "wavegate-" + string(p.settings.Stage) }

// removal is the policy for a resource with data that is removed from its stack.
func (p part) removal() awscdk.RemovalPolicy {
	if p.settings.Keeps() {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// versionRemoval is the policy for old versions of functions. A rollback deletes the version that its deploy made:
// Lambda does not publish the same code twice, so otherwise the release could never be deployed again.
func (p part) versionRemoval() awscdk.RemovalPolicy {
	if p.settings.Keeps() {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}

func (p part) output(id, description string, value *string) {
	awscdk.NewCfnOutput(p.stack, &id, &awscdk.CfnOutputProps{Description: &description, Value: value})
}

// texts turns strings into the CDK's type.
func texts[S ~string](values ...S) *[]*string {
	list := make([]*string, len(values))
	for i, v := range values {
		list[i] = jsii.String(string(v))
	}
	return &list
}
