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

// A part is one stack while it is put together.
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
	texts     awscdk.CfnMapping // what many methods of the API answer
	login     *Login            // how people log in; nil: that is not known
	bell      bellRef
}

// NewStacks defines the stage as stacks, each with a life of its own: what holds data; the service, which can
// be made again at any time; and what watches it, which calls do not need. They are made and changed one by one, the
// data first. The names of what the data's stack has reach the others by parameters of the account: an export
// could not be changed while another stack reads it. A local run under SAM has data and service in one stack,
// since SAM reads one.
func NewStacks(app constructs.Construct, settings Settings, table []operations.Operation) []awscdk.Stack {
	name := "wavegate-" + string(settings.Stage)
	// The data's stack has the stage's plain name, which is the one that must never be made again.
	data := newPart(app, name, "Wavegate: data and identities", settings)
	held := addData(data)
	// Every stack but the first waits for the one before it.
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
	rest := next(name+"-service", "Wavegate: releases and production methods for factories", "it reads the parameters that the data's stack writes")
	addService(rest, rest.published(), table)
	if settings.Events.On {
		told := next(name+"-events", "Wavegate: who is told of changes", "it reads the stream of the data's stack")
		addEvents(told, told.read(parameterStream))
	}
	if settings.Backup.On {
		addBackup(next(name+"-backup", "Wavegate: backups of the tables", "it reads the parameters that the data's stack writes"))
	}
	seen := next(name+"-watch", "Wavegate: alarms and dashboard", "it watches what the stacks before it make")
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
		// The stacks of a stage that keeps its data are not deleted by one slip.
		TerminationProtection: jsii.Bool(settings.Keeps()),
		Tags:                  &tags,
		// CloudFormation takes a megabyte, white space included.
		SuppressTemplateIndentation: jsii.Bool(true),
		Env:                         &env,
	})}
	excuseAll(p.stack, "AwsSolutions-IAM5", "X-Ray's actions know no resources; AWS documents * as the only value. A test checks that nothing else has it.", "Resource::*")
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
	s.addOperations()
	s.addTasks()
	s.addAuthorizer(s.issuers())
	s.addDocs()
	s.addConsole()
	s.addLive()
	s.addSchedules()
	s.addAPI()
	s.addQueries()
}

// function is the name of a function of the service. It is fixed, so that what watches functions needs no export
// of theirs.
func (p part) function(id string) string { return p.name() + "-" + id }

// name is what the stage is called in names that an operator looks for.
func (p part) name() string { return "wavegate-" + string(p.settings.Stage) }

// removal is what happens to what holds data when it leaves the stack.
func (p part) removal() awscdk.RemovalPolicy {
	if p.settings.Keeps() {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// versionRemoval is what becomes of old versions of functions. One that a rolled-back deploy made goes: Lambda publishes no
// second version of the same code, so the same release could never be deployed again.
func (p part) versionRemoval() awscdk.RemovalPolicy {
	if p.settings.Keeps() {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}

func (p part) output(id, description string, value *string) {
	awscdk.NewCfnOutput(p.stack, &id, &awscdk.CfnOutputProps{Description: &description, Value: value})
}

// texts turns strings into what the CDK takes.
func texts[S ~string](values ...S) *[]*string {
	list := make([]*string, len(values))
	for i, v := range values {
		list[i] = jsii.String(string(v))
	}
	return &list
}
