package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/function"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
)

// addDashboard makes one page with four questions. It has at most 50 metrics, because CloudWatch charges for a page with more.
func (w *watch) addDashboard(alarms []awscloudwatch.Alarm) {
	dashboard := awscloudwatch.NewDashboard(w.stack, jsii.String("dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: w.dashboardName(),
	})
	for _, row := range [][]awscloudwatch.IWidget{
		{heading("Is it healthy?")}, alarmStates(alarms), w.healthy(),
		{heading("Is anyone limited?")}, w.limited(),
		{heading("Are releases moving?")}, w.releases(),
		{heading("What does it cost?")}, w.cost(),
	} {
		dashboard.AddWidgets(row...)
	}
	w.output("DashboardUrl", "The dashboard", awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://console.aws.amazon.com/cloudwatch/home?region="), w.stack.Region(),
		jsii.String("#dashboards/dashboard/"), w.dashboardName(),
	}))
}

// dashboardName contains the region, because an account's dashboards share one set of names.
func (w *watch) dashboardName() *string {
	return awscdk.Fn_Join(jsii.String("-"), &[]*string{jsii.String(w.name()), w.stack.Region()})
}

func heading(text string) awscloudwatch.IWidget {
	return awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{
		Markdown: jsii.String("# " + text), Width: jsii.Number(24), Height: jsii.Number(1),
		Background: awscloudwatch.TextWidgetBackground_TRANSPARENT,
	})
}

// alarmStates shows the alarms, if there are any.
func alarmStates(alarms []awscloudwatch.Alarm) []awscloudwatch.IWidget {
	if len(alarms) == 0 {
		return nil
	}
	refs := make([]interfacesawscloudwatch.IAlarmRef, len(alarms))
	for i, a := range alarms {
		refs[i] = a
	}
	return []awscloudwatch.IWidget{awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
		Title: jsii.String("Alarms"), Alarms: &refs, Width: jsii.Number(24), Height: jsii.Number(4),
		SortBy: awscloudwatch.AlarmStatusWidgetSortBy_STATE_UPDATED_TIMESTAMP,
	})}
}

func graph(title string, left, right []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return ofSums(awscloudwatch.GraphWidgetProps{Title: &title, Left: &left, Right: &right})
}

func stacked(title string, metrics []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return ofSums(awscloudwatch.GraphWidgetProps{Title: &title, Left: &metrics, Stacked: jsii.Bool(true)})
}

// ofSums makes a graph that states once that its metrics are sums of a minute, which keeps the dashboard's text in the
// template short. A metric with CloudWatch's default statistic and period repeats neither.
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

// asWidgetSays is the metric without its own statistic and period.
func asWidgetSays(m awscloudwatch.Metric) awscloudwatch.Metric {
	return m.With(&awscloudwatch.MetricOptions{Statistic: jsii.String("Average"), Period: awscdk.Duration_Minutes(jsii.Number(5))})
}

func (w *watch) healthy() []awscloudwatch.IWidget {
	api, authorizer, own := w.gateway(), w.lambda(operations.Authorizer), w.own()
	widgets := []awscloudwatch.IWidget{
		graph("Answers a minute", []awscloudwatch.IMetric{
			api.metric("Count", sum, "all"), api.metric("4XXError", sum, "refused (4xx)"), api.metric("5XXError", sum, "failed (5xx)"),
		}, nil),
		graph("Latency, ms", []awscloudwatch.IMetric{
			api.metric("Latency", p50, p50), api.metric("Latency", p95, p95), api.metric("Latency", p99, p99),
		}, nil),
		graph("Authorizer", []awscloudwatch.IMetric{
			authorizer.metric("Invocations", sum, "tokens checked"), authorizer.metric("Errors", sum, "not checked"),
			own.metric("TokenRefusals", sum, "refused"),
			own.metric("KeyFetchFailures", sum, "keys not fetched"),
		}, []awscloudwatch.IMetric{authorizer.metric("Duration", p95, "p95, ms")}),
		graph("Failures, and calls that take long", []awscloudwatch.IMetric{
			own.metric("Failures", sum, "failed"), own.metric(lambdahttp.Late, sum, "late"), own.metric(lambdahttp.NearTimeout, sum, "near the timeout"),
		}, nil),
		graph("DynamoDB, attempts that it does not serve", []awscloudwatch.IMetric{
			own.metric(dynamo.StoreErrors, sum, "errors"), own.metric(dynamo.StoreThrottled, sum, "throttled"),
		}, nil),
		saved("What fails, what takes long, and which operation it is"),
	}
	if reserved := w.reserved(); len(reserved) > 0 {
		widgets = append(widgets, stacked("Functions throttled", w.each(reserved, "Throttles", sum)))
	}
	return widgets
}

