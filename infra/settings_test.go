package main

import (
	"reflect"
	"strings"
	"testing"

	"wavegate/shared/access/ratelimit"
)

func TestSettings_NoneGiven_AreThoseOfDev(t *testing.T) {
	got, err := ReadSettings(nil)
	want := Settings{
		Stage: Dev, Architecture: "arm64", Limits: ratelimit.Defaults(), ThrottleRate: 2000, ThrottleBurst: 2000,
		Copilot: Copilot{TimeoutSeconds: 25}, PollIntervalSeconds: 60, ChannelCacheSeconds: 2,
		LogSamplePolls: 100, LogRetentionDays: 14, Functions: "dist",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("settings are %+v, %v; want %+v", got, err, want)
	}
	if !got.OwnUserPool() || got.Keeps() {
		t.Error("without settings a stack has its own user pool and keeps nothing")
	}
}

func TestSettings_TheProjectsOwnContext_IsValid(t *testing.T) {
	for _, stage := range []string{"dev", "prod"} {
		context := projectContext()
		context["stage"] = stage
		if _, err := ReadSettings(context); err != nil {
			t.Errorf("%s: %v", stage, err)
		}
	}
}

func TestSettings_TheCommandLine_WinsOverTheFile(t *testing.T) {
	got, err := ReadSettings(map[string]any{
		"stage": "prod", "limitUser": "700", "docs": "true",
		"stages": map[string]any{
			"prod": map[string]any{"limitUser": 800.0, "alarmEmail": "ops@example.com", "origins": []any{"https://a.example"}},
			"dev":  map[string]any{"alarmEmail": "nobody@example.com"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
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
		s, err := ReadSettings(map[string]any{"issuers": issuers})
		if err != nil || s.OwnUserPool() != own {
			t.Errorf("with %s the stack's own pool is %v, %v; want %v", issuers, s.OwnUserPool(), err, own)
		}
	}
}

func TestSettings_EachFault_IsNamed(t *testing.T) {
	for want, context := range map[string]map[string]any{
		`stage: "test" is neither dev nor prod`:         {"stage": "test"},
		`there is no stage "staging"`:                   {"stages": map[string]any{"staging": map[string]any{}}},
		`stages.dev: there is no setting "alarmMail"`:   {"stages": map[string]any{"dev": map[string]any{"alarmMail": "a@example.com"}}},
		`there is no setting "limitUsers"`:              {"limitUsers": "1"},
		`architecture: "arm" is none of arm64, x86_64`:  {"architecture": "arm"},
		`limitUser: many is no whole number`:            {"limitUser": "many"},
		`limitUser: 0.5 is no whole number`:             {"limitUser": 0.5},
		`limitOrganization: 30001 is no whole number`:   {"limitOrganization": "30001"},
		`LIMIT_USER (700) is more than LIMIT_ORGANIZAT`: {"limitUser": "700", "limitOrganization": "650"},
		`throttleRate: 100 a second lies below`:         {"throttleRate": "100"},
		`requireMfa: perhaps is neither true nor false`: {"requireMfa": "perhaps"},
		`logRetentionDays: CloudWatch Logs takes one`:   {"logRetentionDays": 8.0},
		`alarmEmail: "Ops <ops@example.com>" is no`:     {"alarmEmail": "Ops <ops@example.com>"},
		`alarmEmail: 5 is no text`:                      {"alarmEmail": 5.0},
		`origins: "https://a.example/" is no origin`:    {"origins": "https://a.example/"},
		`origins: "http://a.example" is no origin`:      {"origins": "http://a.example"},
		`origins: "*" is no origin`:                     {"origins": "*"},
		`origins: "https://*.a.example" is no origin`:   {"origins": "https://*.a.example"},
		`origins: "https://A.example" is no origin`:     {"origins": "https://A.example"},
		`origins: "https://a.example:443" is no origin`: {"origins": "https://a.example:443"},
		`issuers: they take 3`:                          {"issuers": strings.ReplaceAll("["+fleet+"]", "/jwks", "/"+strings.Repeat("j", 3000))},
		`origins: 5 is no list`:                         {"origins": 5.0},
		`copilotUrl: "http://c.example" is no https`:    {"copilotUrl": "http://c.example", "copilotSecret": "s"},
		`copilotUrl, copilotSecret: give both or none`:  {"copilotUrl": "https://c.example"},
		`copilotSecret: give the name or the ARN`:       {"copilotUrl": "https://c.example", "copilotSecret": "a}}b"},
		`copilotSecretVersion: the id of a version`:     {"copilotSecretVersion": "1"},
		`copilotTimeoutSeconds: 28 is no whole number`:  {"copilotTimeoutSeconds": 28.0},
		`channelCacheSeconds: 3 is no whole number`:     {"channelCacheSeconds": 3.0},
		`storeEndpoint: an http URL, and never in prod`: {"stage": "prod", "storeEndpoint": "http://localhost:8000"},
		`issuers: unexpected EOF`:                       {"issuers": "[{"},
		`grants: there is no role "root"`:               {"issuers": strings.ReplaceAll("["+people+"]", "platform_owner", "root")},
		`an issuer that grants edge may grant nothing`:  {"issuers": strings.ReplaceAll("["+fleet+"]", `"edge"`, `"edge","platform_owner"`)},
		`maxLifetimeSeconds: must be said`:              {"issuers": strings.ReplaceAll("["+fleet+"]", `,"maxLifetimeSeconds":604800`, "")},
		`organizations: each of several issuers`:        {"issuers": "[" + people + "," + strings.ReplaceAll(people, "https://people", "https://customer") + "]"},
		`jwksUrl: must be https`:                        {"issuers": strings.ReplaceAll("["+people+"]", "https://people.example/jwks", "http://people.example/jwks")},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := ReadSettings(context); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestSettings_NumbersOfTheFile_AreReadWhole: JSON's numbers come as floating-point ones.
func TestSettings_NumbersOfTheFile_AreReadWhole(t *testing.T) {
	got, err := ReadSettings(map[string]any{"throttleRate": 1_000_000.0, "origins": "https://a.example:8443,http://localhost:3000"})
	if err != nil || got.ThrottleRate != 1_000_000 {
		t.Errorf("%d, %v", got.ThrottleRate, err)
	}
}

func TestSettings_AllFaults_AreReportedAtOnce(t *testing.T) {
	_, err := ReadSettings(map[string]any{"stage": "test", "limitUser": "x", "alarmEmail": "x", "nothing": "x"})
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("the error is %v, want four faults", err)
	}
}
