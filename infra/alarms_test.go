package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// kindOf returns an alarm's kind, from its description.
func kindOf(t *testing.T, alarm resource) string {
	t.Helper()
	found := regexp.MustCompile(`See ([a-z0-9-]+) in infra/runbook.md\.$`).FindStringSubmatch(alarm.Properties["AlarmDescription"].(string))
	if found == nil {
		t.Fatalf("%v points to no section of the runbook", alarm.Properties["AlarmName"])
	}
	return found[1]
}

func TestRunbook_HasASectionForEachKindOfAlarmAndNoOthers(t *testing.T) {
	b, err := os.ReadFile("runbook.md")
	expect.OK(t, err)
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
		if name := text(a.Properties["AlarmName"]); !strings.HasPrefix(name, "wavegate-prod-"+kind) {
			t.Errorf("%s is named %s and points to %s", id, name, kind)
		}
		for _, part := range []string{"**Means**", "**Look**", "**Do**"} {
			if !strings.Contains(sections[kind], part) {
				t.Errorf("the runbook's section on %s lacks %s", kind, part)
			}
		}
	}
	kinds["budget"] = len(full().of("AWS::Budgets::Budget")) == 1
	for name := range sections {
		if !kinds[name] {
			t.Errorf("the runbook has a section on %s, and there is no such alarm", name)
		}
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
			if got := list(a.Properties[actions]); len(got) != 1 || got[0] != topic {
				t.Errorf("%s: its %s are %v", id, actions, got)
			}
		}
		want := "notBreaching"
		if slices.Contains([]string{"guard-stale", "polls-fewer", "backup-missing", "outside-failing"}, kindOf(t, a)) {
			want = "breaching" // the tick runs every minute and boxes poll, even if nobody else calls
		}
		expect.Equal[any](t, a.Properties["TreatMissingData"], want, "%s: a minute without data is", id)
		metrics, _ := a.Properties["Metrics"].([]any)
		if len(metrics) > maxMetrics+1 {
			t.Errorf("%s looks at %d metrics, more than an alarm can", id, len(metrics)-1)
		}
	}
	if len(alarms) == 0 {
		t.Error("there are no alarms")
	}
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

func TestAlarms_WatchEveryFunctionAndEveryTable(t *testing.T) {
	template := full().template
	// Another alarm watches the share of the authorizer's errors. The copilot takes as long as the assistant, and a task as
	// long as a count.
	except := map[string][]string{"functions-dead": {operations.Authorizer}, "functions-late": {"copilot", operations.Tick}}
	for _, kind := range []string{"functions-dead", "functions-late", "functions-slow", "functions-throttled"} {
		seen := watched(t, template, kind, "FunctionName")
		for _, name := range append(table.Functions(), preTokenGeneration) {
			if seen[counted(t, template, name)] == slices.Contains(except[kind], name) {
				t.Errorf("%s watches %s: %v", kind, name, slices.Contains(except[kind], name))
			}
		}
	}
	if authorizer := counted(t, template, operations.Authorizer); !watched(t, template, "authorizer-errors", "FunctionName")[authorizer] {
		t.Error("nothing watches the authorizer's errors")
	}
	failing := watched(t, template, "operations-failing", "operation")
	for _, op := range table.All {
		if !failing[op.ID] {
			t.Errorf("operations-failing does not watch %s", op.ID)
		}
	}
	indexes := watched(t, template, "tables-throttled", "GlobalSecondaryIndexName")
	for _, table := range dynamo.Tables {
		for _, i := range table.Indexes {
			if indexes[i.Name] == i.Local {
				t.Errorf("tables-throttled watches %s of %s: %v", i.Name, table.ID, indexes[i.Name])
			}
		}
	}
	errors, throttles := watched(t, template, "table-errors", "TableName"), watched(t, template, "tables-throttled", "TableName")
	for _, stored := range dynamo.Tables {
		name := "${" + template.id(t, "AWS::DynamoDB::Table", "table-"+string(stored.ID)) + "}"
		if !throttles[name] || (errors[name] != (len((&watch{rows: table.All}).calls(stored.ID)) > 0)) {
			t.Errorf("%s: throttles watched: %v, errors watched: %v", stored.ID, throttles[name], errors[name])
		}
	}
}

func TestDashboard_AnswersFourQuestions_WithFewDimensions(t *testing.T) {
	allowed := map[string]bool{
		"ApiName": true, "Stage": true, "FunctionName": true, "TableName": true, "Operation": true,
		"LogGroupName": true, "stage": true, "operation": true,
	}
	for _, d := range prod().of("AWS::CloudWatch::Dashboard") {
		body := text(d.Properties["DashboardBody"])
		for _, question := range []string{"Is it healthy?", "Is anyone limited?", "Are releases moving?", "What does it cost?"} {
			if !strings.Contains(body, question) {
				t.Errorf("the dashboard does not ask %q", question)
			}
		}
		metrics := regexp.MustCompile(`\["AWS/[A-Za-z]+","[A-Za-z0-9]+"((?:,"[^"]*")*)|\["Wavegate","[A-Za-z]+"((?:,"[^"]*")*)`).FindAllStringSubmatch(body, -1)
		if len(metrics) < len(table.All) {
			t.Errorf("the dashboard has %d metrics that this test can read", len(metrics))
		}
		for _, metric := range metrics {
			fields := strings.Split(strings.Trim(metric[1]+metric[2], ","), ",")
			for i := 0; i+1 < len(fields); i += 2 {
				if name := strings.Trim(fields[i], `"`); !allowed[name] {
					t.Errorf("the dashboard has a metric by %s", name)
				}
			}
		}
	}
	expect.Equal(t, len(prod().of("AWS::CloudWatch::Dashboard")), 1, "the number of dashboards is")
}
