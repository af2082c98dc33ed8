package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// policyFunctions is how many functions one policy names. A policy takes 6,144 characters, and a
// function's ARN up to 130.
const policyFunctions = 40

// elsewhere reports whether a function is called by a schedule, or at a URL of its own, instead of by the gateway.
func elsewhere(function string) bool {
	return function == operations.Bell || slices.ContainsFunc(operations.Tasks, func(t operations.Task) bool { return t.ID == function })
}

// addInvoker makes the one role by which the gateway calls the functions and the authorizer, and its
// policies. A permission on each function would take one resource more each, and would come to be after
// the route that needs it.
func (s *service) addInvoker() (awsiam.Role, []awsiam.ManagedPolicy) {
	role := awsiam.NewRole(s.stack, jsii.String("invoker"), &awsiam.RoleProps{
		Description: jsii.String("What the gateway may call"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
	})
	var policies []awsiam.ManagedPolicy
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.functions)), elsewhere)
	for some := range slices.Chunk(names, policyFunctions) {
		var arns []*string
		for _, name := range some {
			arns = append(arns, s.functions[name].FunctionArn())
			// Until a deploy has moved the route, it calls what it called before.
			if live, ok := s.live[name]; ok {
				arns = append(arns, live.FunctionArn())
			}
		}
		policies = append(policies, awsiam.NewManagedPolicy(s.stack, jsii.String(fmt.Sprint("invoker-", len(policies)+1)), &awsiam.ManagedPolicyProps{
			Roles:      &[]awsiam.IRole{role},
			Statements: &[]awsiam.PolicyStatement{allow(texts("lambda:InvokeFunction"), arns...)},
		}))
	}
	return role, policies
}
