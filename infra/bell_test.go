package main

import (
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
)

func TestBell_UnlessAskedFor_IsInNoStack(t *testing.T) {
	for name, s := range stages() {
		for id, r := range s.Resources {
			if strings.HasPrefix(id, "getbell") || r.Type == "AWS::Lambda::Url" || r.Type == "AWS::SecretsManager::Secret" {
				t.Errorf("%s has %s", name, id)
			}
		}
		for _, id := range []string{"get-manifest", "put-edge"} {
			env := value(s.Resources[s.id(t, "AWS::Lambda::Function", id)].Properties, "Environment", "Variables")
			if value(env, "BELL_URL") != nil || value(env, "BELL_SECRET_ID") != nil {
				t.Errorf("%s: %s has %v", name, id, env)
			}
		}
	}
}

// TestBell_AskedFor_MayReadTwoTablesAndItsSecret_AndIsCappedAndOpen: strangers can call it, so a call must not be able to
// do anything else.
func TestBell_AskedFor_MayReadTwoTablesAndItsSecret_AndIsCappedAndOpen(t *testing.T) {
	template := full().template
	id := template.id(t, "AWS::Lambda::Function", operations.Bell)
	f := template.Resources[id].Properties
	if f["ReservedConcurrentExecutions"] != 100.0 || value(f, "TracingConfig") != nil || value(f, "LoggingConfig", "SystemLogLevel") != "WARN" {
		t.Errorf("the function is %v", f)
	}
	role := template.Resources[strings.TrimSuffix(strings.Trim(text(f["Role"]), "${}"), ".Arn")]
	var got []string
	for _, a := range allowances(role) {
		if !strings.HasPrefix(a, "Allow logs:") {
			got = append(got, a)
		}
	}
	want := []string{
		"Allow dynamodb:GetItem ${" + template.id(t, "AWS::DynamoDB::Table", "table-bells") + ".Arn}",
		"Allow dynamodb:GetItem ${" + template.id(t, "AWS::DynamoDB::Table", "table-channels") + ".Arn}",
		"Allow kms:Decrypt " + testKey,
		"Allow secretsmanager:GetSecretValue ${bellsecret}",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the function may %q, want %q", got, want)
	}
	if n := len(template.of("AWS::Lambda::Url")); n != 1 {
		t.Errorf("%d functions have a URL", n)
	}
	for _, u := range template.of("AWS::Lambda::Url") {
		if u.Properties["AuthType"] != "NONE" || text(u.Properties["TargetFunctionArn"]) != "${"+id+".Arn}" || u.Properties["Qualifier"] != alias {
			t.Errorf("the URL is %v", u.Properties)
		}
	}
	live := template.id(t, "AWS::Lambda::Alias", "live-get-bell")
	for pid, p := range template.of("AWS::Lambda::Permission") {
		if p.Properties["Principal"] == "*" && text(p.Properties["FunctionName"]) != "${"+live+"}" {
			t.Errorf("%s lets anyone call %v", pid, p.Properties["FunctionName"])
		}
	}
}

// TestBell_BoxesAreToldItsURL_AndChangesOfBoxesRing: only the functions that need URL or secret have it.
func TestBell_BoxesAreToldItsURL_AndChangesOfBoxesRing(t *testing.T) {
	template := full().template
	for _, op := range table.All {
		env := value(template.Resources[template.id(t, "AWS::Lambda::Function", op.ID)].Properties, "Environment", "Variables")
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
	env := value(given.Resources[given.id(t, "AWS::Lambda::Function", "get-manifest")].Properties, "Environment", "Variables")
	if value(env, "BELL_URL") != "https://bell.example.com" || given.Resources[given.id(t, "AWS::Lambda::Function", operations.Bell)].Properties["ReservedConcurrentExecutions"] != 300.0 {
		t.Errorf("with a URL in front and a share of its own: %v", env)
	}
}
