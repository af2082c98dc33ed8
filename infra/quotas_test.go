package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestQuotas_Alarms_GoOffAtEightyPercent_OfWhatTheSettingsSay: of a minute's sum, divided by 60.
func TestQuotas_Alarms_GoOffAtEightyPercent_OfWhatTheSettingsSay(t *testing.T) {
	for name, want := range map[string][2]float64{"prod": {8000, 32_000}, "full": {2000, 64_000}} {
		template := map[string]stage{"prod": prod(), "full": full()}[name]
		api := theAlarm(t, template.template, "api-quota")
		if api.Properties["Threshold"] != want[0] || !strings.Contains(metricsOf(api), "m0 / 60") || !strings.Contains(metricsOf(api), "Count") {
			t.Errorf("%s: the API's quota is watched by %v", name, api.Properties)
		}
		seen := watched(t, template.template, "table-quota", "TableName")
		for _, table := range []dynamo.TableID{dynamo.RateCounters, dynamo.Reports} {
			expect.That(t, seen["${"+template.id(t, "AWS::DynamoDB::Table", "table-"+string(table))+"}"],
				"%s: nothing watches the quota of %s", name, table)
		}
		a := theAlarm(t, template.template, "table-quota")
		expect.That(t, a.Properties["Threshold"] == want[1] && strings.Contains(metricsOf(a), "MAX(METRICS()) / 60"),
			"%s: a table's quota is watched by %v", name, a.Properties)
	}
}

// TestBudget_AskedFor_TellsTheTopic_WhatIsSpentAndWhatIsForecast. Without the setting there is no budget.
func TestBudget_AskedFor_TellsTheTopic_WhatIsSpentAndWhatIsForecast(t *testing.T) {
	expect.Equal(t, len(prod().of("AWS::Budgets::Budget")), 0, "the number of budgets without the setting is")
	template := full()
	topic := "${" + template.id(t, "AWS::SNS::Topic", "alarms") + "}"
	for _, b := range template.of("AWS::Budgets::Budget") {
		budget := value(b.Properties, "Budget")
		if value(budget, "BudgetLimit", "Amount") != 5000.0 || value(budget, "BudgetLimit", "Unit") != "USD" || value(budget, "TimeUnit") != "MONTHLY" || value(budget, "BudgetType") != "COST" {
			t.Errorf("the budget is %v", budget)
		}
		var told []string
		notifications, _ := b.Properties["NotificationsWithSubscribers"].([]any)
		for _, n := range notifications {
			told = append(told, fmt.Sprint(value(n, "Notification", "NotificationType"), value(n, "Notification", "Threshold"), value(n, "Notification", "ThresholdType")))
			if value(n, "Subscribers", 0, "SubscriptionType") != "SNS" || text(value(n, "Subscribers", 0, "Address")) != topic {
				t.Errorf("the subscribers are %v", value(n, "Subscribers"))
			}
		}
		expect.Equal(t, told, []string{"ACTUAL80PERCENTAGE", "FORECASTED100PERCENTAGE"}, "the notifications are at")
	}
	may := false
	for _, p := range template.of("AWS::SNS::TopicPolicy") {
		statements, _ := value(p.Properties, "PolicyDocument", "Statement").([]any)
		for _, s := range statements {
			if value(s, "Principal", "Service") == "budgets.amazonaws.com" {
				may = value(s, "Action") == "sns:Publish" && text(value(s, "Resource")) == topic &&
					value(s, "Condition", "StringEquals", "aws:SourceAccount") == "111122223333" && strings.Contains(text(value(s, "Condition", "ArnLike", "aws:SourceArn")), ":budgets::111122223333:*")
			}
		}
	}
	n := len(template.of("AWS::Budgets::Budget"))
	expect.That(t, n == 1 && may, "%d budgets; they may publish: %t", n, may)
}

// priced is how many alarm metrics CloudWatch charges for: each metric of an alarm, and three for an anomaly detection
// alarm.
func priced(template stage) int {
	n := 0
	for _, a := range template.of("AWS::CloudWatch::Alarm") {
		if a.Properties["Metrics"] == nil {
			n++
		}
		metrics, _ := a.Properties["Metrics"].([]any)
		for _, m := range metrics {
			if value(m, "MetricStat") != nil {
				n++
			}
		}
		if a.Properties["ThresholdMetricId"] != nil {
			n += 2
		}
	}
	return n
}

// TestPrices_OfTheAlarms_AreThoseOfTheTemplate: the page and the table of costs have the number of metrics of prod's alarms.
func TestPrices_OfTheAlarms_AreThoseOfTheTemplate(t *testing.T) {
	metrics := priced(prod())
	if most := priced(full()); metrics > 71 || most > 86 {
		t.Errorf("the alarms of prod look at %d metrics, and with every setting at %d; want 71 and 86 at most", metrics, most)
	}
	page := expect.Value(os.ReadFile("deploying.md"))(t)
	says := regexp.MustCompile(`the\s+alarms\s+\((\d+)\s+metrics,\s+0\.10\s+USD\s+a\s+month\s+each,\s+so\s+(\d+)\s+USD\)`).FindSubmatch(page)
	dollars := int(math.Round(0.10 * float64(metrics)))
	expect.That(t, says != nil && string(says[1]) == strconv.Itoa(metrics) && string(says[2]) == strconv.Itoa(dollars),
		"deploying.md has %q; prod's alarms have %d metrics, for %d dollars", says, metrics, dollars)
	costs := expect.Value(os.ReadFile("../scripts/lab/benchmarks/cost/prices.go"))(t)
	if counts := regexp.MustCompile(`alarmMetrics += (\d+)`).FindSubmatch(costs); counts == nil || string(counts[1]) != strconv.Itoa(metrics) {
		t.Errorf("the table of costs counts %q metrics of alarms, and there are %d", counts, metrics)
	}
}

// TestNeeds_OfTheTableOfFleets_AreTheStacksDefaults: the command that computes the table cannot import this package.
func TestNeeds_OfTheTableOfFleets_AreTheStacksDefaults(t *testing.T) {
	source := expect.Value(os.ReadFile("../scripts/lab/benchmarks/cost/fleet.go"))(t)
	s := expect.Value(ReadSettings(prodContext("bell", "true")))(t)
	for _, want := range []string{
		fmt.Sprintf("pollRate, pollBurst, throttleRate, throttleBurst = %d, %d, %d, %d", s.Throttles.Poll.Rate, s.Throttles.Poll.Burst, s.Throttles.Method.Rate, s.Throttles.Method.Burst),
		fmt.Sprintf("gatewayQuota, concurrencyQuota = %d, %d", s.Quotas.API, s.Concurrency.Account),
		fmt.Sprintf("warmed = %d", leastWarm),
		fmt.Sprintf("bellShare = %.1f", float64(s.Concurrency.Bell)/float64(s.Concurrency.Account)),
	} {
		text := strings.ReplaceAll(regexp.MustCompile(`[ \t]+`).ReplaceAllString(string(source), " "), "_", "")
		expect.That(t, strings.Contains(text, want), "the table of fleets lacks %s", want)
	}
}
