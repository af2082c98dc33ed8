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
	// smokeTestTime bounds a smoke test. CloudFormation gives up a little later, in case the function does not even start.
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
	// By the deployment's prefix: the names of some ninety functions, twice each, exceed the size of a role's policies.
	all := s.stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("lambda"), Resource: jsii.String("function"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME, ResourceName: jsii.String(s.function("*")),
	})
	spec.rights = []awsiam.PolicyStatement{allow(texts("lambda:PublishVersion", "lambda:InvokeFunction"), all)}
	s.smokeTest = s.add(spec)
	excuseLike(s.smokeTest.Role(), "AwsSolutions-IAM5", "The smoke test publishes and calls every function of the deployment, and a role's policies have no room for all names.",
		`/^Resource::arn:.+:function:`+s.function(`\*$/`))
}

// tried makes a deploy test versions: the given ones, and those of the named functions, which the smoke test publishes and
// to which calls of these functions then go. Resources that depend on the custom resource change after all have passed.
//
// Each release that changes a function makes a new custom resource, which is retained. So neither a rollback nor a
// deletion of the stack has to wait for the function.
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

// fingerprint changes if and only if the functions' code or configuration does.
func (s *service) fingerprint(functions []string) string {
	slices.Sort(functions)
	sum := sha256.New()
	for _, name := range functions {
		f := s.functions[name].Node().DefaultChild().(awslambda.CfnFunction)
		b, err := json.Marshal(s.stack.Resolve([]any{
			name, f.Code(), f.Environment(), f.MemorySize(), f.Timeout(), f.Runtime(), f.Architectures(), f.TracingConfig(), f.LoggingConfig(),
		}))
		if err != nil {
			panic(err) // templates are JSON
		}
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}
