package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// The setting traffic: how new versions of the functions in byDegrees take over their traffic.
const (
	// canary moves 10 % for five minutes, and then the rest unless an alarm goes off.
	canary = "canary"
	// atOnce moves all traffic immediately, as a rollback needs.
	atOnce = "at-once"
	// direct has no versions and no smoke test: the API calls the functions themselves.
	direct = "direct"
)

// versioned reports whether calls go to versions of functions.
func (p part) versioned() bool { return p.settings.Traffic != direct && !p.settings.Local() }

// alias is the name under which API Gateway calls a function that has versions.
const alias = "live"

// byDegrees are the functions with enough traffic to reveal a fault within minutes: boxes call them. The others are called
// too rarely, so their new versions take over immediately if all pass their smoke test.
var byDegrees = []string{manifest, ddiBase, reported, operations.Authorizer}

// addLive routes calls to versions of functions. Functions in byDegrees get an alias, and a CodeDeploy deployment that
// moves traffic step by step. The smoke test publishes the versions of all others, so no call can reach one that has
// not passed it.
func (s *service) addLive() {
	if !s.versioned() {
		return
	}
	byStep := s.settings.Traffic == canary
	config := awscodedeploy.LambdaDeploymentConfig_ALL_AT_ONCE()
	if byStep {
		config = awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_5MINUTES()
	}
	application := awscodedeploy.NewLambdaApplication(s.stack, jsii.String("application"), &awscodedeploy.LambdaApplicationProps{
		ApplicationName: jsii.String(s.name()),
	})
	versions := map[string]awslambda.Version{}
	for _, id := range byDegrees {
		versions[id] = s.functions[id].CurrentVersion()
	}
	passed := s.tried("release", versions, slices.DeleteFunc(slices.Sorted(maps.Keys(s.functions)), func(id string) bool {
		return s.live[id] != nil || id == smokeTest || slices.Contains(byDegrees, id)
	}))
	var failures awscloudwatch.Alarm
	if byStep {
		failures = s.canaryFailures()
	}
	for _, id := range byDegrees {
		version := versions[id]
		live := awslambda.NewAlias(s.stack, jsii.String(alias+"-"+id), &awslambda.AliasProps{AliasName: jsii.String(alias), Version: version})
		live.Node().AddDependency(passed)
		// CodeDeploy stops a deployment if one of its alarms is on already. In an incident that would stop the rollback, so
		// a deployment that moves all traffic immediately has none. It would be over before an alarm goes off.
		var alarms []interfacesawscloudwatch.IAlarmRef
		if byStep {
			for _, a := range s.canaryAlarms(id, version) {
				alarms = append(alarms, a.make(s.part))
			}
			alarms = append(alarms, failures)
		}
		group := awscodedeploy.NewLambdaDeploymentGroup(s.stack, jsii.String("deployment-"+id), &awscodedeploy.LambdaDeploymentGroupProps{
			Application: application, DeploymentGroupName: jsii.String(s.function(id)), Alias: live, DeploymentConfig: config, Alarms: &alarms,
			AutoRollback: &awscodedeploy.AutoRollbackConfig{
				DeploymentInAlarm: jsii.Bool(byStep), FailedDeployment: jsii.Bool(true), StoppedDeployment: jsii.Bool(true),
			},
		})
		excuse(group, "AwsSolutions-IAM4", "AWS's own policy for moving an alias, which changes with the service.",
			"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited")
		s.live[id] = live.FunctionArn()
	}
}

// canaryAlarms watch the version that takes over. Alarms on Lambda's metrics see only that version. Alarms on the
// authorizer's own metrics see both versions, and the new one has a tenth of the calls.
func (s *service) canaryAlarms(function string, version awslambda.Version) []alarm {
	name := s.function(function)
	fresh := source{"AWS/Lambda", map[string]*string{
		"FunctionName": &name, "Resource": jsii.String(name + ":" + alias), "ExecutedVersion": version.Version(),
	}}
	if function == operations.Authorizer {
		all := source{"AWS/Lambda", map[string]*string{"FunctionName": &name}}
		return []alarm{
			{
				kind: "canary", part: "authorizer-errors", says: "The new version of the authorizer cannot check tokens.",
				metric: s.notTheTokens(fresh), threshold: 5, minutes: 2, of: 3,
			},
			{
				kind: "canary", part: "authorizer-refusals", says: "The authorizer refuses 10 % of the tokens.",
				metric: over("IF(FILL(m0, 0) >= 20, 100 * m0 / m1, 0)", "refused, %",
					s.own().metric("TokenRefusals", sum, ""), all.metric("Invocations", sum, "")),
				threshold: 10, minutes: 2, of: 3,
			},
		}
	}
	return []alarm{{
		kind: "canary", part: function + "-errors", says: "The new version of " + function + " crashes or times out.",
		metric: over("IF(m0 >= 3, 100 * m0 / m1, 0)", "errors, %",
			fresh.metric("Errors", sum, ""), fresh.metric("Invocations", sum, "")),
		threshold: 1, minutes: 2, of: 3,
	}}
}

// canaryFailures sees the failures of all operations and versions. Every deployment that moves traffic by steps stops at it.
func (s *service) canaryFailures() awscloudwatch.Alarm {
	return alarm{
		kind: "canary", part: "failures", says: "Calls fail with 500, 503 or 504 while a new version takes over.",
		metric: s.own().metric("Failures", sum, ""), threshold: 3, minutes: 2, of: 3,
	}.make(s.part)
}

// called is the ARN to which calls of a function go.
func (s *service) called(function string) *string {
	if live, ok := s.live[function]; ok {
		return live
	}
	return s.functions[function].FunctionArn()
}
