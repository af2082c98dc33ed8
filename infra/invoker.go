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
	"wavegate/shared/operations/table"
)

// policyFunctions is how many functions one policy lists, each twice. A policy may have 6,144 characters, and a function's
// ARN up to 130.
const policyFunctions = 20

// elsewhere reports whether a function is called by a schedule, by CloudFormation or at its own URL, and not by API Gateway.
func elsewhere(function string) bool {
	return function == operations.Bell || function == operations.Door || function == smokeTest || slices.ContainsFunc(table.Tasks, func(t operations.Task) bool { return t.ID == function })
}

// addInvoker makes the one role with which API Gateway calls the functions and the authorizer, and its policies. A
// permission on each function would take one more resource each, and would be made after the route that needs it.
func (s *service) addInvoker() (awsiam.Role, []awsiam.ManagedPolicy) {
	role := awsiam.NewRole(s.stack, jsii.String("invoker"), &awsiam.RoleProps{
		Description: jsii.String("What API Gateway may call"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
	})
	var policies []awsiam.ManagedPolicy
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.functions)), elsewhere)
	for some := range slices.Chunk(names, policyFunctions) {
		var arns []*string
		for _, name := range some {
			// Until a deploy has moved the route, API Gateway calls the previous version.
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

// excuseVersions explains anyVersion to cdk-nag.
func excuseVersions(construct constructs.IConstruct) {
	excuseLike(construct, "AwsSolutions-IAM5", "Any version of one function: each release makes a new one, and the previous one is called until the deploy ends.",
		`/^Resource::<[A-Za-z0-9]+\.Arn>:\*$/`)
}
