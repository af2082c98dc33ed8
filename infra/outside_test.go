package main

import (
	"slices"
	"strings"
	"testing"
)

// TestOutside_GoesByThePublicName_AndMayReadItsSecretAlone, and is off unless a secret is set.
func TestOutside_GoesByThePublicName_AndMayReadItsSecretAlone(t *testing.T) {
	template := full()
	f := template.Resources[template.id(t, "AWS::Lambda::Function", outside)].Properties
	env := value(f, "Environment", "Variables")
	if value(env, "OUTSIDE_URL") != "https://api.wavegate.example" || value(env, "OUTSIDE_SECRET_ID") != "wavegate/outside" {
		t.Errorf("its environment is %v", env)
	}
	role := strings.TrimSuffix(strings.Trim(text(f["Role"]), "${}"), ".Arn")
	for _, right := range allowances(template.Resources[role]) {
		fields := strings.Fields(right)
		if !slices.Contains([]string{"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords", "kms:Decrypt"}, fields[1]) &&
			right != "Allow secretsmanager:GetSecretValue arn:aws:secretsmanager:eu-central-1:111122223333:secret:wavegate/outside-??????" {
			t.Errorf("it may %s", right)
		}
	}
	schedule := template.Resources["outsideschedule"]
	if schedule.Properties["ScheduleExpression"] != "rate(5 minutes)" {
		t.Errorf("it is called at %v", schedule.Properties)
	}
	a := theAlarm(t, template.template, "outside-failing")
	if a.Properties["TreatMissingData"] != "breaching" || a.Properties["MetricName"] != "OutsideFailures" || a.Properties["Period"] != 300.0 {
		t.Errorf("it is watched by %v", a.Properties)
	}
	for id := range prod().of("AWS::Lambda::Function") {
		if strings.HasPrefix(id, outside) {
			t.Errorf("there is %s without the setting", id)
		}
	}
}

func TestSettings_Outside_NeedsADomain(t *testing.T) {
	if _, err := ReadSettings(prodContext("outsideSecret", "wavegate/outside")); err == nil || !strings.Contains(err.Error(), "outsideSecret: ") {
		t.Errorf("%v", err)
	}
}
