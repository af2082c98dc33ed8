package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

const (
	// smokeTest is the function that tries new versions.
	smokeTest = "smoke-test"
	// smokeTestTime bounds a smoke test. CloudFormation gives up a little later, should the function not even start.
	smokeTestTime  = 5 * time.Minute
	smokeTestWaits = smokeTestTime + time.Minute
)

// addSmokeTest makes the function that tries new versions, if there are versions.
func (s *service) addSmokeTest() {
	if !s.versioned() {
		return
	}
	spec := helper(smokeTest, "Try new versions before calls reach them", nil)
	spec.timeout = smokeTestTime
	// By the prefix of the stage: to name some ninety functions twice takes more than a role may hold.
	all := s.stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("lambda"), Resource: jsii.String("function"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME, ResourceName: jsii.String(s.function("*")),
	})
	spec.rights = []awsiam.PolicyStatement{allow(texts("lambda:PublishVersion", "lambda:InvokeFunction"), all)}
	s.smokeTest = s.add(spec)
	excuseLike(s.smokeTest.Role(), "AwsSolutions-IAM5", "The smoke test publishes and calls every function of the stage, and a role cannot hold all their names.",
		`/^Resource::arn:.+:function:`+s.function(`\*$/`))
}

// tried has versions tried in a deploy: those given, and those of the functions named, which the smoke test publishes.
// Calls of the named functions go to these. What depends on the custom resource changes after all have passed.
//
// It is another resource for each release, made when a deploy changes a function. So a rollback has nothing to change
// back, and it stays when its stack goes, since there is nothing to delete: neither waits for the function.
func (s *service) tried(id string, versions map[string]awslambda.Version, publish []string) awscdk.CustomResource {
	var names, arns []*string
	for _, name := range publish {
		names = append(names, s.functions[name].FunctionName())
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		arns = append(arns, versions[name].FunctionArn())
	}
	properties := map[string]any{"Prefix": s.function(""), "Publish": names}
	if len(arns) > 0 {
		properties["Versions"] = arns
	}
	all := slices.Concat(publish, slices.Collect(maps.Keys(versions)))
	resource := awscdk.NewCustomResource(s.stack, jsii.String(smokeTest+"-"+id+"-"+s.fingerprint(all)), &awscdk.CustomResourceProps{
		ResourceType: jsii.String("Custom::SmokeTest"), ServiceToken: s.smokeTest.FunctionArn(),
		ServiceTimeout: awscdk.Duration_Seconds(jsii.Number(smokeTestWaits.Seconds())),
		RemovalPolicy:  awscdk.RemovalPolicy_RETAIN, Properties: &properties,
	})
	for _, name := range publish {
		s.live[name] = awscdk.Fn_Join(jsii.String(""), &[]*string{
			s.functions[name].FunctionArn(), jsii.String(":"), resource.GetAttString(jsii.String(operations.VersionAttribute(name))),
		})
	}
	return resource
}

// fingerprint is the same as long as the functions' code and configuration are.
func (s *service) fingerprint(functions []string) string {
	slices.Sort(functions)
	sum := sha256.New()
	for _, name := range functions {
		f := s.functions[name].Node().DefaultChild().(awslambda.CfnFunction)
		b, err := json.Marshal(s.stack.Resolve([]any{
			name, f.Code(), f.Environment(), f.MemorySize(), f.Timeout(), f.Runtime(), f.Architectures(), f.TracingConfig(), f.LoggingConfig(),
		}))
		if err != nil {
			panic(err) // it is what a template holds
		}
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}
