package main

import (
	"strings"
	"testing"

	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/expect"
)

func TestSettings_NoneGiven_AreThoseOfDev(t *testing.T) {
	got, err := ReadSettings(nil)
	want := Settings{
		Stage: Dev, Architecture: "arm64",
		Limits:    ratelimit.Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300, Boxes: 600_000},
		Throttles: Throttles{Method: Throttle{Rate: 2000, Burst: 2000}, Poll: Throttle{Rate: 1800, Burst: 1000}},
		Copilot:   Copilot{TimeoutSeconds: 25}, Backup: Backup{Days: 35}, Traffic: direct, Quotas: Quotas{API: 10_000, Table: 40_000},
		PollIntervalSeconds: 60, IdlePollIntervalSeconds: 300, ChannelCacheSeconds: 2, HeartbeatSeconds: 21_600, ReportShards: 32,
		EdgesPerOrganization: 200_000, RegistrationsPerDay: 5_000,
		LogSamplePolls: 100, LogRetentionDays: 14, Functions: "dist",
	}
	expect.OK(t, err)
	expect.Equal(t, got, want, "the settings")
	expect.That(t, got.OwnUserPool() && !got.Keeps(),
		"without settings a stack has its own user pool and keeps nothing")
}

// TestSettings_TheProjectsOwnContext_IsValid, except for prod, which needs an account and a region first.
func TestSettings_TheProjectsOwnContext_IsValid(t *testing.T) {
	context := projectContext()
	if _, err := ReadSettings(context); err != nil {
		t.Errorf("dev: %v", err)
	}
	context["stage"] = "prod"
	_, err := ReadSettings(context)
	for _, missing := range []string{"account, region: prod must set both", "domain: boxes keep the API's URL", "accountConcurrency: prod must set", "alarmEmail, alarmTopicArn: prod must have alarms",
		"budgetUsd: prod must set"} {
		expect.That(t, err != nil && strings.Contains(err.Error(), missing), "prod lacks no %q: %v", missing, err)
	}
	expect.That(t, err != nil && strings.Count(err.Error(), "\n") == 5, "prod lacks more: %v", err)
}

func TestSettings_AStageOfAnyName_SaysWhetherItKeepsItsData(t *testing.T) {
	for name, c := range map[string]struct {
		context map[string]any
		keeps   bool
		fault   string
	}{
		"dev":                    {map[string]any{}, false, ""},
		"a dev that keeps":       {map[string]any{"keep": "true"}, true, ""},
		"prod":                   {prodContext(), true, ""},
		"a prod that forgets":    {prodContext("keep", "false"), false, "keep: prod always keeps"},
		"staging, from the file": {map[string]any{"stage": "staging", "stages": map[string]any{"staging": map[string]any{"keep": true}}}, true, ""},
		"a person's own":         {map[string]any{"stage": "ann", "keep": "false"}, false, ""},
		"a slip of the pen":      {map[string]any{"stage": "prdo"}, false, "keep: the deployment prdo must set keep"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadSettings(c.context)
			expect.Error(t, err, c.fault, "it says")
			expect.Equal(t, c.fault == "" && s.Keeps(), c.keeps, "it keeps its data:")
		})
	}
}

func TestSettings_TheCommandLine_WinsOverTheFile(t *testing.T) {
	got, err := ReadSettings(map[string]any{
		"stage": "prod", "limitUser": "700", "docs": "true",
		"stages": map[string]any{
			"prod": map[string]any{
				"account": "111122223333", "region": "eu-central-1", "domain": "none", "accountConcurrency": 1000.0, "limitUser": 800.0,
				"alarmEmail": "ops@example.com", "budgetUsd": "none", "origins": []any{"https://a.example"},
			},
			"dev": map[string]any{"alarmEmail": "nobody@example.com"},
		},
	})
	expect.OK(t, err)
	if got.Limits.User != 700 || got.AlarmEmail != "ops@example.com" || len(got.Origins) != 1 || got.LogRetentionDays != 90 || !got.Docs {
		t.Errorf("settings are %+v", got)
	}
}

const (
	fleet  = `{"issuer":"https://fleet.example","audience":["wavegate"],"jwksUrl":"https://fleet.example/jwks","grants":["edge"],"maxLifetimeSeconds":604800}`
	people = `{"issuer":"https://people.example","audience":["wavegate"],"jwksUrl":"https://people.example/jwks","grants":["platform_owner"]}`
)

