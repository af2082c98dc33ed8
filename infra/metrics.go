package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/telemetry"
)

// Statistics of CloudWatch.
const (
	sum     = "Sum"
	maximum = "Maximum"
	p50     = "p50"
	p95     = "p95"
	p99     = "p99"
)

// A source is where metrics come from: a namespace and fixed dimensions.
type source struct {
	namespace  string
	dimensions map[string]*string
}

// metric is one metric of a source, with a period of a minute.
func (s source) metric(name, statistic, label string) awscloudwatch.Metric {
	props := &awscloudwatch.MetricProps{
		Namespace: &s.namespace, MetricName: &name, Statistic: &statistic,
		Period: awscdk.Duration_Minutes(jsii.Number(1)),
	}
	if len(s.dimensions) > 0 {
		props.DimensionsMap = &s.dimensions
	}
	if label != "" {
		props.Label = &label
	}
	return awscloudwatch.NewMetric(props)
}

// own are the metrics that the functions write themselves, for the whole deployment; see package telemetry.
func (p part) own() source {
	return source{telemetry.Namespace, map[string]*string{"stage": jsii.String(string(p.settings.Stage))}}
}

func (p part) gateway() source {
	return source{"AWS/ApiGateway", map[string]*string{
		"ApiName": jsii.String(p.name()), "Stage": jsii.String(string(p.settings.Stage)),
	}}
}

// functionName is a function's name in Lambda's metrics; nil: the deployment has no such function.
func (w *watch) functionName(function string) *string {
	switch {
	case function == operations.Docs && !w.settings.Docs, function == operations.Bell && !w.settings.Bell, function == operations.Door && !w.settings.Door:
		return nil
	case function != preTokenGeneration:
		return jsii.String(w.function(function))
	case w.held.pool != nil:
		return w.held.pool.trigger
	}
	return nil
}

func (w *watch) lambda(function string) source {
	name := w.functionName(function)
	return source{"AWS/Lambda", map[string]*string{"FunctionName": name}}
}

func (w *watch) table(id dynamo.TableID) source {
	return source{"AWS/DynamoDB", map[string]*string{"TableName": w.held.tables[id].name}}
}

// maxMetrics is how many metrics one alarm can look at.
const maxMetrics = 10

// helpers are the functions of this deployment that are neither operations nor tasks. The door counts itself, as operations do.
func (w *watch) helpers() []string {
	return slices.DeleteFunc([]string{operations.Authorizer, preTokenGeneration, operations.Docs, operations.Console, operations.Bell},
		func(name string) bool { return w.functionName(name) == nil })
}

// reserved are the functions with a share of the account's concurrent executions. The others use what is left, which the
// alarm on the account's concurrency watches.
func (w *watch) reserved() []string {
	var names []string
	for _, op := range w.rows {
		if w.settings.Concurrency.of(op.ID, op) > 0 {
			names = append(names, op.ID)
		}
	}
	for _, name := range w.helpers() {
		if w.settings.Concurrency.of(name, operations.Operation{}) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// over is a formula over metrics, which it calls m0, m1 and so on.
func over(formula, label string, metrics ...awscloudwatch.IMetric) awscloudwatch.IMetric {
	named := map[string]awscloudwatch.IMetric{}
	for i, m := range metrics {
		named[fmt.Sprintf("m%d", i)] = m
	}
	return formulaOf(formula, label, 1, named)
}

// formulaOf is a formula over named metrics, with a period of some minutes.
func formulaOf(formula, label string, minutes float64, named map[string]awscloudwatch.IMetric) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: &formula, Label: &label, UsingMetrics: &named, Period: awscdk.Duration_Minutes(&minutes),
	})
}

// each returns one metric of every function. They have no labels, to keep the template small: CloudWatch shows the functions'
// names.
func (w *watch) each(functions []string, name, statistic string) []awscloudwatch.IMetric {
	var metrics []awscloudwatch.IMetric
	for _, f := range functions {
		metrics = append(metrics, w.lambda(f).metric(name, statistic, ""))
	}
	return metrics
}
