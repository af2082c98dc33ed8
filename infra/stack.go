package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
)

// A service is the stack while it is put together: what the parts refer to of each other.
type service struct {
	stack    awscdk.Stack
	settings Settings

	tables    map[dynamo.TableID]awsdynamodb.Table
	functions map[string]awslambda.Function
	logs      map[string]awslogs.LogGroup
	memory    map[string]float64 // of a function, in MB
	api       awsapigateway.RestApi
	access    awslogs.LogGroup // the access logs
}

// NewStack defines the whole service as one stack.
func NewStack(app constructs.Construct, settings Settings) awscdk.Stack {
	name := "wavegate-" + string(settings.Stage)
	s := &service{
		stack: awscdk.NewStack(app, &name, &awscdk.StackProps{
			Description: jsii.String("Wavegate: releases and production methods for factories (" + string(settings.Stage) + ")"),
			// The stack of a stage that keeps its data is not deleted by one slip.
			TerminationProtection: jsii.Bool(settings.Keeps()),
			Tags:                  &map[string]*string{"service": jsii.String("wavegate"), "stage": jsii.String(string(settings.Stage))},
		}),
		settings:  settings,
		tables:    map[dynamo.TableID]awsdynamodb.Table{},
		functions: map[string]awslambda.Function{},
		logs:      map[string]awslogs.LogGroup{},
		memory:    map[string]float64{},
	}
	s.addTables()
	issuers := s.addIdentity()
	s.addOperations()
	s.addTasks()
	s.addAuthorizer(issuers)
	s.addAPI()
	s.addDashboard(s.addAlarms())
	return s.stack
}

// removal is what happens to what holds data when it leaves the stack.
func (s *service) removal() awscdk.RemovalPolicy {
	if s.settings.Keeps() {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

func (s *service) output(id, description string, value *string) {
	awscdk.NewCfnOutput(s.stack, &id, &awscdk.CfnOutputProps{Description: &description, Value: value})
}

// texts turns strings into what the CDK takes.
func texts[S ~string](values ...S) *[]*string {
	list := make([]*string, len(values))
	for i, v := range values {
		list[i] = jsii.String(string(v))
	}
	return &list
}
