package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// operationEnvironment gives an operation's function the settings that its row lists.
func (s *service) operationEnvironment(op operations.Operation) map[string]*string {
	values := s.settings.values()
	maps.Copy(values, s.artifactSettings())
	env := map[string]*string{}
	for _, name := range op.Settings {
		if value, ok := values[name]; ok {
			env[string(name)] = value
		}
	}
	if s.bell.url != nil && slices.Contains(op.Settings, setting.BellURL) {
		env[string(setting.BellURL)] = s.bell.url
	}
	if s.doorURL != nil && slices.Contains(op.Settings, setting.DoorURL) {
		env[string(setting.DoorURL)] = s.doorURL
	}
	if s.listens(op) {
		env[string(setting.BellSecretID)] = s.bell.secret
	}
	return env
}

// values are the functions' settings that a deployment chooses. The others have their defaults.
func (s Settings) values() map[setting.Name]*string {
	values := map[setting.Name]*string{
		setting.LimitUser:                number(s.Limits.User),
		setting.LimitOrganization:        number(s.Limits.Organization),
		setting.LimitCopilotUser:         number(s.Limits.CopilotUser),
		setting.LimitCopilotOrganization: number(s.Limits.CopilotOrganization),
		setting.LimitBoxes:               number(s.Limits.Boxes),
		setting.LogSamplePolls:           number(s.LogSamplePolls),
		setting.PollIntervalSeconds:      number(s.PollIntervalSeconds),
		setting.IdlePollIntervalSeconds:  number(s.IdlePollIntervalSeconds),
		setting.ChannelCacheSeconds:      number(s.ChannelCacheSeconds),
		setting.SettleSeconds:            number(s.settleSeconds()),
		setting.HeartbeatSeconds:         number(s.HeartbeatSeconds),
		setting.ReportShards:             number(s.ReportShards),
		setting.EdgesPerOrganization:     number(s.EdgesPerOrganization),
		setting.RegistrationsPerDay:      number(s.RegistrationsPerDay),
		setting.FleetIssuers:             jsii.String(strings.Join(s.fleetIssuers, " ")),
		setting.CopilotURL:               jsii.String(s.Copilot.URL),
		setting.CopilotSecretID:          jsii.String(s.Copilot.Secret),
		setting.CopilotTimeoutSeconds:    number(s.Copilot.TimeoutSeconds),
		setting.SignatureMaxAgeSeconds:   number(s.SignatureMaxAgeSeconds),
	}
	if s.Domain.Name != "" {
		values[setting.APIURL] = jsii.String("https://" + s.Domain.Name)
	}
	if len(s.DDITenants) > 0 {
		values[setting.DDITenants] = jsii.String(strings.Join(s.DDITenants, " "))
	}
	if s.ForeignTokens {
		values[setting.ForeignTokens] = jsii.String("true")
	}
	if len(s.Origins) > 0 {
		values[setting.CORSOrigins] = jsii.String(strings.Join(s.Origins, ","))
	}
	return values
}

// settleSeconds is how long changes wait for the containers' caches: the highest setting, because containers of the last
// deploy may still run.
func (s Settings) settleSeconds() int {
	if s.ChannelCacheSeconds == 0 {
		return 0
	}
	return setting.Ranges[setting.ChannelCacheSeconds].Most
}

// secretOf is the ARN of the secret that an operation's function may read; nil: none. If the copilot's secret is given by
// name, the ARN ends in a wildcard, because Secrets Manager chooses its last six characters.
func (s *service) secretOf(op operations.Operation) *string {
	secret := s.settings.Copilot.Secret
	switch {
	case s.listens(op):
		return s.bell.secret
	case op.Limit != ratelimit.Copilot || secret == "":
		return nil
	}
	return s.secretARN(secret)
}

// secretARN is the ARN of a secret in a policy, from the secret's name or ARN.
func (p part) secretARN(secret string) *string {
	if strings.HasPrefix(secret, "arn:") {
		return &secret
	}
	return p.stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("secretsmanager"), Resource: jsii.String("secret"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME, ResourceName: jsii.String(secret + "-??????"),
	})
}

func number(n int) *string { return jsii.String(strconv.Itoa(n)) }
