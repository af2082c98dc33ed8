package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

const (
	// outside is the function that calls the service as a stranger would.
	outside = "outside"
	// outsideEvery is how often it calls.
	outsideEvery = 5 * time.Minute
)

// addOutside makes the function and its schedule, if the settings ask for it. It is not a canary of CloudWatch Synthetics,
// because a scheduled function is written and tested like the others, and costs a tenth.
func (w *watch) addOutside() {
	secret := w.settings.OutsideSecret
	if secret == "" {
		return
	}
	spec := helper(outside, "Call the service as a stranger would", map[string]*string{
		"OUTSIDE_URL": jsii.String("https://" + w.settings.Domain.Name), "OUTSIDE_SECRET_ID": &secret,
	})
	spec.timeout, spec.secret = 30*time.Second, w.secretARN(secret)
	f := w.addFunction(spec, jsii.String(w.function(outside)))
	w.addSchedule(outside, spec.description, outsideEvery, f, f.FunctionArn())
}

// outsideAlarms watch what a stranger sees. A check that does not run also counts as failed.
func (w *watch) outsideAlarms() []alarm {
	if w.settings.OutsideSecret == "" {
		return nil
	}
	period := awscdk.Duration_Minutes(jsii.Number(outsideEvery.Minutes()))
	return []alarm{{
		kind: "outside-failing", says: "The service does not answer calls from outside as it should.",
		metric:    w.own().metric("OutsideFailures", sum, "").With(&awscloudwatch.MetricOptions{Period: period}),
		threshold: 1, minutes: 2, of: 3, missed: true,
	}}
}
