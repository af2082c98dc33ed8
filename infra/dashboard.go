package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// addDashboard makes one page with four questions. Everything on it is by operation, function or
// table, or a question to the logs: nothing grows with the fleet.
func (s *service) addDashboard(alarms []awscloudwatch.Alarm) {
	dashboard := awscloudwatch.NewDashboard(s.stack, jsii.String("dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: s.dashboardName(),
	})
	for _, row := range [][]awscloudwatch.IWidget{
		{heading("Is it healthy?")}, {alarmStates(alarms)}, s.healthy(),
		{heading("Is anyone limited?")}, s.limited(),
		{heading("Are releases moving?")}, s.releases(),
		{heading("What does it cost?")}, s.cost(),
	} {
		dashboard.AddWidgets(row...)
	}
	s.output("DashboardUrl", "The dashboard", awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://console.aws.amazon.com/cloudwatch/home?region="), s.stack.Region(),
		jsii.String("#dashboards/dashboard/"), s.dashboardName(),
	}))
}

// dashboardName names the region, too: an account's dashboards share one set of names.
func (s *service) dashboardName() *string {
	return awscdk.Fn_Join(jsii.String("-"), &[]*string{jsii.String(s.name()), s.stack.Region()})
}

func heading(text string) awscloudwatch.IWidget {
	return awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{
		Markdown: jsii.String("# " + text), Width: jsii.Number(24), Height: jsii.Number(1),
		Background: awscloudwatch.TextWidgetBackground_TRANSPARENT,
	})
}

func alarmStates(alarms []awscloudwatch.Alarm) awscloudwatch.IWidget {
	refs := make([]interfacesawscloudwatch.IAlarmRef, len(alarms))
	for i, a := range alarms {
		refs[i] = a
	}
	return awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
		Title: jsii.String("Alarms"), Alarms: &refs, Width: jsii.Number(24), Height: jsii.Number(4),
		SortBy: awscloudwatch.AlarmStatusWidgetSortBy_STATE_UPDATED_TIMESTAMP,
	})
}

func graph(title string, left, right []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return ofSums(awscloudwatch.GraphWidgetProps{Title: &title, Left: &left, Right: &right})
}

func stacked(title string, metrics []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return ofSums(awscloudwatch.GraphWidgetProps{Title: &title, Left: &metrics, Stacked: jsii.Bool(true)})
}

// ofSums makes a graph that says once that its metrics are sums of a minute, since the dashboard is one text in
// the template. A metric repeats neither when it has CloudWatch's own statistic and period.
func ofSums(props awscloudwatch.GraphWidgetProps) awscloudwatch.IWidget {
	for _, axis := range []*[]awscloudwatch.IMetric{props.Left, props.Right} {
		if axis == nil {
			continue
		}
		for i, m := range *axis {
			if m, ok := m.(awscloudwatch.Metric); ok && *m.Statistic() == sum {
				(*axis)[i] = asWidgetSays(m)
			}
		}
	}
	props.Statistic, props.Period = jsii.String(sum), awscdk.Duration_Minutes(jsii.Number(1))
	props.Width, props.Height = jsii.Number(8), jsii.Number(6)
	return awscloudwatch.NewGraphWidget(&props)
}

// asWidgetSays is the metric without a statistic and a period of its own.
func asWidgetSays(m awscloudwatch.Metric) awscloudwatch.Metric {
	return m.With(&awscloudwatch.MetricOptions{Statistic: jsii.String("Average"), Period: awscdk.Duration_Minutes(jsii.Number(5))})
}

func (s *service) healthy() []awscloudwatch.IWidget {
	api, authorizer, own := s.gateway(), s.lambda(operations.Authorizer), s.own()
	var dead, failing, refused, store []awscloudwatch.IMetric
	for _, g := range s.groups() {
		dead = append(dead, s.each(g, "Errors", sum)...)
		failing = append(failing, s.failures(g)...)
		refused = append(refused, s.each(g, "Throttles", sum)...)
	}
	for _, t := range dynamo.Tables {
		for _, call := range s.calls(t.ID) {
			store = append(store, s.tableCall(t.ID, call).metric("SystemErrors", sum, string(t.ID)+" "+call))
		}
	}
	return []awscloudwatch.IWidget{
		graph("Answers a minute", []awscloudwatch.IMetric{
			api.metric("Count", sum, "all"), api.metric("4XXError", sum, "refused (4xx)"), api.metric("5XXError", sum, "failed (5xx)"),
		}, nil),
		graph("Latency, ms", []awscloudwatch.IMetric{
			api.metric("Latency", p50, p50), api.metric("Latency", p95, p95), api.metric("Latency", p99, p99),
		}, nil),
		graph("Authorizer", []awscloudwatch.IMetric{
			authorizer.metric("Invocations", sum, "tokens looked at"), authorizer.metric("Errors", sum, "not judged"),
			own.metric("TokenRefusals", sum, "refused"),
			own.metric("KeyFetchFailures", sum, "keys not fetched"),
		}, []awscloudwatch.IMetric{authorizer.metric("Duration", p95, "p95, ms")}),
		stacked("Function errors", dead),
		stacked("Failures by operation", failing),
		stacked("Functions throttled", refused),
		stacked("DynamoDB system errors", store),
	}
}

