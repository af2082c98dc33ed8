package main

import (
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/door"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

func TestDoor_UnlessAskedFor_IsToldToNoBox(t *testing.T) {
	for name, s := range stages() {
		for _, id := range []string{manifest, ddiBase} {
			has(t, environment(s.function(t, id)), map[string]any{"DOOR_URL": nil}, "%s: the environment of %s", name, id)
		}
		for id := range s.of("AWS::Lambda::Function") {
			expect.That(t, !strings.HasPrefix(id, operations.Door), "%s has %s", name, id)
		}
	}
}

// TestDoor_AskedFor_MayDoWhatItsOperationsMay_AndIsCapped, except what only a gateway's token needs, and what the authorizer may: tokens
// of an earlier server are guessed at both.
func TestDoor_AskedFor_MayDoWhatItsOperationsMay_AndIsCapped(t *testing.T) {
	template := full().template
	f := template.function(t, operations.Door)
	has(t, f.Properties, map[string]any{
		"ReservedConcurrentExecutions": 100.0, "TracingConfig": nil, "LoggingConfig/SystemLogLevel": "WARN", "Timeout": 10.0,
	}, "the function")
	theirs := map[string]bool{}
	behind := []string{operations.Authorizer}
	for _, op := range door.Takes {
		behind = append(behind, op.ID)
	}
	for _, id := range behind {
		for _, a := range allowances(template.role(template.function(t, id))) {
			theirs[a] = true
		}
	}
	tables := map[string]bool{}
	for _, a := range allowances(template.role(f)) {
		if !theirs[a] && !strings.HasPrefix(a, "Allow logs:") {
			t.Errorf("the function may %s, and no operation behind it", a)
		}
		if _, table, ok := strings.Cut(a, " ${table"); ok {
			tables[strings.TrimSuffix(table, ".Arn}")] = true
		}
	}
	for table := range tables {
		expect.That(t, !strings.HasPrefix(table, "gateways"), "the function may use the table %s", table)
	}
	env := environment(f)
	has(t, env, map[string]any{"API_URL": "https://api.wavegate.example", "DOOR_URL": nil, "BELL_SECRET_ID": "${bellsecret}"}, "the environment")
}

// TestDoor_BoxesAreToldItsURL, by the functions that name the setting.
func TestDoor_BoxesAreToldItsURL(t *testing.T) {
	template := full().template
	for _, op := range table.All {
		got := text(value(environment(template.function(t, op.ID)), "DOOR_URL"))
		expect.That(t, slices.Contains(op.Settings, setting.DoorURL) == strings.HasPrefix(got, "${livedoorFunctionUrl"),
			"%s has the URL %s", op.ID, got)
	}
	expect.Equal(t, slices.Contains(table.Get(manifest).Settings, setting.DoorURL), true, "get-manifest tells it:")
}
