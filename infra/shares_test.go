package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// throttles reads the bounds of an API Gateway stage's methods, by method and path; "*" is the stage's own.
func throttles(t *testing.T, s stage) map[string]Throttle {
	t.Helper()
	found := map[string]Throttle{}
	for _, r := range s.of("AWS::ApiGateway::Stage") {
		settings, _ := r.Properties["MethodSettings"].([]any)
		for _, m := range settings {
			path := strings.ReplaceAll(value(m, "ResourcePath").(string)[1:], "~1", "/")
			name := fmt.Sprint(value(m, "HttpMethod"), " ", cmp.Or(path, "/"))
			if path == "*" {
				name = "*"
			}
			rate, _ := value(m, "ThrottlingRateLimit").(float64)
			burst, _ := value(m, "ThrottlingBurstLimit").(float64)
			found[name] = Throttle{int(rate), int(burst)}
			expect.That(t, value(m, "LoggingLevel") == "ERROR" && value(m, "DataTraceEnabled") == false,
				"%s has %v", name, m)
		}
	}
	return found
}

// TestThrottles_EachMethodHasItsOwn: API Gateway applies the stage's bound to every method separately. Polls
// have less than an operator's methods, and API Gateway's own answers have little.
func TestThrottles_EachMethodHasItsOwn(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "pages": pages(), "full": full()} {
		got := throttles(t, s)
		want := map[string]Throttle{"*": {2000, 2000}}
		for route, m := range s.api(t).routes() {
			method, path, _ := strings.Cut(route, " ")
			switch {
			case mocked(m):
				want[route] = mockThrottle
			case m["security"] == nil && slices.Contains(operations.ConsolePaths, path):
				want[route] = consoleThrottle
			case m["security"] == nil:
				want[route] = docsThrottle
			case m["operationId"] == manifest, strings.TrimSuffix(text(m["operationId"]), "-at-root") == ddiBase:
				want[method+" "+path] = Throttle{1800, 1000}
			}
		}
		for route, bound := range want {
			expect.Equal(t, got[route], bound, "%s: %s is bounded by", name, route)
		}
		for route := range got {
			expect.That(t, want[route] != (Throttle{}), "%s: there is a bound for %s", name, route)
		}
	}
}

func TestConcurrency_WhereTheAccountHasIt_IsDivided(t *testing.T) {
	want := map[string]any{"copilot": 50.0, manifest: 200.0, ddiBase: 100.0, operations.Authorizer: 100.0,
		"update-rollout": 50.0, reported: 25.0, ddiReported: 25.0, operations.Tick: 5.0}
	template := prod()
	for _, name := range append(table.Functions(), preTokenGeneration) {
		if name == operations.Docs || name == operations.Console || name == operations.Bell || name == operations.Door {
			continue
		}
		f := template.function(t, name)
		expect.Equal[any](t, f.Properties["ReservedConcurrentExecutions"], want[name], "%s has", name)
	}
}

// TestConcurrency_OfASmallAccount_IsLeftWhole: Lambda refuses reservations that leave less than it requires.
func TestConcurrency_OfASmallAccount_IsLeftWhole(t *testing.T) {
	for id, f := range dev().of("AWS::Lambda::Function") {
		expect.That(t, f.Properties["ReservedConcurrentExecutions"] == nil,
			"%s has a reservation, although the account's quota is unknown", id)
	}
	for quota, want := range map[string]Concurrency{
		"10":   {Account: 10},
		"199":  {Account: 199},
		"200":  {Account: 200, Copilot: 10, Manifest: 40, DDIBase: 20, Authorizer: 20},
		"499":  {Account: 499, Copilot: 24, Manifest: 99, DDIBase: 49, Authorizer: 49},
		"500":  {Account: 500, Copilot: 25, Manifest: 100, DDIBase: 50, Authorizer: 50, Rollouts: 50, Reports: 12, Tick: 5},
		"1000": {Account: 1000, Copilot: 50, Manifest: 200, DDIBase: 100, Authorizer: 100, Rollouts: 50, Reports: 25, Tick: 5},
	} {
		got, err := ReadSettings(prodContext("accountConcurrency", quota))
		expect.That(t, err == nil && got.Concurrency == want, "%s: %+v, %v", quota, got.Concurrency, err)
	}
	got, err := ReadSettings(prodContext("reserveCopilot", "5", "reserveManifest", "0", "reserveRollouts", "60", "reserveReports", "0", "reserveTick", "0"))
	want := (Concurrency{Account: 1000, Copilot: 5, DDIBase: 100, Authorizer: 100, Rollouts: 60})
	expect.That(t, err == nil && got.Concurrency == want, "with explicit settings: %+v, %v", got.Concurrency, err)
}

// TestConcurrency_OfEachDocumentedSize_IsAcceptedAndQuiet reads the columns of fleet-size.md: the settings are accepted, no alarm goes
// off without a call, and a halt has an execution beside 40 promotions, each of which waits before it is answered.
func TestConcurrency_OfEachDocumentedSize_IsAcceptedAndQuiet(t *testing.T) {
	columns := func(name string) []string {
		for line := range strings.Lines(string(expect.Value(os.ReadFile("fleet-size.md"))(t))) {
			if row, found := strings.CutPrefix(line, "| "+name+" |"); found {
				return strings.Fields(strings.NewReplacer("|", " ", ",", "", "–", "none").Replace(row))
			}
		}
		t.Fatalf("fleet-size.md has no row %s", name)
		return nil
	}
	read := func(settings ...string) {
		got, err := ReadSettings(prodContext(settings...))
		c := got.Concurrency
		alarm := float64(c.Reserved()) + claimed*float64(c.Account-c.Reserved())
		expect.That(t, err == nil && c.Rollouts > 40 && c.Reports > 0 && c.Tick > 0 && c.Account-c.Reserved() >= unreserved && float64(c.Reserved()) < alarm,
			"%v: %+v, %v", settings, c, err)
	}
	reserved := columns("`reserveDoor`, `reserveBell`")
	either, both := columns("`accountConcurrency` with either"), columns("`accountConcurrency` with both")
	expect.That(t, len(reserved) == 5 && len(either) == 5 && len(both) == 5, "%v %v %v", reserved, either, both)
	for i, n := range reserved {
		read("accountConcurrency", either[i], "door", "true", "reserveDoor", n)
		read("accountConcurrency", either[i], "bell", "true", "reserveBell", n)
		read("accountConcurrency", both[i], "door", "true", "bell", "true", "reserveDoor", n, "reserveBell", n)
	}
	quota := columns("quota: Lambda, concurrent executions; `accountConcurrency`")
	expect.Equal(t, len(quota), 3, "columns")
	for i, n := range quota {
		settings := []string{"accountConcurrency", n}
		for _, name := range []string{"pollRate", "pollBurst", "throttleRate", "throttleBurst"} {
			settings = append(settings, name, columns("`" + name + "`")[i])
		}
		read(settings...)
	}
}
