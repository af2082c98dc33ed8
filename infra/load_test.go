package main

import (
	"encoding/json"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

const (
	testTopic  = "arn:aws:sns:eu-central-1:111122223333:operators"
	otherTopic = "arn:aws:sns:us-east-1:111122223333:operators"
)

// theAlarm returns the only alarm of a kind.
func theAlarm(t *testing.T, template template, kind string) resource {
	t.Helper()
	for _, a := range template.of("AWS::CloudWatch::Alarm") {
		if kindOf(t, a) == kind {
			return a
		}
	}
	t.Fatalf("there is no alarm %s", kind)
	return resource{}
}

// metricsOf writes an alarm's formulas and the names of its metrics as one text.
func metricsOf(a resource) string {
	parts := []string{text(a.Properties["Namespace"]), text(a.Properties["MetricName"])}
	metrics, _ := a.Properties["Metrics"].([]any)
	for _, m := range metrics {
		b, _ := json.Marshal(value(m, "MetricStat", "Metric", "Dimensions"))
		parts = append(parts, text(value(m, "Expression")), text(value(m, "MetricStat", "Metric", "MetricName")), string(b))
	}
	return strings.Join(parts, " ")
}

// TestAlarms_429_ByTheGatewayAndByTheLimiter_AreShares: API Gateway counts its own 429 among all 4xx answers, so the
// access logs count them.
func TestAlarms_429_ByTheGatewayAndByTheLimiter_AreShares(t *testing.T) {
	template := prod()
	for kind, want := range map[string][]string{
		"gateway-throttled": {"100 * throttled / calls", gatewayThrottled, "Count"},
		"limited":           {"100 * limited / calls", "Limited", "Count"},
	} {
		got := metricsOf(theAlarm(t, template.template, kind))
		for _, part := range want {
			expect.That(t, strings.Contains(got, part), "%s looks at %s, and not at %s", kind, got, part)
		}
	}
	filters := template.of("AWS::Logs::MetricFilter")
	for _, f := range filters {
		made := value(f.Properties, "MetricTransformations", 0)
		if f.Properties["FilterPattern"] != `{ $.error = "THROTTLED" }` || value(made, "MetricName") != gatewayThrottled || value(made, "MetricNamespace") != "Wavegate/prod" {
			t.Errorf("it counts %v", f.Properties)
		}
	}
	expect.Equal(t, len(filters), 1, "the number of filters is")
}

// TestAlarms_FewerOrMoreBoxesPoll_WhateverTheirInterval: the alarm watches the seconds that boxes are asked to wait. Their sum does
// not change with the interval, but grows if boxes do not wait. Silence raises the alarm.
func TestAlarms_FewerOrMoreBoxesPoll_WhateverTheirInterval(t *testing.T) {
	a := theAlarm(t, prod().template, "polls-unusual")
	got := metricsOf(a)
	if !strings.Contains(got, "Waits") || strings.Contains(got, "operation") || !strings.Contains(got, "ANOMALY_DETECTION_BAND") || strings.Contains(got, "Calls") {
		t.Errorf("it looks at %s", got)
	}
	if a.Properties["ComparisonOperator"] != "LessThanLowerOrGreaterThanUpperThreshold" || a.Properties["TreatMissingData"] != "breaching" || a.Properties["ThresholdMetricId"] == nil {
		t.Errorf("it is %v", a.Properties)
	}
}

// TestAlarms_Concurrency_At80PercentOfWhatIsNotReserved: other functions cannot use what is reserved for one, and it is claimed
// without a call. Of 1,000 executions, 555 are reserved.
func TestAlarms_Concurrency_At80PercentOfWhatIsNotReserved(t *testing.T) {
	a := theAlarm(t, prod().template, "concurrency")
	expect.That(t, a.Properties["Threshold"] == 911.0 && a.Properties["MetricName"] == "ClaimedAccountConcurrency",
		"it is %v", a.Properties)
	for _, a := range pages().of("AWS::CloudWatch::Alarm") {
		expect.That(t, kindOf(t, a) != "concurrency", "the account's quota is unknown, but an alarm watches it")
	}
}

// TestAlarms_TheAuthorizersErrors_LeaveOutStrangersTokens: anyone can send a token with an unknown key id, or one in the form
// of a box token.
func TestAlarms_TheAuthorizersErrors_LeaveOutStrangersTokens(t *testing.T) {
	got := metricsOf(theAlarm(t, prod().template, "authorizer-errors"))
	for _, part := range []string{"IF((m0 - FILL(m2, 0)) >= 5, 100 * (m0 - FILL(m2, 0)) / m1, 0)", "Errors", "Invocations", "StrangersTokens"} {
		expect.That(t, strings.Contains(got, part), "it looks at %s, and not at %s", got, part)
	}
}

func TestAlarms_OfDev_AreASetting(t *testing.T) {
	n := len(dev().of("AWS::CloudWatch::Alarm")) + len(dev().of("AWS::SNS::Topic"))
	expect.That(t, n == 0, "dev has %d alarms and topics without the setting", n)
}

func TestAlarms_TellTheTopicOfTheSettings(t *testing.T) {
	template := other()
	n := len(template.of("AWS::SNS::Topic"))
	expect.That(t, n == 0, "there are %d topics beside it", n)
	for id, a := range template.stacks["wavegate-prod-watch"].of("AWS::CloudWatch::Alarm") {
		got := list(a.Properties["AlarmActions"])
		expect.That(t, len(got) == 1 && got[0] == otherTopic, "%s notifies %v", id, got)
	}
}

// TestDashboard_AsksNoLogs: an open page would query them every minute, and each query is charged by the bytes read.
// Operators run the saved queries by hand.
func TestDashboard_AsksNoLogs(t *testing.T) {
	for name, s := range stages() {
		for _, d := range s.of("AWS::CloudWatch::Dashboard") {
			expect.That(t, !strings.Contains(text(d.Properties["DashboardBody"]), `"type":"log"`),
				"%s: the dashboard queries the logs", name)
		}
		saved := s.of("AWS::Logs::QueryDefinition")
		expect.That(t, len(saved) == len(queries), "%s: %d queries are saved", name, len(saved))
		for id, q := range saved {
			if got := list(q.Properties["LogGroupNames"]); len(got) != 1 || !strings.HasPrefix(got[0], "${accesslogs") {
				t.Errorf("%s: %s queries %v", name, id, got)
			}
		}
	}
}
