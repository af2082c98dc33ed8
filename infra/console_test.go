package main

import (
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/operator/login"
	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestPages_UnlessAskedFor_AreInNoStack: neither are the bell and the check from outside.
func TestPages_UnlessAskedFor_AreInNoStack(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "prod": prod(), "local": local()} {
		for route, m := range s.api(t).routes() {
			_, path, _ := strings.Cut(route, " ")
			if slices.Contains(operations.ConsolePaths, path) && !mocked(m) || slices.Contains(operations.DocsPaths, path) {
				t.Errorf("%s has %s", name, route)
			}
		}
		for id := range s.of("AWS::Lambda::Function") {
			for _, function := range []string{operations.Console, operations.Docs, operations.Bell, operations.Door, outside} {
				expect.That(t, !strings.HasPrefix(id, strings.ReplaceAll(function, "-", "")), "%s has %s", name, id)
			}
		}
	}
}

// TestPages_AskedFor_OpenTheirPathsAndNothingElse: the pages are open to anyone and may read nothing; every other method
// still requires the authorizer.
func TestPages_AskedFor_OpenTheirPathsAndNothingElse(t *testing.T) {
	template := pages().template
	want, open := map[string]string{}, map[string]string{}
	for name, paths := range map[string][]string{operations.Console: operations.ConsolePaths, operations.Docs: operations.DocsPaths} {
		for _, path := range paths {
			want["GET "+path] = template.id(t, "AWS::Lambda::Function", name)
		}
		got := allowances(template.role(template.function(t, name)))
		expect.Equal(t, got, rowAllowances(t, template, name, nil), "what %s may do", name)
	}
	for route, m := range template.api(t).routes() {
		if m["security"] == nil && !mocked(m) {
			open[route] = functionOf(value(m, "x-amazon-apigateway-integration", "uri"))
		}
	}
	expect.Equal(t, open, want, "the open routes")
}

// TestConsole_AskedFor_KnowsWhereCodesAreExchanged: at the pool's own login.
func TestConsole_AskedFor_KnowsWhereCodesAreExchanged(t *testing.T) {
	template := pages().template
	origin := text(environment(template.function(t, operations.Console))[string(setting.LoginOrigin)])
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
		expect.That(t, len(urls) == len(login.Ports)+1 && slices.Contains(urls, want+"/console"),
			"people are sent to %v", urls)
	}
	expect.Equal(t, text(full().template.Outputs["ConsoleUrl"].Value), "https://api.wavegate.example/console", "the output is")
}

func TestConsole_OfAnIssuerElsewhere_CallsItsOrigin(t *testing.T) {
	env := environment(foreignLogin().template.function(t, operations.Console))
	expect.Equal[any](t, env[string(setting.LoginOrigin)], "https://tokens.people.example", "it calls")
}

func TestSettings_ConsoleOff_IsNoAddress(t *testing.T) {
	for _, off := range []any{"false", false} {
		s := expect.Value(ReadSettings(map[string]any{"console": off}))(t)
		expect.Equal(t, s.Console, "", "with %v, the address is", off)
	}
}
