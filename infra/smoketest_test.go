package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// releaseOf is the id of the custom resource that tests a release.
func releaseOf(t *testing.T, template stage) string {
	t.Helper()
	for id := range template.of("Custom::SmokeTest") {
		if strings.HasPrefix(id, "smoketestrelease") {
			return id
		}
	}
	t.Fatal("no release is tried")
	return ""
}

// TestSmokeTest_NoCallReachesAVersion_BeforeItHasPassed: routes, aliases and schedules use versions that the smoke test has
// returned, or wait for it. The API's deployment, which moves routes, comes after the API.
func TestSmokeTest_NoCallReachesAVersion_BeforeItHasPassed(t *testing.T) {
	for name, template := range map[string]stage{"prod": prod(), "full": full(), "other": other()} {
		release := releaseOf(t, template)
		for route, m := range template.api(t).routes() {
			if mocked(m) {
				continue
			}
			uri := value(m, "x-amazon-apigateway-integration", "uri")
			if live := template.Resources[functionOf(uri)]; live.Type == "AWS::Lambda::Alias" {
				expect.That(t, slices.Contains(live.DependsOn, release),
					"%s: %s moves to a version before it was tried", name, route)
			} else if !versionOfRelease(uri) {
				t.Errorf("%s: %s calls %s", name, route, text(uri))
			}
		}
		for id, live := range template.of("AWS::Lambda::Alias") {
			version := text(live.Properties["FunctionVersion"])
			own := strings.Contains(version, "${smoketestbell") || strings.Contains(version, "${smoketestdoor")
			if !slices.Contains(live.DependsOn, release) && !own {
				t.Errorf("%s: %s moves before the smoke test: %v", name, id, live)
			}
		}
		tried := map[string]bool{}
		for id, r := range template.of("Custom::SmokeTest") {
			for _, function := range append(list(r.Properties["Publish"]), list(r.Properties["Versions"])...) {
				function = strings.Trim(function, "${}")
				if version := template.Resources[function]; version.Type == "AWS::Lambda::Version" {
					function = strings.Trim(text(version.Properties["FunctionName"]), "${}")
				}
				tried[text(template.Resources[function].Properties["FunctionName"])] = true
			}
			expect.Equal(t, r.DeletionPolicy+" "+r.UpdateReplacePolicy, "Retain Retain", "%s: when %s leaves the stack, do", name, id)
			has(t, r.Properties, map[string]any{"Prefix": "wavegate-prod-", "ServiceTimeout": "360"}, "%s: %s", name, id)
		}
		for _, function := range table.Functions() {
			deployed := !slices.Contains([]string{operations.Docs, operations.Console, operations.Bell, operations.Door}, function) || name == "full" || name == "other" && function == operations.Bell
			expect.Equal(t, tried["wavegate-prod-"+function], deployed, "%s: %s is tried", name, function)
		}
	}
}

// TestSmokeTest_AReleaseWithAnotherFunction_IsAnotherResource: CloudFormation creates it, and never updates it.
func TestSmokeTest_AReleaseWithAnotherFunction_IsAnotherResource(t *testing.T) {
	again, restored := synthesise(prodContext()), synthesise(prodContext("restoredTables", `{"reports":"wavegate-prod-reports-2"}`))
	first := releaseOf(t, prod())
	expect.Equal(t, releaseOf(t, again), first, "the same release is tried as %s and as", first)
	expect.That(t, releaseOf(t, restored) != first, "functions with another table are not tried")
	deployments := func(s stage) []string { return sorted(s.of("AWS::ApiGateway::Deployment")) }
	if !slices.Equal(deployments(again), deployments(prod())) || slices.Equal(deployments(restored), deployments(prod())) {
		t.Errorf("routes move by %v, again by %v, and with other functions by %v", deployments(prod()), deployments(again), deployments(restored))
	}
	// The versions of the functions that move by degrees use restored tables, too.
	for id := range restored.of("AWS::Lambda::Version") {
		_, same := prod().of("AWS::Lambda::Version")[id]
		expect.That(t, !same, "a restored table does not reach %s", id)
	}
}

// TestSmokeTest_MayPublishAndCall_TheStagesFunctionsAlone.
func TestSmokeTest_MayPublishAndCall_TheStagesFunctionsAlone(t *testing.T) {
	template := prod()
	f := template.function(t, smokeTest)
	rights := slices.DeleteFunc(allowances(template.role(f)), func(right string) bool {
		return strings.HasPrefix(right, "Allow logs:") || strings.HasPrefix(right, "Allow xray:")
	})
	const all = "arn:aws:lambda:eu-central-1:111122223333:function:wavegate-prod-*"
	expect.Equal(t, rights, []string{"Allow lambda:InvokeFunction " + all, "Allow lambda:PublishVersion " + all}, "it may")
	has(t, f.Properties, map[string]any{"Timeout": 300.0}, "it")
}

// TestSmokeTest_WithoutVersions_IsNot: with traffic=direct, calls go to the functions themselves.
func TestSmokeTest_WithoutVersions_IsNot(t *testing.T) {
	b, err := json.Marshal(dev().stacks)
	expect.That(t, err == nil && !strings.Contains(string(b), "smoketest") && !strings.Contains(string(b), smokeTest),
		"dev has a smoke test: %v", err)
}
