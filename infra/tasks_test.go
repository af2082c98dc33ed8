package main

import (
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// TestTasks_AreCalledByTheirSchedule_AndNotTriedAgain: a retry would run at the same time as the next run.
func TestTasks_AreCalledByTheirSchedule_AndNotTriedAgain(t *testing.T) {
	for stage, template := range stages() {
		schedules := template.of("AWS::Scheduler::Schedule")
		expect.That(t, len(schedules) == len(table.Tasks),
			"%s has %d schedules for %d tasks", stage, len(schedules), len(table.Tasks))
		for _, s := range schedules {
			target := value(s.Properties, "Target")
			function := "${" + template.id(t, "AWS::Lambda::Function", operations.Tick) + ".Arn}"
			if stage == "prod" {
				function += ":${" + releaseOf(t, template) + ".tick}"
			}
			if text(value(target, "Arn")) != function || s.Properties["ScheduleExpression"] != "rate(1 minute)" {
				t.Errorf("%s: %v calls %s", stage, s.Properties["ScheduleExpression"], text(value(target, "Arn")))
			}
			expect.Equal[any](t, value(target, "RetryPolicy", "MaximumRetryAttempts"), 0.0, "%s: the number of further tries of a run is", stage)
		}
	}
}

func TestTasks_AreWatched(t *testing.T) {
	template, seen, missed := prod(), map[string]bool{}, map[string]bool{}
	for _, a := range template.of("AWS::CloudWatch::Alarm") {
		seen[kindOf(t, a)] = true
		missed[kindOf(t, a)] = a.Properties["TreatMissingData"] == "breaching"
	}
	for _, kind := range []string{"tick-failing", "progress-old", "guard-stale", "unreadable", "needs-person"} {
		expect.That(t, seen[kind], "there is no alarm %s", kind)
		if missed[kind] != (kind == "guard-stale") {
			t.Errorf("%s: a minute without figures is bad: %t", kind, missed[kind])
		}
	}
}
