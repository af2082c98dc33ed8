package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// An alarm is a rule for when to notify operators. A section of runbook.md has its kind in the title.
type alarm struct {
	kind      string
	part      string // distinguishes alarms of one kind
	says      string
	metric    awscloudwatch.IMetric
	threshold float64 // the alarm goes off at this value or above
	minutes   int     // how many of the last `of` periods must reach the threshold; a period is a minute unless the metric has its own
	of        int     // how many periods are looked at
	missed    bool    // a period without data counts as one at the threshold
	// below replaces the threshold: the metric must be this many standard deviations below what CloudWatch has learned to
	// expect. 0: the threshold counts.
	below float64
}

// missing is how an alarm treats a period without data. Without calls there is no data: a quiet service is healthy,
// unless silence itself is a fault.
func (a alarm) missing() awscloudwatch.TreatMissingData {
	if a.missed {
		return awscloudwatch.TreatMissingData_BREACHING
	}
	return awscloudwatch.TreatMissingData_NOT_BREACHING
}

// make adds the alarm to a stack.
func (a alarm) make(p part) awscloudwatch.Alarm {
	name := a.kind
	if a.part != "" {
		name += "-" + a.part
	}
	id, full := jsii.String("alarm-"+name), jsii.String(p.name()+"-"+name)
	description := jsii.String(a.says + " See " + a.kind + " in infra/runbook.md.")
	if a.below > 0 {
		return awscloudwatch.NewAnomalyDetectionAlarm(p.stack, id, &awscloudwatch.AnomalyDetectionAlarmProps{
			AlarmName: full, AlarmDescription: description, Metric: a.metric, StdDevs: &a.below,
			ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_LOWER_THRESHOLD,
			DatapointsToAlarm:  jsii.Number(a.minutes), EvaluationPeriods: jsii.Number(a.of), TreatMissingData: a.missing(),
		})
	}
	return awscloudwatch.NewAlarm(p.stack, id, &awscloudwatch.AlarmProps{
		AlarmName: full, AlarmDescription: description, Metric: a.metric, Threshold: &a.threshold,
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		DatapointsToAlarm:  jsii.Number(a.minutes), EvaluationPeriods: jsii.Number(a.of), TreatMissingData: a.missing(),
	})
}

// addAlarms makes the alarms and, unless the settings name one, their topic.
func (w *watch) addAlarms() []awscloudwatch.Alarm {
	topic := w.addTopic()
	w.addBudget(topic)
	action := awscloudwatchactions.NewSnsAction(topic)
	rules := append(w.apiAlarms(), w.loadAlarms()...)
	rules = append(rules, w.functionAlarms()...)
	rules = append(rules, w.taskAlarms()...)
	rules = append(rules, w.storeAlarms()...)
	rules = append(rules, w.eventAlarms()...)
	rules = append(rules, w.backupAlarms()...)
	rules = append(rules, w.outsideAlarms()...)
	rules = append(rules, w.bellAlarms()...)
	rules = append(rules, w.quotaAlarms()...)
	var alarms []awscloudwatch.Alarm
	for _, a := range rules {
		made := a.make(w.part)
		made.AddAlarmAction(action)
		made.AddOkAction(action)
		alarms = append(alarms, made)
	}
	return alarms
}

func (w *watch) apiAlarms() []alarm {
	api, own, authorizer := w.gateway(), w.own(), w.lambda(operations.Authorizer)
	return []alarm{
		{
			kind: "api-5xx", says: "The service fails more than 1 % of the calls.",
			metric: over("IF(m0 >= 3, 100 * m0 / m1, 0)", "failures, %",
				api.metric("5XXError", sum, ""), api.metric("Count", sum, "")),
			threshold: 1, minutes: 3, of: 5,
		},
		{
			kind: "authorizer-errors", says: "The authorizer cannot check 5 % of the tokens, although the tokens are not at fault.",
			metric:    w.notTheTokens(authorizer),
			threshold: 5, minutes: 3, of: 5,
		},
		{
			kind: "issuer-keys", says: "An issuer's keys cannot be fetched.",
			metric: own.metric("KeyFetchFailures", sum, ""), threshold: 1, minutes: 3, of: 15,
		},
		{
			kind: "limiter-fail-open", says: "Calls are admitted without being counted, because the limiter's table does not answer in time.",
			metric: own.metric(function.LimiterFailOpen, sum, ""), threshold: 5, minutes: 2, of: 5,
		},
		{
			kind: "edge-enrolled-twice", says: "A box redeems an id that another box has: a clone, a stolen code or a replaced board.",
			metric: own.metric(enrolment.Refusals, sum, ""), threshold: 1, minutes: 1, of: 1,
		},
		{
			kind: "reports-not-recorded", says: "The boxes' reports cannot be recorded in time.",
			metric: own.metric(polling.NotRecorded, sum, ""), threshold: 5, minutes: 3, of: 5,
		},
	}
}