func (w *watch) limited() []awscloudwatch.IWidget {
	own := w.own()
	return []awscloudwatch.IWidget{
		graph("Calls over a fair-use limit, and calls admitted uncounted",
			[]awscloudwatch.IMetric{own.metric("Limited", sum, "limited")},
			[]awscloudwatch.IMetric{own.metric(function.LimiterFailOpen, sum, "uncounted")}),
		graph("Refused with 429, %", []awscloudwatch.IMetric{w.throttled(), w.limitedShare()}, nil),
		saved("Who was limited, and whom API Gateway throttled"),
	}
}

// saved points to the saved queries. A widget that queries the logs would do so every minute while the page is open: with
// a large fleet's access logs, that costs some hundred dollars a day.
func saved(question string) awscloudwatch.IWidget {
	return awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{
		Markdown: jsii.String("**" + question + "**: CloudWatch, Logs Insights, saved queries."), Width: jsii.Number(8), Height: jsii.Number(6),
	})
}

func (w *watch) releases() []awscloudwatch.IWidget {
	var polls, slow []awscloudwatch.IMetric
	for _, op := range w.rows {
		if op.Sampled {
			polls = append(polls, w.lambda(op.ID).metric("Invocations", sum, op.Summary))
			slow = append(slow, w.lambda(op.ID).metric("Duration", p95, op.Summary+", p95 ms"))
		}
	}
	widgets := []awscloudwatch.IWidget{saved("Which steps were taken")}
	if len(polls) > 0 {
		widgets = append(widgets, graph("What boxes ask for", polls, slow), graph("Boxes that poll", []awscloudwatch.IMetric{w.polling()}, nil))
	}
	return widgets
}

// cost shows what grows with the fleet and with rollouts.
func (w *watch) cost() []awscloudwatch.IWidget {
	var compute, units []awscloudwatch.IMetric
	for _, op := range w.rows {
		if op.Sampled {
			compute = append(compute, w.gigabyteSeconds(op.ID))
		}
	}
	compute = append(compute, w.gigabyteSeconds(operations.Authorizer), w.gigabyteSeconds(operations.Tick))
	for _, id := range watchedTables {
		units = append(units, w.table(id).metric("ConsumedReadCapacityUnits", sum, string(id)+", read"),
			w.table(id).metric("ConsumedWriteCapacityUnits", sum, string(id)+", written"))
	}
	return []awscloudwatch.IWidget{
		stacked("Functions, GB-seconds", compute),
		stacked("DynamoDB, units", units),
		stacked("Logs of the account, bytes ingested", []awscloudwatch.IMetric{source{"AWS/Logs", nil}.metric("IncomingBytes", sum, "")}),
		graph("API calls", []awscloudwatch.IMetric{w.gateway().metric("Count", sum, "calls")}, nil),
	}
}

// memory is a function's, in MB.
func (w *watch) memory(function string) float64 {
	rows := slices.Clone(w.rows)
	for _, task := range table.Tasks {
		rows = append(rows, task.Operation)
	}
	for _, op := range rows {
		if op.ID == function {
			return float64(op.MemoryMB)
		}
	}
	return operations.HelperMemoryMB
}

// gigabyteSeconds is the unit by which Lambda bills a function's calls. Two metrics of a graph must not have the same id.
func (w *watch) gigabyteSeconds(function string) awscloudwatch.IMetric {
	id := "d" + strings.ReplaceAll(function, "-", "_")
	return formulaOf(fmt.Sprintf("%s / 1000 * %g", id, w.memory(function)/1024), function,
		5, // the widget's own period, so that the text omits it
		map[string]awscloudwatch.IMetric{id: asWidgetSays(w.lambda(function).metric("Duration", sum, ""))})
}
