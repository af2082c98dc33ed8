package main

import (
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/operator/login"
	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
)

func TestConsole_UnlessAskedFor_IsInNoStack(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "prod": prod(), "local": local()} {
		for route, m := range s.api(t).routes() {
			if slices.Contains(operations.ConsolePaths, route[strings.Index(route, " ")+1:]) && !mocked(m) {
				t.Errorf("%s has %s", name, route)
			}
		}
		for id := range s.of("AWS::Lambda::Function") {
			if strings.HasPrefix(id, operations.Console) {
				t.Errorf("%s has %s", name, id)
			}
		}
	}
}

// TestConsole_AskedFor_OpensItsPathsAndNothingElse: the function is open to anyone, may read nothing, and has the
// address at which codes are exchanged.
func TestConsole_AskedFor_OpensItsPathsAndNothingElse(t *testing.T) {
	template := pages().template
	function := template.id(t, "AWS::Lambda::Function", operations.Console)
	for _, path := range operations.ConsolePaths {
		m := template.api(t).routes()["GET "+path]
		if m == nil || m["security"] != nil || functionOf(value(m, "x-amazon-apigateway-integration", "uri")) != function {
			t.Errorf("%s is %v", path, m)
		}
	}
	role := strings.TrimSuffix(strings.Trim(text(template.Resources[function].Properties["Role"]), "${}"), ".Arn")
	if got, want := allowances(template.Resources[role]), rowAllowances(t, template, operations.Console, nil); !slices.Equal(got, want) {
		t.Errorf("the function may %v, want %v", got, want)
	}
	origin := text(value(template.Resources[function].Properties, "Environment", "Variables", string(setting.LoginOrigin)))
	domain := template.of("AWS::Cognito::UserPoolDomain")["login"].Properties
	if want := "https://" + text(domain["Domain"]) + ".auth."; !strings.HasPrefix(origin, want) || !strings.HasSuffix(origin, ".amazoncognito.com") {
		t.Errorf("codes are exchanged at %s, want %s…", origin, want)
	}
}

// TestConsole_TheStacksOwnLogin_SendsPeopleBackToThePage, and otherwise only to the command.
func TestConsole_TheStacksOwnLogin_SendsPeopleBackToThePage(t *testing.T) {
	for want, s := range map[string]stage{consoleURL: pages(), "https://api.wavegate.example": full()} {
		client := s.template.Resources[s.template.id(t, "AWS::Cognito::UserPoolClient", "operator")].Properties
		urls := list(client["CallbackURLs"])
		if len(urls) != len(login.Ports)+1 || !slices.Contains(urls, want+"/console") {
			t.Errorf("people are sent to %v", urls)
		}
	}
	if got := text(full().template.Outputs["ConsoleUrl"].Value); got != "https://api.wavegate.example/console" {
		t.Errorf("the output is %s", got)
	}
}

func TestConsole_OfAnIssuerElsewhere_CallsItsOrigin(t *testing.T) {
	template := foreignLogin().template
	function := template.Resources[template.id(t, "AWS::Lambda::Function", operations.Console)]
	if got := text(value(function.Properties, "Environment", "Variables", string(setting.LoginOrigin))); got != "https://tokens.people.example" {
		t.Errorf("it calls %s", got)
	}
}

func TestSettings_Console_ThatCannotBe_IsRefused(t *testing.T) {
	for name, context := range map[string]map[string]any{
		"the address is unknown": {"console": "true"},
		"not https":              {"console": "http://api.example"},
		"a slash at its end":     {"console": "https://api.example/dev/"},
		"nobody could sign in":   {"console": "true", "issuers": "[" + people + "]"},
		"beside a domain":        prodContext("console", consoleURL, "domain", "api.wavegate.example", "certificateArn", "arn:aws:acm:eu-central-1:111122223333:certificate/c-1"),
	} {
		if _, err := ReadSettings(context); err == nil || !strings.Contains(err.Error(), "console: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, off := range []any{"false", false} {
		if s, err := ReadSettings(map[string]any{"console": off}); err != nil || s.Console != "" {
			t.Errorf("%v: %q, %v", off, s.Console, err)
		}
	}
}
