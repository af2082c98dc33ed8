package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/telemetry"
	"wavegate/shared/testing/expect"
)

// kindOf returns an alarm's kind, from its description.
func kindOf(t *testing.T, alarm resource) string {
	t.Helper()
	found := regexp.MustCompile(`See ([a-z0-9-]+) in infra/runbook.md\.$`).FindStringSubmatch(alarm.Properties["AlarmDescription"].(string))
	expect.Must(t, found != nil, "%v points to no section of the runbook", alarm.Properties["AlarmName"])
	return found[1]
}

func TestRunbook_HasASectionForEachKindOfAlarmAndNoOthers(t *testing.T) {
	b := expect.Value(os.ReadFile("runbook.md"))(t)
	sections := map[string]string{}
	for _, section := range strings.Split(string(b), "\n## ")[1:] {
		names, body, _ := strings.Cut(section, "\n")
		for _, name := range strings.Split(names, ", ") {
			sections[name] = body
		}
	}
	kinds := map[string]bool{}
	for id, a := range full().of("AWS::CloudWatch::Alarm") {
		kind := kindOf(t, a)
		kinds[kind] = true
		name := text(a.Properties["AlarmName"])
		expect.That(t, strings.HasPrefix(name, "wavegate-prod-"+kind), "%s is named %s and points to %s", id, name, kind)
		for _, part := range []string{"**Means**", "**Look**", "**Do**"} {
			expect.That(t, strings.Contains(sections[kind], part), "the runbook's section on %s lacks %s", kind, part)
		}
	}
	kinds["budget"] = len(full().of("AWS::Budgets::Budget")) == 1
	for name := range sections {
		expect.That(t, kinds[name], "the runbook has a section on %s, and there is no such alarm", name)
	}
}

func TestAlarms_TellTheTopic_WhenTheyBeginAndEnd(t *testing.T) {
	template := full()
	topic := "${" + template.id(t, "AWS::SNS::Topic", "alarms") + "}"
	alarms := template.of("AWS::CloudWatch::Alarm")
	for id, a := range alarms {
		if kindOf(t, a) == "canary" {
			continue // it only notifies CodeDeploy
		}
		for _, actions := range []string{"AlarmActions", "OKActions"} {
			got := list(a.Properties[actions])
			expect.That(t, len(got) == 1 && got[0] == topic, "%s: its %s are %v", id, actions, got)
		}
		want := "notBreaching"
		if slices.Contains([]string{"guard-stale", "polls-unusual", "backup-missing", "outside-failing"}, kindOf(t, a)) {
			want = "breaching" // the tick runs every minute and boxes poll, even if nobody else calls
		}
		expect.Equal[any](t, a.Properties["TreatMissingData"], want, "%s: a minute without data is", id)
		metrics, _ := a.Properties["Metrics"].([]any)
		expect.That(t, len(metrics) <= maxMetrics+1,
			"%s looks at %d metrics, more than an alarm can", id, len(metrics)-1)
	}
	expect.That(t, len(alarms) != 0, "there are no alarms")
	for _, s := range template.of("AWS::SNS::Subscription") {
		if s.Properties["Protocol"] != "email" || s.Properties["Endpoint"] != "ops@example.com" || text(s.Properties["TopicArn"]) != topic {
			t.Errorf("the subscription is %v", s.Properties)
		}
	}
	expect.Equal(t, len(template.of("AWS::SNS::Subscription")), 1, "the number of subscriptions is")
}

// watched returns the values of a dimension that the alarms of a kind watch.
func watched(t *testing.T, template template, kind, dimension string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for _, a := range template.of("AWS::CloudWatch::Alarm") {
		if kindOf(t, a) != kind {
			continue
		}
		metrics, _ := a.Properties["Metrics"].([]any)
		for _, m := range metrics {
			dimensions, _ := value(m, "MetricStat", "Metric", "Dimensions").([]any)
			for _, d := range dimensions {
				if value(d, "Name") == dimension {
					seen[text(value(d, "Value"))] = true
				}
			}
		}
	}
	return seen
}

// counted is a function's name in Lambda's metrics.
func counted(t *testing.T, template template, function string) string {
	t.Helper()
	id := template.id(t, "AWS::Lambda::Function", function)
	if name, ok := template.Resources[id].Properties["FunctionName"].(string); ok {
		return name
	}
	return "${" + id + "}"
}

