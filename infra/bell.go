package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/setting"
)

// A bellRef is the URL at which boxes listen, and the ARN of the secret from which the addresses are made. Both are nil
// without a bell.
type bellRef struct{ url, secret *string }

// addBell makes the function at which boxes listen for changes, its URL and its secret, if the settings ask for it. It
// has its own URL, because API Gateway would cost fifteen times as much as the rest of a call.
func (s *service) addBell() {
	if !s.settings.Bell {
		return
	}
	secret := awssecretsmanager.NewCfnSecret(s.stack, jsii.String("bell-secret"), &awssecretsmanager.CfnSecretProps{
		Description: jsii.String("Makes the addresses of the bell"), KmsKeyId: nonEmpty(s.settings.KMSKeyARN),
		GenerateSecretString: &awssecretsmanager.CfnSecret_GenerateSecretStringProperty{
			PasswordLength: jsii.Number(48), ExcludePunctuation: jsii.Bool(true),
		},
	})
	secret.ApplyRemovalPolicy(s.removal(), nil)
	excuse(secret, "AwsSolutions-SMG4", "It reveals nothing but what any box of a channel hears. A new value moves every box to a new address, "+
		"so operators set one only after an address has leaked.")
	spec := helper(operations.Bell, "Tell boxes that something has changed", s.bellEnvironment())
	spec.environment[string(setting.BellSecretID)] = secret.Ref()
	spec.grants, spec.secret = operations.BellGrants, secret.Ref()
	spec.reserved = s.settings.Concurrency.of(operations.Bell, operations.Operation{})
	spec.sampled, spec.untraced = true, true
	s.add(spec)
	url := s.urlOf(operations.Bell, "bell")
	s.output("BellUrl", "The URL at which boxes listen", url)
	s.bell = bellRef{url, secret.Ref()}
	if given := s.settings.BellURL; given != "" {
		s.bell.url = &given
	}
}

// urlOf makes the URL of a function: of its alias or, without versions, of the function itself. The function has its own smoke
// test, named by part, because the other functions need the URL before they can be made.
func (s *service) urlOf(function, part string) *string {
	var to awslambda.IFunction = s.functions[function]
	if s.versioned() {
		passed := s.tried(part, nil, []string{function})
		version := awslambda.Version_FromVersionAttributes(s.stack, jsii.String(part+"-version"), &awslambda.VersionAttributes{
			Lambda: to, Version: passed.GetAttString(jsii.String(operations.VersionAttribute(function))),
		})
		to = awslambda.NewAlias(s.stack, jsii.String(alias+"-"+function), &awslambda.AliasProps{AliasName: jsii.String(alias), Version: version})
	}
	return to.AddFunctionUrl(&awslambda.FunctionUrlOptions{AuthType: awslambda.FunctionUrlAuthType_NONE}).Url()
}

// bellEnvironment gives the bell's function its settings.
func (s *service) bellEnvironment() map[string]*string {
	return s.operationEnvironment(operations.Operation{Settings: boxes.BellSettings})
}

// listens reports whether an operation's function needs the secret of the bell's addresses.
func (s *service) listens(op operations.Operation) bool {
	return s.bell.secret != nil && slices.Contains(op.Settings, setting.BellSecretID)
}

// checkBell checks the bound on the cost of strangers' calls, and the URL at which boxes listen.
func (s Settings) checkBell(r *reader) {
	if s.Bell && s.Concurrency.Bell == 0 {
		r.fault("bell: nothing would bound the cost of strangers' calls; set accountConcurrency to 200 or more, or reserveBell")
	}
	if s.BellURL != "" && (!s.Bell || !absolute(s.BellURL, "https")) {
		r.fault("bellUrl: must be an https URL in front of the bell; it needs bell=true")
	}
}

// bellAlarms check that listening boxes get answers.
func (w *watch) bellAlarms() []alarm {
	if !w.settings.Bell {
		return nil
	}
	return []alarm{w.unanswered(operations.Bell, "bell-unheard", "The bell does not answer listening boxes: Lambda refuses to run it, or it fails.")}
}

// unanswered is the alarm on a function with its own URL that does not answer.
func (w *watch) unanswered(function, kind, says string) alarm {
	at := w.lambda(function)
	return alarm{
		kind: kind, says: says,
		metric:    over("SUM(METRICS())", "not answered", at.metric("Throttles", sum, ""), at.metric("Url5xxCount", sum, "")),
		threshold: 10, minutes: 3, of: 5,
	}
}
