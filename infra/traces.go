package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsxray"
	"github.com/aws/jsii-runtime-go"
)

// addTraceRules makes the stage's own sampling rules. X-Ray's default rule traces the first call of each second of each
// function, which costs more for a quiet service than the calls.
func (s *service) addTraceRules() {
	if s.settings.Local() {
		return
	}
	for i, rule := range []struct {
		id, method, path string
		rate             float64
	}{
		{"polls", "GET", "*/update/manifest", 0.001},
		{"ddi", "GET", "*/controller/v1/*", 0.001},
		{"calls", "*", "*", 0.01},
	} {
		awsxray.NewCfnSamplingRule(s.stack, jsii.String("trace-"+rule.id), &awsxray.CfnSamplingRuleProps{
			SamplingRule: &awsxray.CfnSamplingRule_SamplingRuleProperty{
				RuleName: jsii.String(s.name() + "-" + rule.id), Version: jsii.Number(1), Priority: jsii.Number(9000 + i),
				ReservoirSize: jsii.Number(0), FixedRate: &rule.rate,
				ServiceName: jsii.String(s.name() + "*"), ServiceType: jsii.String("*"), Host: jsii.String("*"),
				HttpMethod: &rule.method, UrlPath: &rule.path, ResourceArn: jsii.String("*"),
			},
		})
	}
}
