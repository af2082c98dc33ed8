package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/ratelimit"
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
	// learnt replaces the threshold: the metric must be this many standard deviations below or above what CloudWatch has learned to
	// expect. 0: the threshold counts.
	learnt float64
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
	if a.learnt > 0 {
		return awscloudwatch.NewAnomalyDetectionAlarm(p.stack, id, &awscloudwatch.AnomalyDetectionAlarmProps{
			AlarmName: full, AlarmDescription: description, Metric: a.metric, StdDevs: &a.learnt,
			ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_LOWER_OR_GREATER_THAN_UPPER_THRESHOLD,
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
	rules := slices.Concat(w.apiAlarms(), w.loadAlarms(), w.functionAlarms(), w.taskAlarms(), w.storeAlarms(), w.eventAlarms(), w.backupAlarms(),
		w.outsideAlarms(), w.bellAlarms(), w.doorAlarms(), w.artifactAlarms(), w.quotaAlarms())
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
			kind: "functions-dead", says: "Functions crash, time out or do not start.",
			// A function that answers 500, 503 or 504 has not crashed, and counts itself.
			metric: over("m0 - FILL(m1, 0)", "crashes",
				api.metric("5XXError", sum, ""), own.metric("Failures", sum, "")),
			threshold: 3, minutes: 2, of: 5,
		},
		{
			kind: "operations-failing", says: "Operations answer 500, 503 or 504.",
			metric: own.metric("Failures", sum, ""), threshold: 3, minutes: 2, of: 5,
		},
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
		{
			kind: "boxes-too-frequent", says: "Boxes that call more than twice as often as told cost 10 dollars a month more.",
			metric:    own.metric(polling.FrequentDollars, sum, "").With(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Hours(jsii.Number(1))}),
			threshold: 10, minutes: 2, of: 3,
		},
	}
}

// functionAlarms watch how long functions take, and whether Lambda runs them. What operations do, they count themselves with
// the stage as the only dimension: a metric of each function would cost more than everything else before the first box.
func (w *watch) functionAlarms() []alarm {
	own := w.own()
	helpers := w.helpers()
	called := slices.Clone(helpers) // by machines, so often that only a share of late calls means something
	if w.settings.Door {
		called = append(called, operations.Door)
	}
	for _, op := range w.rows {
		if slices.Contains(op.Roles, auth.Edge) {
			called = append(called, op.ID)
		}
	}
	alarms := []alarm{
		{
			kind: "functions-late", part: "people", says: "Three calls by people took a second or more.",
			metric:    own.metric(lambdahttp.Late, sum, "").With(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Minutes(jsii.Number(15))}),
			threshold: 3, minutes: 1, of: 1,
		},
		{
			kind: "functions-slow", part: "operations", says: "Calls take 80 % of their function's timeout.",
			metric: own.metric(lambdahttp.NearTimeout, sum, ""), threshold: 1, minutes: 3, of: 5,
		},
		{
			kind: "functions-slow", says: "A function is close to its timeout.",
			metric:    over("MAX(METRICS())", "ms", w.each(helpers, "Duration", p99)...),
			threshold: 0.8 * float64(operations.HelperTimeout.Milliseconds()), minutes: 3, of: 5,
		},
	}
	part := 0
	for some := range slices.Chunk(called, maxMetrics) {
		part++
		alarms = append(alarms, alarm{
			kind: "functions-late", part: fmt.Sprint(part), says: "5 % of a function's calls take a second or more.",
			metric:    over("MAX(METRICS())", "ms", w.each(some, "Duration", p95)...),
			threshold: 1000, minutes: 3, of: 5,
		})
	}
	// A copilot's share is meant to be used up, and boxes send a report again; the API's failures show both.
	reserved := slices.DeleteFunc(w.reserved(), func(name string) bool {
		return name == reported || name == ddiReported || slices.ContainsFunc(w.rows, func(op operations.Operation) bool {
			return op.ID == name && op.Limit == ratelimit.Copilot
		})
	})
	if len(reserved) > 0 {
		alarms = append(alarms, alarm{
			kind: "functions-throttled", says: "Lambda refuses to run a function: its share of the account's concurrency is used up.",
			metric:    over("SUM(METRICS())", "throttles", w.each(reserved, "Throttles", sum)...),
			threshold: 1, minutes: 2, of: 5,
		})
	}
	if w.functionName(preTokenGeneration) != nil { // Cognito calls it, so the API's failures do not show its own
		alarms = append(alarms, alarm{
			kind: "functions-dead", part: "sign-in", says: "The function that completes the pool's tokens crashes or times out.",
			metric: w.lambda(preTokenGeneration).metric("Errors", sum, ""), threshold: 3, minutes: 2, of: 5,
		})
	}
	return alarms
}

// storeAlarms watch what the functions see of DynamoDB: attempts, so that a retry hides nothing.
func (w *watch) storeAlarms() []alarm {
	own := w.own()
	return []alarm{
		{
			kind: "table-errors", says: "DynamoDB fails, or does not answer.",
			metric: own.metric(dynamo.StoreErrors, sum, ""), threshold: 3, minutes: 2, of: 5,
		},
		{
			kind: "tables-throttled", says: "DynamoDB refuses calls: a partition gets more traffic than it can take.",
			metric: own.metric(dynamo.StoreThrottled, sum, ""), threshold: 10, minutes: 2, of: 5,
		},
	}
}
