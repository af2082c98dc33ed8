package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
)

// Quotas are the account's quotas in a region, by default those of a new account, and its budget. AWS publishes no metric
// for the use of these quotas, so the alarms compare the service's own metrics with these numbers.
type Quotas struct {
	// API is how many requests a second API Gateway accepts for all APIs of the account together.
	API int
	// Table is how many read units, and how many write units, a second DynamoDB grants one on-demand table.
	Table int
	// BudgetUSD is the whole account's monthly budget; 0: there is none.
	BudgetUSD int
}

// nearQuota is the share of a quota at which the alarm goes off.
const nearQuota = 0.8

func readQuotas(r *reader) Quotas {
	const highest = 100_000_000
	return Quotas{
		API: r.number("apiQuota", 10_000, 1, highest), Table: r.number("tableQuota", 40_000, 1, highest),
		BudgetUSD: readBudget(r, highest),
	}
}

// noBudget says that a deployment is meant to have no budget.
const noBudget = "none"

func readBudget(r *reader, highest int) int {
	v, said := r.value("budgetUsd")
	if !said && r.stage == string(Prod) {
		r.fault("budgetUsd: prod must set the account's monthly budget in dollars, or %s: no other alarm goes off only because calls cost more", noBudget)
	}
	if v == noBudget {
		return 0
	}
	return r.number("budgetUsd", 0, 0, highest)
}

func (q Quotas) check(r *reader, s Settings) {
	if q.BudgetUSD > 0 && !s.Alarms {
		r.fault("budgetUsd: the deployment has no alarms; set alarms=true")
	}
}

// quotaAlarms go off at 80 % of a quota. CloudWatch's metrics are sums of a minute, so the formulas divide by 60.
func (w *watch) quotaAlarms() []alarm {
	alarms := []alarm{{
		kind: "api-quota", says: "The API uses 80 % of the account's requests a second for all APIs.",
		metric:    over("m0 / 60", "requests a second", w.gateway().metric("Count", sum, "")),
		threshold: nearQuota * float64(w.settings.Quotas.API), minutes: 3, of: 5,
	}}
	// Others cannot reach theirs before one of these does: each poll writes one counter, and polls and ticks read reports.
	counters, reports := w.table(dynamo.RateCounters), w.table(dynamo.Reports)
	return append(alarms, alarm{
		kind: "table-quota", says: "A table uses 80 % of the units a second that DynamoDB grants one table.",
		metric: over("MAX(METRICS()) / 60", "units a second", counters.metric("ConsumedWriteCapacityUnits", sum, ""),
			reports.metric("ConsumedReadCapacityUnits", sum, ""), reports.metric("ConsumedWriteCapacityUnits", sum, "")),
		threshold: nearQuota * float64(w.settings.Quotas.Table), minutes: 3, of: 5,
	})
}

// addBudget notifies the alarms' topic when the account has cost 80 % of its budget, and when AWS forecasts more than all
// of it. The budget has no filter by tags, which would count nothing until somebody activates the tags for billing.
func (w *watch) addBudget(topic awssns.ITopic) {
	amount := w.settings.Quotas.BudgetUSD
	if amount == 0 {
		return
	}
	notify := func(kind string, percent float64) any {
		return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: &kind, ComparisonOperator: jsii.String("GREATER_THAN"), Threshold: &percent, ThresholdType: jsii.String("PERCENTAGE"),
			},
			Subscribers: &[]any{&awsbudgets.CfnBudget_SubscriberProperty{SubscriptionType: jsii.String("SNS"), Address: topic.TopicArn()}},
		}
	}
	awsbudgets.NewCfnBudget(w.stack, jsii.String("budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName: jsii.String(w.name() + "-budget"), BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(amount), Unit: jsii.String("USD")},
		},
		NotificationsWithSubscribers: &[]any{notify("ACTUAL", 100*nearQuota), notify("FORECASTED", 100)},
	})
	// A topic of the settings has its own policy; deploying.md shows the statements that it needs.
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("BudgetOfThisAccount"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("budgets.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": w.stack.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": "arn:" + *w.stack.Partition() + ":budgets::" + *w.stack.Account() + ":*"},
		},
	}))
}
