package main

import (
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
)

// operationEnvironment gives an operation's function the settings that its row names.
func (s *service) operationEnvironment(op operations.Operation) map[string]*string {
	values := s.settings.values()
	env := map[string]*string{}
	for _, name := range op.Settings {
		if value, ok := values[name]; ok {
			env[string(name)] = value
		}
	}
	return env
}

// values are the settings of functions that a deployment chooses. What is left out has its default.
func (s Settings) values() map[setting.Name]*string {
	values := map[setting.Name]*string{
		setting.LimitUser:                number(s.Limits.User),
		setting.LimitOrganization:        number(s.Limits.Organization),
		setting.LimitCopilotUser:         number(s.Limits.CopilotUser),
		setting.LimitCopilotOrganization: number(s.Limits.CopilotOrganization),
		setting.LogSamplePolls:           number(s.LogSamplePolls),
		setting.PollIntervalSeconds:      number(s.PollIntervalSeconds),
		setting.ChannelCacheSeconds:      number(s.ChannelCacheSeconds),
		setting.FleetIssuers:             jsii.String(strings.Join(s.fleetIssuers, " ")),
		setting.CopilotURL:               jsii.String(s.Copilot.URL),
		setting.CopilotSecret:            s.Copilot.secret(),
		setting.CopilotTimeoutSeconds:    number(s.Copilot.TimeoutSeconds),
	}
	if len(s.Origins) > 0 {
		values[setting.CORSOrigins] = jsii.String(strings.Join(s.Origins, ","))
	}
	return values
}

// secret refers to the secret; CloudFormation puts its value in when it deploys, so that it stands
// in no template, context or commit.
func (c Copilot) secret() *string {
	if c.Secret == "" {
		return jsii.String("")
	}
	options := &awscdk.SecretsManagerSecretOptions{}
	if c.SecretVersion != "" {
		options.VersionId = &c.SecretVersion
	}
	return awscdk.SecretValue_SecretsManager(&c.Secret, options).UnsafeUnwrap()
}

func number(n int) *string { return jsii.String(strconv.Itoa(n)) }
