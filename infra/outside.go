package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

const (
	// outside is the function that looks at the service as a stranger would.
	outside = "outside"
	// outsideEvery is how often it looks.
	outsideEvery = 5 * time.Minute
)

// addOutside makes the function and its schedule, if the settings want it. It is a function on a schedule and no canary of
// CloudWatch Synthetics: it is written and tested like the others, and costs a fifth.
func (w *watch) addOutside() {
	secret := w.settings.OutsideSecret
	if secret == "" {
		return
	}
	spec := helper(outside, "Look at the service as a stranger would", map[string]*string{
		"OUTSIDE_URL": jsii.String("https://" + w.settings.Domain.Name), "OUTSIDE_SECRET_ID": &secret,
	})
	spec.timeout, spec.secret = 30*time.Second, w.secretARN(secret)
	f := w.addFunction(spec, jsii.String(w.function(outside)))
	w.addSchedule(outside, spec.description, outsideEvery, f, f.FunctionArn())
}

// outsideAlarms watch what a stranger sees. A check that does not run sees nothing, which is bad as well.
func (w *watch) outsideAlarms() []alarm {
	if w.settings.OutsideSecret == "" {
		return nil
	}
	period := awscdk.Duration_Minutes(jsii.Number(outsideEvery.Minutes()))
	return []alarm{{
		kind: "outside-failing", says: "The service does not answer a stranger as it should.",
		metric:    w.operation(outside).metric("OutsideFailures", sum, "").With(&awscloudwatch.MetricOptions{Period: period}),
		threshold: 1, minutes: 2, of: 3, missed: true,
	}}
}