// TestAlarms_OnFunctions_WatchBoxesHelpersAndShares: operations report the rest themselves.
func TestAlarms_OnFunctions_WatchBoxesHelpersAndShares(t *testing.T) {
	template := full().template
	var boxes []string
	for _, op := range table.All {
		if slices.Contains(op.Roles, auth.Edge) {
			boxes = append(boxes, op.ID)
		}
	}
	helpers := []string{operations.Authorizer, preTokenGeneration, operations.Docs, operations.Console, operations.Bell}
	for kind, want := range map[string][]string{
		"functions-late":      slices.Concat(boxes, helpers, []string{operations.Door}),
		"functions-slow":      helpers,
		"functions-throttled": {manifest, ddiBase, "update-rollout", operations.Authorizer, operations.Bell},
		"authorizer-errors":   {operations.Authorizer},
	} {
		t.Run(kind, func(t *testing.T) {
			seen := watched(t, template, kind, "FunctionName")
			for _, name := range want {
				expect.That(t, seen[counted(t, template, name)], "it does not watch %s", name)
			}
			if len(seen) != len(want) {
				t.Errorf("it watches %v, want %v", slices.Sorted(maps.Keys(seen)), want)
			}
		})
	}
}

// TestAlarms_OfOwnMetrics_NameWhatTheFunctionsWrite, with the stage as the only dimension: another one would make a metric, and
// a price, of each value.
func TestAlarms_OfOwnMetrics_NameWhatTheFunctionsWrite(t *testing.T) {
	written := []string{"Failures", "Calls", "Limited", "KeyFetchFailures", "TokenRefusals", "StrangersTokens", "ProgressAge", "VerdictAge", "Unreadable",
		"GoneBad", "NeedPerson", "OutsideFailures", "ArtifactStoreFailed", function.LimiterFailOpen, enrolment.Refusals, polling.NotRecorded, polling.FrequentDollars,
		lambdahttp.Late, lambdahttp.NearTimeout, lambdahttp.Waits, dynamo.StoreErrors, dynamo.StoreThrottled}
	check := func(id string, metric any) {
		if value(metric, "Namespace") != telemetry.Namespace {
			return
		}
		dimensions, _ := value(metric, "Dimensions").([]any)
		if name := text(value(metric, "MetricName")); len(dimensions) != 1 || value(dimensions[0], "Name") != "stage" || !slices.Contains(written, name) {
			t.Errorf("%s looks at %s with %v", id, name, dimensions)
		}
	}
	for id, a := range full().of("AWS::CloudWatch::Alarm") {
		check(id, a.Properties)
		metrics, _ := a.Properties["Metrics"].([]any)
		for _, m := range metrics {
			check(id, value(m, "MetricStat", "Metric"))
		}
	}
}

// TestTraces_AreSampledByTheStagesOwnRules: without a reservoir, which would trace every call of a quiet service.
func TestTraces_AreSampledByTheStagesOwnRules(t *testing.T) {
	rates := map[string]any{}
	for id, r := range prod().of("AWS::XRay::SamplingRule") {
		rule := value(r.Properties, "SamplingRule")
		rates[text(value(rule, "URLPath"))] = value(rule, "FixedRate")
		if name := text(value(rule, "RuleName")); value(rule, "ReservoirSize") != 0.0 || value(rule, "ServiceName") != "wavegate-prod*" || len(name) > 32 {
			t.Errorf("%s is %v", id, rule)
		}
	}
	want := map[string]any{"*/update/manifest": 0.001, "*/controller/v1/*": 0.001, "*": 0.01}
	expect.That(t, maps.Equal(rates, want), "the rates are %v, want %v", rates, want)
}

func TestDashboard_AnswersFourQuestions_WithAtMostFiftyMetrics(t *testing.T) {
	for _, d := range full().of("AWS::CloudWatch::Dashboard") {
		body := text(d.Properties["DashboardBody"])
		for _, question := range []string{"Is it healthy?", "Is anyone limited?", "Are releases moving?", "What does it cost?"} {
			expect.That(t, strings.Contains(body, question), "the dashboard does not ask %q", question)
		}
		metrics := regexp.MustCompile(`\["(AWS/[A-Za-z]+|Wavegate[^"]*)","[A-Za-z0-9]+"`).FindAllString(body, -1)
		expect.That(t, len(metrics) >= 30 && len(metrics) <= 50 && !strings.Contains(body, "SEARCH("),
			"the dashboard has %d metrics, or searches for more: %s", len(metrics), body)
	}
	expect.Equal(t, len(prod().of("AWS::CloudWatch::Dashboard")), 1, "the number of dashboards is")
}
