package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
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
	case function == operations.Docs && !w.settings.Docs, function == operations.Bell && !w.settings.Bell:
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

// index are a global index's metrics, which its table's metrics do not include.
func (w *watch) index(id dynamo.TableID, name string) source {
	t := w.table(id)
	t.dimensions["GlobalSecondaryIndexName"] = &name
	return t
}

// operation are the metrics that a function writes about its calls.
func (p part) operation(id string) source {
	own := p.own()
	own.dimensions["operation"] = &id
	return own
}

// tableCall are a table's metrics by the kind of call, as DynamoDB counts its own errors.
func (w *watch) tableCall(id dynamo.TableID, call string) source {
	t := w.table(id)
	t.dimensions["Operation"] = &call
	return t
}

// calls lists the kinds of DynamoDB calls that the operations make on a table. Writes count as transactions, except for
// the single update of a counter.
func (w *watch) calls(id dynamo.TableID) []string {
	made := map[string]bool{}
	for _, op := range w.rows {
		for _, g := range op.Grants {
			if g.Table != id {
				continue
			}
			for _, a := range g.Actions {
				switch a {
				case dynamo.Get, dynamo.BatchGet, dynamo.Query:
					made[string(a)] = true
				case dynamo.Update:
					made[string(a)], made["TransactWriteItems"] = true, true
				default:
					made["TransactWriteItems"] = true
				}
			}
			if len(g.Indexes) > 0 {
				made[string(dynamo.Query)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(made))
}

// maxMetrics is how many metrics one alarm can look at.
const maxMetrics = 10

// A group is a set of functions that share alarms: those under one segment of the paths, divided by how many metrics an
// alarm can have.
type group struct {
	name      string
	functions []string
	// shortest is the shortest timeout among them, in milliseconds.
	shortest float64
}

// groups divides the operations by the segment after /api. The functions for identity are one more group, and each page
// is another.
func (w *watch) groups() []group {
	var groups []group
	add := func(name, function string, timeout float64) {
		portion := 1
		for i := range groups {
			if base, _, _ := strings.Cut(groups[i].name, "."); base != name {
				continue
			}
			if len(groups[i].functions) < maxMetrics {
				groups[i].functions = append(groups[i].functions, function)
				groups[i].shortest = min(groups[i].shortest, timeout)
				return
			}
			portion++
		}
		if portion > 1 {
			name = fmt.Sprintf("%s.%d", name, portion)
		}
		groups = append(groups, group{name, []string{function}, timeout})
	}
	for _, op := range w.rows {
		add(strings.Split(op.Path, "/")[2], op.ID, float64(op.Timeout.Milliseconds()))
	}
	for _, task := range table.Tasks {
		add(taskGroup, task.ID, float64(task.Timeout.Milliseconds()))
	}
	for _, helper := range []struct{ group, name string }{
		{"identity", operations.Authorizer}, {"identity", preTokenGeneration}, {"docs", operations.Docs}, {"console", operations.Console}, {"bell", operations.Bell},
	} {
		if w.functionName(helper.name) != nil {
			add(helper.group, helper.name, float64(operations.HelperTimeout.Milliseconds()))
		}
	}
	return groups
}

// without is the group without a function.
func (g group) without(function string) group {
	g.functions = slices.DeleteFunc(slices.Clone(g.functions), func(f string) bool { return f == function })
	return g
}

// over is a formula over metrics, which it calls m0, m1 and so on.
func over(formula, label string, metrics ...awscloudwatch.IMetric) awscloudwatch.IMetric {
	named := map[string]awscloudwatch.IMetric{}
	for i, m := range metrics {
		named[fmt.Sprintf("m%d", i)] = m
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: &formula, Label: &label, UsingMetrics: &named,
		Period: awscdk.Duration_Minutes(jsii.Number(1)),
	})
}

// each returns one metric of every function of a group. They have no labels, to keep the template small: CloudWatch shows
// the functions' names.
func (w *watch) each(g group, name, statistic string) []awscloudwatch.IMetric {
	var metrics []awscloudwatch.IMetric
	for _, f := range g.functions {
		metrics = append(metrics, w.lambda(f).metric(name, statistic, ""))
	}
	return metrics
}
