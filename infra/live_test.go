package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// TestLive_PollsAndTokens_GoToAnAlias_ThatMovesByDegrees: 10 % for five minutes, and back if an alarm goes off.
func TestLive_PollsAndTokens_GoToAnAlias_ThatMovesByDegrees(t *testing.T) {
	template := prod()
	api := template.api(t)
	authorizer := value(map[string]any(api), "components", "securitySchemes", "token", "x-amazon-apigateway-authorizer", "authorizerUri")
	called := map[string]any{operations.Authorizer: authorizer}
	for _, m := range api.routes() {
		if id := text(m["operationId"]); id != "" && slices.Contains(byDegrees, id) {
			called[id] = value(m, "x-amazon-apigateway-integration", "uri")
		}
	}
	if n := len(template.of("AWS::Lambda::Alias")); n != len(byDegrees) || len(called) != len(byDegrees) {
		t.Errorf("there are %d aliases, of which %d are called", n, len(called))
	}
	for name, uri := range called {
		id := functionOf(uri)
		live := template.Resources[id]
		if live.Type != "AWS::Lambda::Alias" || text(live.Properties["FunctionName"]) != "${"+template.id(t, "AWS::Lambda::Function", name)+"}" || live.Properties["Name"] != "live" {
			t.Fatalf("%s is called as %s, %v", name, id, live)
		}
		group := template.Resources[template.id(t, "AWS::CodeDeploy::DeploymentGroup", "deployment-"+name)].Properties
		if group["DeploymentConfigName"] != "CodeDeployDefault.LambdaCanary10Percent5Minutes" || value(group, "AutoRollbackConfiguration", "Enabled") != true {
			t.Errorf("%s moves by %v", name, group)
		}
		events := strings.Join(list(value(group, "AutoRollbackConfiguration", "Events")), " ")
		for _, event := range []string{"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM", "DEPLOYMENT_STOP_ON_REQUEST"} {
			expect.That(t, strings.Contains(events, event), "%s does not go back on %s", name, event)
		}
		alarms, _ := value(group, "AlarmConfiguration", "Alarms").([]any)
		want := 2 // its own, and the failures of all
		if name == operations.Authorizer {
			want++
		}
		expect.That(t, len(alarms) == want && value(group, "AlarmConfiguration", "Enabled") == true,
			"%s is byDegrees by %v", name, alarms)
		for _, a := range alarms {
			alarm := template.Resources[strings.Trim(text(value(a, "Name")), "${}")]
			if alarm.Type != "AWS::CloudWatch::Alarm" || kindOf(t, alarm) != "canary" || alarm.Properties["DatapointsToAlarm"] != 2.0 || alarm.Properties["EvaluationPeriods"] != 3.0 {
				t.Errorf("%s is byDegrees by %v", name, alarm)
			}
		}
	}
}

// TestLive_TheAlarmsOnErrors_SeeTheNewVersionAlone: otherwise the old version's calls would hide them.
func TestLive_TheAlarmsOnErrors_SeeTheNewVersionAlone(t *testing.T) {
	template := prod()
	for _, part := range []string{"get-manifest-errors", "get-ddi-base-errors", "put-update-report-errors", "authorizer-errors"} {
		alarm := template.Resources[template.id(t, "AWS::CloudWatch::Alarm", "alarm-canary-"+part)]
		got := metricsOf(alarm)
		expect.That(t, strings.Count(got, "ExecutedVersion") == 2, "%s looks at %s", part, got)
	}
}

// TestLive_OldVersions_StayInProd: a rollback needs them. The versions of a failed deploy are deleted, so that it can be
// repeated. A function that does not move by degrees has none in the template.
func TestLive_OldVersions_StayInProd(t *testing.T) {
	versions := prod().of("AWS::Lambda::Version")
	for id, v := range versions {
		expect.That(t, v.DeletionPolicy == "RetainExceptOnCreate" && v.UpdateReplacePolicy == "Retain",
			"%s is %s", id, v.DeletionPolicy)
	}
	expect.Equal(t, len(versions), len(byDegrees), "the number of versions is")
}

// TestLive_TrafficOfTheSettings: a rollback moves all traffic immediately, and dev has no versions.
func TestLive_TrafficOfTheSettings(t *testing.T) {
	n := len(dev().of("AWS::Lambda::Alias")) + len(dev().of("AWS::CodeDeploy::DeploymentGroup"))
	expect.That(t, n == 0, "dev has %d aliases and deployments", n)
	b := expect.Value(json.Marshal(other().of("AWS::CodeDeploy::DeploymentGroup")))(t)
	expect.Equal(t, strings.Count(string(b), "CodeDeployDefault.LambdaAllAtOnce"), len(byDegrees), "the number of deployments at once is")
	if strings.Count(string(b), `"AlarmConfiguration":{"Enabled":false}`) != len(byDegrees) || strings.Contains(string(b), "DEPLOYMENT_STOP_ON_ALARM") {
		t.Errorf("an alarm that is on already stops a rollback: %s", b)
	}
}
