package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/copilot"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/operations"
	"wavegate/shared/platform/lambdahttp"
)

// operationEnvironment gives the settings that an operation's function reads, under the names that
// the code reads them by.
func (s *service) operationEnvironment(op operations.Operation) map[string]*string {
	limits := s.settings.Limits
	env := map[string]*string{
		ratelimit.EnvUser:                number(limits.User),
		ratelimit.EnvOrganization:        number(limits.Organization),
		ratelimit.EnvCopilotUser:         number(limits.CopilotUser),
		ratelimit.EnvCopilotOrganization: number(limits.CopilotOrganization),
	}
	if len(s.settings.Origins) > 0 {
		env[lambdahttp.EnvOrigins] = jsii.String(strings.Join(s.settings.Origins, ","))
	}
	if op.Sampled {
		env[lambdahttp.EnvLogSample] = number(s.settings.LogSamplePolls)
	}
	if slices.Contains(op.Roles, auth.Edge) {
		env[edge.EnvPollInterval] = number(s.settings.PollIntervalSeconds)
		env[edge.EnvChannelCache] = number(s.settings.ChannelCacheSeconds)
	}
	if op.Limit == operations.Copilot {
		env[copilot.EnvURL] = jsii.String(s.settings.Copilot.URL)
		env[copilot.EnvSecret] = s.settings.Copilot.secret()
		env[copilot.EnvTimeout] = number(s.settings.Copilot.TimeoutSeconds)
	}
	return env
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
