package main

import (
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestOutside_GoesByThePublicName_AndMayReadItsSecretAlone, and is off unless a secret is set.
func TestOutside_GoesByThePublicName_AndMayReadItsSecretAlone(t *testing.T) {
	template := full()
	f := template.function(t, outside)
	env := environment(f)
	has(t, env, map[string]any{"OUTSIDE_URL": "https://api.wavegate.example", "OUTSIDE_SECRET_ID": "wavegate/outside"}, "its environment")
	for _, right := range allowances(template.role(f)) {
		fields := strings.Fields(right)
		if !slices.Contains([]string{"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords", "kms:Decrypt"}, fields[1]) &&
			right != "Allow secretsmanager:GetSecretValue arn:aws:secretsmanager:eu-central-1:111122223333:secret:wavegate/outside-??????" {
			t.Errorf("it may %s", right)
		}
	}
	schedule := template.Resources["outsideschedule"]
	expect.Equal[any](t, schedule.Properties["ScheduleExpression"], "rate(5 minutes)", "it is called at")
	a := theAlarm(t, template.template, "outside-failing")
	has(t, a.Properties, map[string]any{"TreatMissingData": "breaching", "MetricName": "OutsideFailures", "Period": 300.0}, "its alarm")
}
