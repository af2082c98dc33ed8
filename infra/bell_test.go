package main

import (
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

func TestBell_UnlessAskedFor_IsToldToNoBox(t *testing.T) {
	for name, s := range stages() {
		for _, kind := range []string{"AWS::Lambda::Url", "AWS::SecretsManager::Secret"} {
			expect.Equal(t, len(s.of(kind)), 0, "%s: the number of %s is", name, kind)
		}
		for _, id := range []string{"get-manifest", "put-edge"} {
			has(t, environment(s.function(t, id)), map[string]any{"BELL_URL": nil, "BELL_SECRET_ID": nil}, "%s: the environment of %s", name, id)
		}
	}
}

// TestBell_AskedFor_MayReadTwoTablesAndItsSecret_AndIsCappedAndOpen: strangers can call it, so a call must not be able to
// do anything else.
func TestBell_AskedFor_MayReadTwoTablesAndItsSecret_AndIsCappedAndOpen(t *testing.T) {
	template := full().template
	id := template.id(t, "AWS::Lambda::Function", operations.Bell)
	f := template.Resources[id]
	has(t, f.Properties, map[string]any{
		"ReservedConcurrentExecutions": 100.0, "TracingConfig": nil, "LoggingConfig/SystemLogLevel": "WARN",
	}, "the function")
	got := slices.DeleteFunc(allowances(template.role(f)), func(a string) bool { return strings.HasPrefix(a, "Allow logs:") })
	want := []string{
		"Allow dynamodb:GetItem ${" + template.id(t, "AWS::DynamoDB::Table", "table-bells") + ".Arn}",
		"Allow dynamodb:GetItem ${" + template.id(t, "AWS::DynamoDB::Table", "table-channels") + ".Arn}",
		"Allow kms:Decrypt " + testKey,
		"Allow secretsmanager:GetSecretValue ${bellsecret}",
	}
	slices.Sort(got)
	slices.Sort(want)
	expect.Equal(t, got, want, "the function may")
}

// TestURLs_AreThoseOfTheBellAndTheDoor, and nothing else is open to anyone.
func TestURLs_AreThoseOfTheBellAndTheDoor(t *testing.T) {
	template := full().template
	open := map[string]bool{}
	for _, own := range []string{operations.Bell, operations.Door} {
		open["${"+template.id(t, "AWS::Lambda::Function", own)+".Arn}"] = true
		open["${"+template.id(t, "AWS::Lambda::Alias", alias+"-"+own)+"}"] = true
	}
	expect.Equal(t, len(template.of("AWS::Lambda::Url")), 2, "the number of URLs is")
	for id, u := range template.of("AWS::Lambda::Url") {
		has(t, u.Properties, map[string]any{"AuthType": "NONE", "Qualifier": alias}, "the URL %s", id)
		if !open[text(u.Properties["TargetFunctionArn"])] {
			t.Errorf("%s is the URL of %v", id, u.Properties["TargetFunctionArn"])
		}
	}
	for id, p := range template.of("AWS::Lambda::Permission") {
		if p.Properties["Principal"] == "*" && !open[text(p.Properties["FunctionName"])] {
			t.Errorf("%s lets anyone call %v", id, p.Properties["FunctionName"])
		}
	}
}

// TestBell_BoxesAreToldItsURL_AndChangesOfBoxesRing: only the functions that need URL or secret have it.
func TestBell_BoxesAreToldItsURL_AndChangesOfBoxesRing(t *testing.T) {
	template := full().template
	for _, op := range table.All {
		env := environment(template.function(t, op.ID))
		var url, secret bool
		for _, name := range op.Settings {
			url, secret = url || name == "BELL_URL", secret || name == "BELL_SECRET_ID"
		}
		if got := text(value(env, "BELL_URL")); url != strings.HasPrefix(got, "${livegetbellFunctionUrl") {
			t.Errorf("%s has the URL %s: %v", op.ID, got, url)
		}
		if got := text(value(env, "BELL_SECRET_ID")); secret != (got == "${bellsecret}") || secret && op.ID != "get-manifest" {
			t.Errorf("%s has the secret as %s: %v", op.ID, got, secret)
		}
	}
	given := other()
	env := environment(given.function(t, "get-manifest"))
	if value(env, "BELL_URL") != "https://bell.example.com" || given.function(t, operations.Bell).Properties["ReservedConcurrentExecutions"] != 300.0 {
		t.Errorf("with a URL in front and a share of its own: %v", env)
	}
}