// functionAlarms watch the functions in groups: an alarm for each function would soon be several hundred resources.
func (w *watch) functionAlarms() []alarm {
	var alarms []alarm
	for _, g := range w.groups() {
		// The authorizer reports a token that it cannot check as an error, as API Gateway requires. A separate alarm
		// watches the share of its errors.
		if dead := g.without(operations.Authorizer); len(dead.functions) > 0 {
			alarms = append(alarms, alarm{
				kind: "functions-dead", part: g.name, says: "A function crashes or times out.",
				metric:    over("SUM(METRICS())", "errors", w.each(dead, "Errors", sum)...),
				threshold: 3, minutes: 2, of: 5,
			})
		}
		if failures := w.failures(g); len(failures) > 0 {
			alarms = append(alarms, alarm{
				kind: "operations-failing", part: g.name, says: "Operations answer 500, 503 or 504.",
				metric:    over("SUM(METRICS())", "failures", failures...),
				threshold: 3, minutes: 2, of: 5,
			})
		}
		if g.name != copilotGroup && g.name != taskGroup { // these take as long as the assistant or a count takes
			alarms = append(alarms, alarm{
				kind: "functions-late", part: g.name, says: "5 % of a function's calls take a second or more.",
				metric:    over("MAX(METRICS())", "ms", w.each(g, "Duration", p95)...),
				threshold: 1000, minutes: 3, of: 5,
			})
		}
		alarms = append(alarms,
			alarm{
				kind: "functions-throttled", part: g.name, says: "Lambda refuses to run a function: its share or the account's concurrency is used up.",
				metric:    over("SUM(METRICS())", "throttles", w.each(g, "Throttles", sum)...),
				threshold: 1, minutes: 2, of: 5,
			},
			alarm{
				kind: "functions-slow", part: g.name, says: "A function is close to its timeout.",
				metric:    over("MAX(METRICS())", "ms", w.each(g, "Duration", p99)...),
				threshold: 0.8 * g.shortest, minutes: 3, of: 5,
			},
		)
	}
	return alarms
}

// copilotGroup is the group of the functions that wait for the assistant.
const copilotGroup = "copilot"

// failures are the failures that a group's operations count themselves. A function that answers 500 or 503 has not
// crashed, and its answers are too few among a fleet's polls for the alarm on the whole API.
func (w *watch) failures(g group) []awscloudwatch.IMetric {
	var metrics []awscloudwatch.IMetric
	for _, f := range g.functions {
		if slices.ContainsFunc(w.rows, func(op operations.Operation) bool { return op.ID == f }) {
			metrics = append(metrics, w.operation(f).metric("Failures", sum, ""))
		}
	}
	return metrics
}

func (w *watch) storeAlarms() []alarm {
	var alarms []alarm
	var throttles []awscloudwatch.IMetric
	for _, t := range dynamo.Tables {
		throttles = append(throttles,
			w.table(t.ID).metric("ReadThrottleEvents", sum, ""), w.table(t.ID).metric("WriteThrottleEvents", sum, ""))
		for _, i := range t.Indexes {
			if !i.Local { // a local one is counted with its table
				throttles = append(throttles,
					w.index(t.ID, i.Name).metric("ReadThrottleEvents", sum, ""), w.index(t.ID, i.Name).metric("WriteThrottleEvents", sum, ""))
			}
		}
		var errors []awscloudwatch.IMetric
		for _, call := range w.calls(t.ID) {
			errors = append(errors, w.tableCall(t.ID, call).metric("SystemErrors", sum, ""))
		}
		if len(errors) == 0 {
			continue // no operation uses it yet
		}
		alarms = append(alarms, alarm{
			kind: "table-errors", part: string(t.ID), says: "DynamoDB itself fails on the table.",
			metric: over("SUM(METRICS())", "system errors", errors...), threshold: 3, minutes: 2, of: 5,
		})
	}
	part := 0
	for some := range slices.Chunk(throttles, maxMetrics) {
		part++
		alarms = append(alarms, alarm{
			kind: "tables-throttled", part: fmt.Sprint(part), says: "DynamoDB refuses calls: a partition gets more traffic than it can take.",
			metric: over("SUM(METRICS())", "throttles", some...), threshold: 10, minutes: 2, of: 5,
		})
	}
	return alarms
}
