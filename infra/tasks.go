package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
)

// taskAlarms watch the results of the tasks. A task runs once a minute, so the alarms on functions, which need several
// errors in a minute, never go off for it.
func (w *watch) taskAlarms() []alarm {
	tick := w.lambda(operations.Tick)
	return []alarm{
		{
			kind: "tick-failing", says: "The active rollouts cannot be counted.",
			metric: tick.metric("Errors", sum, ""), threshold: 1, minutes: 3, of: 5,
		},
		{
			kind: "progress-old", says: "An active rollout was not counted for three minutes.",
			metric: w.own().metric("ProgressAge", maximum, ""), threshold: 180, minutes: 3, of: 5,
		},
		{
			kind: "guard-stale", says: "The guard has not judged a rollout for five minutes, or has not reported it.",
			metric: w.own().metric("VerdictAge", maximum, ""), threshold: 300, minutes: 3, of: 5, missed: true,
		},
		{
			kind: "unreadable", says: "A rollout, its policy or a box cannot be read, and is missing from the counts.",
			metric: w.own().metric("Unreadable", maximum, ""), threshold: 1, minutes: 3, of: 5,
		},
		{
			kind: "gone-bad", says: "A release that is at 100 percent or completed seems bad.",
			metric: w.own().metric("GoneBad", maximum, ""), threshold: 1, minutes: 1, of: 1,
		},
		{
			kind: "needs-person", says: "A rollout waits for a person, and does not go on by itself.",
			metric: w.own().metric("NeedPerson", maximum, ""), threshold: 1, minutes: 1, of: 1,
		},
	}
}

// addTasks makes the functions that a schedule calls.
func (s *service) addTasks() {
	for _, task := range table.Tasks {
		s.add(functionSpec{
			name: task.ID, description: task.Summary, memoryMB: task.MemoryMB, timeout: task.Timeout,
			grants: task.Grants, environment: s.operationEnvironment(task.Operation),
			reserved: s.settings.Concurrency.of(task.ID, task.Operation),
		})
	}
}

// addSchedules makes the tasks' schedules.
func (s *service) addSchedules() {
	for _, task := range table.Tasks {
		s.addSchedule(task.ID, task.Summary, task.Every, s.functions[task.ID], s.called(task.ID))
	}
}

// addSchedule makes a schedule for a function, or for the version of it in target. A failed run is not retried: the next
// run does its work, and a retry would run at the same time.
func (p part) addSchedule(id, summary string, every time.Duration, f awslambda.Function, target *string) {
	statements := []awsiam.PolicyStatement{allow(texts("lambda:InvokeFunction"), f.FunctionArn(), anyVersion(f))}
	role := awsiam.NewRole(p.stack, jsii.String(id+"-schedule-role"), &awsiam.RoleProps{
		Description: jsii.String("What the schedule of " + id + " may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"invoke": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	excuseVersions(role)
	unit := "minutes"
	if every == time.Minute {
		unit = "minute"
	}
	awsscheduler.NewCfnSchedule(p.stack, jsii.String(id+"-schedule"), &awsscheduler.CfnScheduleProps{
		Description:        &summary,
		ScheduleExpression: jsii.String(fmt.Sprintf("rate(%d %s)", int(every.Minutes()), unit)),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: target, RoleArn: role.RoleArn(),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumRetryAttempts: jsii.Number(0), MaximumEventAgeInSeconds: jsii.Number(every.Seconds()),
			},
		},
	})
}
