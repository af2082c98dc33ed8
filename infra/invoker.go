package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// policyFunctions is how many functions one policy names, each twice. A policy takes 6,144 characters, and a
// function's ARN up to 130.
const policyFunctions = 20

// elsewhere reports whether a function is called by a schedule, by CloudFormation or at a URL of its own, and not by the gateway.
func elsewhere(function string) bool {
	return function == operations.Bell || function == smokeTest || slices.ContainsFunc(operations.Tasks, func(t operations.Task) bool { return t.ID == function })
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
			// Until a deploy has moved the route, it calls the version that it called before.
			arns = append(arns, s.functions[name].FunctionArn(), anyVersion(s.functions[name]))
		}
		policies = append(policies, awsiam.NewManagedPolicy(s.stack, jsii.String(fmt.Sprint("invoker-", len(policies)+1)), &awsiam.ManagedPolicyProps{
			Roles:      &[]awsiam.IRole{role},
			Statements: &[]awsiam.PolicyStatement{allow(texts("lambda:InvokeFunction"), arns...)},
		}))
	}
	for _, policy := range policies {
		excuseVersions(policy)
	}
	return role, policies
}

// anyVersion is the ARN of a function's versions and aliases in a policy.
func anyVersion(f awslambda.IFunction) *string {
	return awscdk.Fn_Join(jsii.String(""), &[]*string{f.FunctionArn(), jsii.String(":*")})
}

// excuseVersions tells cdk-nag of anyVersion.
func excuseVersions(construct constructs.IConstruct) {
	excuseLike(construct, "AwsSolutions-IAM5", "Any version of one function: each release makes another, and the one before is called until the deploy is over.",
		`/^Resource::<[A-Za-z0-9]+\.Arn>:\*$/`)
}