func TestSettings_AnIssuerOfBoxes_LeavesTheUserPoolInPlace(t *testing.T) {
	for issuers, own := range map[string]bool{"[]": true, "[" + fleet + "]": true, "[" + people + "]": false, "[" + fleet + "," + people + "]": false} {
		s := expect.Value(ReadSettings(map[string]any{"issuers": issuers}))(t)
		expect.Equal(t, s.OwnUserPool(), own, "with %s, the stack has its own pool:", issuers)
	}
}

func TestSettings_EachFault_IsNamed(t *testing.T) {
	const certificate = "arn:aws:acm:eu-central-1:111122223333:certificate/c"
	peoples := "[" + people + "]"
	endpoint := func(url, connection, more string) map[string]any {
		return map[string]any{"events": "true", "eventsEndpoint": `{"url":"` + url + `","connectionArn":"` + connection + `"` + more + `}`}
	}
	signIn := func(authorize, more string) string {
		return `{"issuer":"https://a.example","authorizationEndpoint":"` + authorize + `","tokenEndpoint":"https://a.example/t"` + more + `}`
	}
	for want, context := range map[string]map[string]any{
		`stage: "Test" is not a valid name`:                                     {"stage": "Test", "keep": "false"},
		`stage: "dev-service" is not a valid name`:                              {"stage": "dev-service", "keep": "false"},
		`stages: "my_stage" is not a valid name`:                                {"stages": map[string]any{"my_stage": map[string]any{}}},
		`keep: perhaps must be true or false`:                                   {"stage": "test", "keep": "perhaps"},
		`account: "1234" is not an account id`:                                  {"account": "1234"},
		`region: "Frankfurt" is not a region`:                                   {"region": "Frankfurt"},
		`domain: "API.example" is not a host name`:                              {"domain": "API.example", "certificateArn": certificate},
		`domain: "https://api.example" is not a host name`:                      {"domain": "https://api.example", "certificateArn": certificate},
		`certificateArn: the domain needs`:                                      {"domain": "api.wavegate.example"},
		`domains: they need a domain`:                                           {"domains": `{"old.example":"` + certificate + `"}`},
		`domains: "https://old.example" is not a host`:                          {"domain": "api.example", "certificateArn": certificate, "domains": `{"https://old.example":"` + certificate + `"}`},
		`domains: "api.example" is the domain`:                                  {"domain": "api.example", "certificateArn": certificate, "domains": `{"api.example":"` + certificate + `"}`},
		`domains: "c" is not the ARN of a certificate`:                          {"domain": "api.example", "certificateArn": certificate, "domains": `{"old.example":"c"}`},
		`ddiTenants: "D=" of "acme": both must be`:                              {"ddiTenants": `{"acme":["D="]}`},
		`ddiTenants: they take`:                                                 {"ddiTenants": `{"acme":["` + strings.Repeat(strings.Repeat("x", 64)+`","`, 30) + `x"]}`},
		`certificateArn, hostedZone: they need a domain`:                        {"hostedZone": "Z1234"},
		`certificateArn: it is in us-east-1, and the`:                           {"region": "eu-central-1", "domain": "api.wavegate.example", "certificateArn": "arn:aws:acm:us-east-1:111122223333:certificate/c"},
		`hostedZone: "wavegate.example" is not the id`:                          {"domain": "api.wavegate.example", "certificateArn": certificate, "hostedZone": "wavegate.example"},
		`kmsKeyArn: "alias/mine" is not the ARN of a KMS`:                       {"kmsKeyArn": "alias/mine"},
		`webAclArn: "mine" is not the ARN of a regional`:                        {"webAclArn": "mine"},
		`permissionsBoundary: "mine" is not the ARN`:                            {"permissionsBoundary": "mine"},
		`tags: "stage" cannot be set`:                                           {"tags": `{"stage":"x"}`},
		`tags: "aws:x" cannot be set`:                                           {"tags": map[string]any{"aws:x": "y"}},
		`alarmEmail, alarmTopicArn: prod must have alarms, an`:                  prodContext("alarmEmail", ""),
		`alarmEmail, alarmTopicArn: prod must have alarms,`:                     prodContext("alarms", "false"),
		`alarmEmail, alarmTopicArn: the deployment has no al`:                   {"alarms": "false", "alarmEmail": "a@example.com"},
		`warmWrites: 100 writes of reports; give 4000, as a new table takes`:    {"warmWrites": `{"reports":100}`},
		`warmWrites: there is no table recipe`:                                  {"warmWrites": `{"recipe":5000}`},
		`alarmEmail, alarmTopicArn: give only one`:                              prodContext("alarmTopicArn", testTopic),
		`alarmTopicArn: "ops" is not the ARN of an SNS topic`:                   {"alarms": "true", "alarmTopicArn": "ops"},
		`pollRate, pollBurst: 2000 and 1000 must be lower`:                      {"pollRate": "2000"},
		`pollRate, pollBurst: 1800 and 2000 must be lower`:                      {"pollBurst": "2000"},
		`of accountConcurrency, 0, the 1 that are reserved leave`:               {"reserveCopilot": "1"},
		`of accountConcurrency, 1000, the 1155 that are reserved leave less`:    {"accountConcurrency": "1000", "reserveManifest": "800"},
		`stages.dev: there is no setting "alarmMail"`:                           {"stages": map[string]any{"dev": map[string]any{"alarmMail": "a@example.com"}}},
		`nor have artifacts`:                                                    {"artifacts": "true", "storeEndpoint": "http://localhost:8000"},
		`bell: nothing would bound the cost of strangers`:                       {"bell": "true"},
		`door: nothing would bound the cost of strangers`:                       {"door": "true"},
		`bellUrl: must be an https URL in front of the bell`:                    prodContext("bellUrl", "https://bell.example"),
		`bellUrl: must be an https URL in front of`:                             prodContext("bell", "true", "bellUrl", "http://bell.example"),
		`there is no setting "limitUsers"`:                                      {"limitUsers": "1"},
		`architecture: "arm" must be one of arm64, x86_64`:                      {"architecture": "arm"},
		`limitUser: many must be a whole number`:                                {"limitUser": "many"},
		`limitUser: 0.5 must be a whole number`:                                 {"limitUser": 0.5},
		`edgesPerOrganization: 0 must be a whole number`:                        {"edgesPerOrganization": "0"},
		`registrationsPerDay: 0 must be a whole number`:                         {"registrationsPerDay": "0"},
		`limitOrganization: 30001 must be a whole number`:                       {"limitOrganization": "30001"},
		`LIMIT_USER (700) is more than LIMIT_ORGANIZAT`:                         {"limitUser": "700", "limitOrganization": "650"},
		`throttleRate: 100 a second is lower than`:                              {"throttleRate": "100"},
		`requireMfa: perhaps must be true or false`:                             {"requireMfa": "perhaps"},
		`logRetentionDays: must be one of`:                                      {"logRetentionDays": 8.0},
		`alarmEmail: "Ops <ops@example.com>" is not a mail address`:             {"alarmEmail": "Ops <ops@example.com>"},
		`alarmEmail: 5 is not a string`:                                         {"alarmEmail": 5.0},
		`origins: "https://a.example/" is not an origin`:                        {"origins": "https://a.example/"},
		`origins: "http://a.example" is not an origin`:                          {"origins": "http://a.example"},
		`origins: "*" is not an origin`:                                         {"origins": "*"},
		`origins: "https://*.a.example" is not an origin`:                       {"origins": "https://*.a.example"},
		`origins: "https://A.example" is not an origin`:                         {"origins": "https://A.example"},
		`origins: "https://a.example:443" is not an origin`:                     {"origins": "https://a.example:443"},
		`issuers: they take 3`:                                                  {"issuers": strings.ReplaceAll("["+fleet+"]", "/jwks", "/"+strings.Repeat("j", 3000))},
		`origins: 5 is not a list`:                                              {"origins": 5.0},
		`copilotUrl: "http://c.example" must be an https`:                       {"copilotUrl": "http://c.example", "copilotSecret": "s"},
		`copilotUrl, copilotSecret: give both or none`:                          {"copilotUrl": "https://c.example"},
		`copilotSecret: give the name or the ARN`:                               {"copilotUrl": "https://c.example", "copilotSecret": "a}}b"},
		`there is no setting "copilotSecretVersion"`:                            {"copilotSecretVersion": "1"},
		`copilotTimeoutSeconds: 28 must be a whole number`:                      {"copilotTimeoutSeconds": 28.0},
		`channelCacheSeconds: 3 must be a whole number`:                         {"channelCacheSeconds": 3.0},
		`storeEndpoint: must be an http URL, and the deployment must neither`:   {"keep": "true", "storeEndpoint": "http://localhost:8000"},
		`issuers: unexpected EOF`:                                               {"issuers": "[{"},
		`grants: there is no role "root"`:                                       {"issuers": strings.ReplaceAll("["+people+"]", "platform_owner", "root")},
		`an issuer that grants edge must grant nothing`:                         {"issuers": strings.ReplaceAll("["+fleet+"]", `"edge"`, `"edge","platform_owner"`)},
		`maxLifetimeSeconds: an issuer that grants edge must set it`:            {"issuers": strings.ReplaceAll("["+fleet+"]", `,"maxLifetimeSeconds":604800`, "")},
		`organizations: each of several issuers`:                                {"issuers": "[" + people + "," + strings.ReplaceAll(people, "https://people", "https://customer") + "]"},
		`the audience of programs must be only this deployment's: wavegate-dev`: {"issuers": `[{"issuer":"https://ci.example","audience":["wavegate"],"subjects":{"a":{"publish":["g/c"]}}}]`},
		`jwksUrl: must be https`:                                                {"issuers": strings.ReplaceAll("["+people+"]", "https://people.example/jwks", "http://people.example/jwks")},
		"eventsChatTopicArn, eventsEndpoint: they need events=true":             {"eventsChatTopicArn": testTopic},
		`eventsEndpoint: "http://x.example" must be an https URL`:               endpoint("http://x.example", testConnection, ""),
		`eventsEndpoint: the rate is 301`:                                       endpoint("https://x.example", testConnection, `,"rate":301`),
		`is not the ARN of an EventBridge connection`:                           endpoint("https://x.example", "arn:x", ""),
		`eventsChatTopicArn: "chat" is`:                                         {"events": "true", "eventsChatTopicArn": "chat"},
		`restoredTables: "a b" is not a valid name for the table edges`:         prodContext("restoredTables", `{"edges":"a b"}`),
		`remadeTables: edges is restored, and not made anew`:                    prodContext("remadeTables", `{"edges":1}`),
		`remadeTables: 100 of bells; give how often it was lost`:                prodContext("remadeTables", `{"bells":100}`),
		`remadeTables: idempotency has a name in restoredTables`:                prodContext("remadeTables", `{"idempotency":1}`, "restoredTables", `{"idempotency":"wavegate-prod-i"}`),
		`restoredTables: rate-counters cannot be restored`:                      prodContext("restoredTables", `{"rate-counters":"wavegate-prod-x"}`),
		`backupCopyVaultArn: "x" is not the ARN`:                                prodContext("backupCopyVaultArn", "x"),
		`copies need backup=true`:                                               prodContext("backup", "false", "backupCopyVaultArn", testVault),
		`outsideSecret: `:                                                       prodContext("outsideSecret", "wavegate/outside"),
		`budgetUsd: the deployment has no alarms`:                               {"budgetUsd": "100"},
		`budgetUsd: some must be a whole number`:                                prodContext("budgetUsd", "some"),
		`traffic: `:                                                             {"traffic": "slowly"},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := ReadSettings(context)
			expect.Error(t, err, want, "it says")
		})
	}
	for name, context := range map[string]map[string]any{
		"console: the address is unknown":  {"console": "true"},
		"console: not https":               {"console": "http://api.example"},
		"console: a slash at its end":      {"console": "https://api.example/dev/"},
		"console: nobody could sign in":    {"console": "true", "issuers": peoples},
		"console: beside a domain":         prodContext("console", consoleURL, "domain", "api.wavegate.example", "certificateArn", certificate+"-1"),
		"login: with the stack's own pool": {"login": signIn("https://a.example/a", `,"clientId":"c"`)},
		"login: not https":                 {"issuers": peoples, "login": signIn("http://a.example/a", `,"clientId":"c"`)},
		"login: no client":                 {"issuers": peoples, "login": signIn("https://a.example/a", "")},
	} {
		t.Run(name, func(t *testing.T) {
			about, _, _ := strings.Cut(name, " ")
			_, err := ReadSettings(context)
			expect.Error(t, err, about+" ", "it says")
		})
	}
}

// TestSettings_NumbersOfTheFile_AreReadWhole: JSON's numbers are floating-point numbers.
func TestSettings_NumbersOfTheFile_AreReadWhole(t *testing.T) {
	got, err := ReadSettings(map[string]any{"throttleRate": 1_000_000.0, "origins": "https://a.example:8443,http://localhost:3000"})
	expect.OK(t, err)
	expect.Equal(t, got.Throttles.Method.Rate, 1_000_000, "the rate is")
}

func TestSettings_AllFaults_AreReportedAtOnce(t *testing.T) {
	_, err := ReadSettings(map[string]any{"stage": "Test", "keep": "false", "limitUser": "x", "alarmEmail": "x", "nothing": "x"})
	expect.That(t, err != nil && strings.Count(err.Error(), "\n") == 4, "the error is %v, want four faults", err)
}
