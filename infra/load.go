package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/telemetry"
)

// gatewayThrottled is the metric of calls that API Gateway itself refused with 429. API Gateway counts them among all
// other 4xx answers, so the metric is made from the access logs.
const gatewayThrottled = "GatewayThrottled"

// throttledNamespace is the metric's namespace. It contains the deployment's name, because a metric filter cannot add it
// as a dimension.
func (p part) throttledNamespace() string {
	return telemetry.Namespace + "/" + string(p.settings.Stage)
}

// addThrottledCount counts the calls that API Gateway refused.
func (s *service) addThrottledCount() {
	awslogs.NewMetricFilter(s.stack, jsii.String("gateway-throttled"), &awslogs.MetricFilterProps{
		LogGroup:        s.access,
		FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(`{ $.error = "THROTTLED" }`)),
		MetricNamespace: jsii.String(s.throttledNamespace()), MetricName: jsii.String(gatewayThrottled),
		MetricValue: jsii.String("1"),
	})
}

// throttled is the share of calls that API Gateway refused, in percent.
func (w *watch) throttled() awscloudwatch.IMetric {
	return w.share("throttled", "refused by API Gateway, %", source{w.throttledNamespace(), nil}.metric(gatewayThrottled, sum, ""))
}

// limitedShare is the share of calls that the fair-use limiter refused, in percent.
func (w *watch) limitedShare() awscloudwatch.IMetric {
	return w.share("limited", "refused by the limiter, %", w.own().metric("Limited", sum, ""))
}

// share is the share of some calls among all, in percent. It is 0 for fewer than ten a minute.
func (w *watch) share(id, label string, some awscloudwatch.IMetric) awscloudwatch.IMetric {
	return formulaOf("IF(FILL("+id+", 0) >= 10, 100 * "+id+" / calls, 0)", label, 1,
		map[string]awscloudwatch.IMetric{id: some, "calls": w.gateway().metric("Count", sum, "")})
}

// waits are the seconds that boxes were asked to wait, in five minutes, for both kinds of polls.
func (w *watch) waits() awscloudwatch.Metric {
	return w.own().metric(lambdahttp.Waits, sum, "").With(&awscloudwatch.MetricOptions{
		Period: awscdk.Duration_Minutes(jsii.Number(5)),
	})
}

// polling is how many boxes poll: the seconds that they were asked to wait, divided by the seconds that passed. It does
// not jump when the interval changes.
func (w *watch) polling() awscloudwatch.IMetric {
	return formulaOf("waits / PERIOD(waits)", "boxes that poll", 5, map[string]awscloudwatch.IMetric{"waits": w.waits()})
}

// notTheTokens is the share of the authorizer's errors that the tokens did not cause, in percent. API Gateway requires
// the authorizer to report a token that may become valid as an error, and any stranger can make one up.
func (p part) notTheTokens(authorizer source) awscloudwatch.IMetric {
	const ours = "(m0 - FILL(m2, 0))"
	return over("IF("+ours+" >= 5, 100 * "+ours+" / m1, 0)", "errors, %", authorizer.metric("Errors", sum, ""),
		authorizer.metric("Invocations", sum, ""), p.own().metric("StrangersTokens", sum, ""))
}

// unusual is how many standard deviations from CloudWatch's expectation for that hour of the week raise the alarm.
const unusual = 3

// claimed is the share of the executions that are not reserved here that raises the alarm.
const claimed = 0.8

// loadAlarms watch the load, and the share of it that is refused.
func (w *watch) loadAlarms() []alarm {
	alarms := []alarm{
		{
			kind: "gateway-throttled", says: "API Gateway refuses more than 1 % of the calls with 429.",
			metric: w.throttled(), threshold: 1, minutes: 3, of: 5,
		},
		{
			kind: "limited", says: "The fair-use limiter refuses more than 5 % of the calls with 429.",
			metric: w.limitedShare(), threshold: 5, minutes: 3, of: 5,
		},
		{
			kind: "polls-unusual", says: "Fewer boxes poll than usual at this hour of the week, or more boxes, or more often than they are told.",
			metric: w.waits(), learnt: unusual, minutes: 2, of: 3, missed: true,
		},
	}
	if c := w.settings.Concurrency; c.Account > 0 {
		alarms = append(alarms, alarm{
			kind: "concurrency", says: "80 % of the account's concurrent executions that this service does not reserve are in use, or reserved by others.",
			// Claimed are those in use and those that are reserved, which nothing else can have.
			metric:    source{"AWS/Lambda", nil}.metric("ClaimedAccountConcurrency", maximum, ""),
			threshold: float64(c.Reserved()) + claimed*float64(c.Account-c.Reserved()), minutes: 3, of: 5,
		})
	}
	return alarms
}