func (s *service) limited() []awscloudwatch.IWidget {
	own := s.own()
	return []awscloudwatch.IWidget{
		graph("Calls over a fair-use limit, and calls let through uncounted",
			[]awscloudwatch.IMetric{own.metric("Limited", sum, "limited")},
			[]awscloudwatch.IMetric{own.metric(function.LimiterFailOpen, sum, "uncounted")}),
		s.accessLogs("Who was limited", "status = 429", "count(*) as calls by organizationId, userId, issuer"),
		s.accessLogs("Throttled by the gateway itself", "error = 'THROTTLED'", "count(*) as calls by bin(5m)"),
	}
}

// accessLogs asks the access logs who, which metrics must not: a metric a caller would cost with
// the fleet.
func (s *service) accessLogs(title, filter, stats string) awscloudwatch.IWidget {
	return awscloudwatch.NewLogQueryWidget(&awscloudwatch.LogQueryWidgetProps{
		Title: &title, LogGroupNames: &[]*string{s.access.LogGroupName()},
		QueryLines: &[]*string{jsii.String("filter " + filter), jsii.String("stats " + stats), jsii.String("limit 20")},
		View:       awscloudwatch.LogQueryVisualizationType_TABLE,
		Width:      jsii.Number(8), Height: jsii.Number(6),
	})
}

func (s *service) releases() []awscloudwatch.IWidget {
	var changes, polls, slow []awscloudwatch.IMetric
	for _, op := range s.rows {
		switch {
		case slices.Contains(op.Roles, auth.Edge):
			polls = append(polls, s.lambda(op.ID).metric("Invocations", sum, op.Summary))
			slow = append(slow, s.lambda(op.ID).metric("Duration", p95, op.Summary+", p95 ms"))
		case op.Method != "GET" && slices.ContainsFunc(op.Grants, func(g operations.Grant) bool {
			return g.Table == dynamo.Channels || g.Table == dynamo.Rollouts
		}):
			changes = append(changes, s.lambda(op.ID).metric("Invocations", sum, op.Summary))
		}
	}
	widgets := []awscloudwatch.IWidget{
		graph("Releases and rollouts, calls a minute", changes, nil),
		s.accessLogs("Steps taken", "operation like /release-channels|rollouts/ and operation not like /GET/ and status < 300",
			"count(*) as steps by operation, path"),
	}
	if len(polls) > 0 {
		widgets = append(widgets, graph("What boxes ask for", polls, slow))
	}
	return widgets
}

func (s *service) cost() []awscloudwatch.IWidget {
	var compute, reads, writes, logs []awscloudwatch.IMetric
	for _, g := range s.groups() {
		for _, f := range g.functions {
			if s.functions[f] == nil {
				continue // the pool's trigger, which is called at a log-in alone
			}
			compute = append(compute, s.gigabyteSeconds(f))
			logs = append(logs, source{"AWS/Logs", map[string]*string{"LogGroupName": s.logs[f].LogGroupName()}}.metric("IncomingBytes", sum, f))
		}
	}
	logs = append(logs, source{"AWS/Logs", map[string]*string{"LogGroupName": s.access.LogGroupName()}}.metric("IncomingBytes", sum, "access"))
	for _, t := range dynamo.Tables {
		reads = append(reads, s.table(t.ID).metric("ConsumedReadCapacityUnits", sum, string(t.ID)))
		writes = append(writes, s.table(t.ID).metric("ConsumedWriteCapacityUnits", sum, string(t.ID)))
	}
	return []awscloudwatch.IWidget{
		stacked("Functions, GB-seconds", compute),
		stacked("DynamoDB, read units", reads),
		stacked("DynamoDB, write units", writes),
		stacked("Logs, bytes taken in", logs),
		graph("API calls", []awscloudwatch.IMetric{s.gateway().metric("Count", sum, "calls")}, nil),
	}
}

// gigabyteSeconds is what Lambda bills a function's calls by. In one graph, no two metrics may have
// one id.
func (s *service) gigabyteSeconds(function string) awscloudwatch.IMetric {
	id := "d" + strings.ReplaceAll(function, "-", "_")
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression:   jsii.String(fmt.Sprintf("%s / 1000 * %g", id, s.memory[function]/1024)),
		Label:        &function,
		UsingMetrics: &map[string]awscloudwatch.IMetric{id: asWidgetSays(s.lambda(function).metric("Duration", sum, ""))},
		Period:       awscdk.Duration_Minutes(jsii.Number(5)), // left out of the text, so that the widget's holds
	})
}
