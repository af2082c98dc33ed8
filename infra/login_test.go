package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/operator/login"
	"wavegate/shared/operations"
)

// TestLogin_TheStacksOwnPool: the API publishes the pool's own login. The operator's client accepts only codes
// with PKCE, and sends people only to the command.
func TestLogin_TheStacksOwnPool(t *testing.T) {
	template := dev().template
	status, headers, body := mockOf(t, template.api(t).routes()["GET "+operations.LoginPath])
	hasSecurityHeaders(t, operations.LoginPath, "method.response.header.", headers)
	var told login.Provider
	if err := json.Unmarshal([]byte(body), &told); err != nil || status != "200" {
		t.Fatalf("it answers %s %s: %v", status, body, err)
	}
	id := template.id(t, "AWS::Cognito::UserPoolClient", "operator")
	client := template.Resources[id].Properties
	domain := template.of("AWS::Cognito::UserPoolDomain")["login"].Properties
	host := "https://" + text(domain["Domain"]) + ".auth."
	if told.ClientID != "${"+id+"}" || told.Scope != "openid" || !strings.HasPrefix(told.AuthorizationEndpoint, host) || !strings.HasSuffix(told.AuthorizationEndpoint, "/oauth2/authorize") ||
		!strings.HasPrefix(told.TokenEndpoint, host) || !strings.HasSuffix(told.TokenEndpoint, "/oauth2/token") || told.Issuer != trustedName(t, template) {
		t.Errorf("it publishes %+v", told)
	}
	var ports []string
	for _, port := range login.Ports {
		ports = append(ports, login.Redirect(port))
	}
	if !slices.Equal(list(client["CallbackURLs"]), ports) || !slices.Equal(list(client["AllowedOAuthFlows"]), []string{"code"}) ||
		!slices.Equal(list(client["AllowedOAuthScopes"]), []string{"openid"}) || client["GenerateSecret"] == true || client["ExplicitAuthFlows"] != nil {
		t.Errorf("the client is %v", client)
	}
	style := template.of("AWS::Cognito::ManagedLoginBranding")["loginstyle"].Properties
	if value(domain, "ManagedLoginVersion") != 2.0 || style["UseCognitoProvidedValues"] != true || text(style["ClientId"]) != "${"+id+"}" {
		t.Errorf("the pages are %v, %v", domain, style)
	}
}

// trustedName is the issuer of people that the template's authorizer trusts, in the template's form.
func trustedName(t *testing.T, template template) string {
	t.Helper()
	return "https://cognito-idp.${AWS::Region}.${AWS::URLSuffix}/${" + template.id(t, "AWS::Cognito::UserPool", "people") + "}"
}

func TestLogin_OfAnIssuerElsewhere_IsTold_OrNotThere(t *testing.T) {
	without := foreign().template
	if route := without.api(t).routes()["GET "+operations.LoginPath]; route != nil || len(without.of("AWS::Cognito::UserPoolDomain")) > 0 {
		t.Errorf("there is %v", route)
	}
	_, _, body := mockOf(t, foreignLogin().template.api(t).routes()["GET "+operations.LoginPath])
	if body != testLogin {
		t.Errorf("it publishes %s", body)
	}
}

func TestSettings_Login_ThatCannotBe_IsRefused(t *testing.T) {
	for name, context := range map[string]map[string]any{
		"with the stack's own pool": {"login": `{"issuer":"https://a.example","authorizationEndpoint":"https://a.example/a","tokenEndpoint":"https://a.example/t","clientId":"c"}`},
		"not https":                 {"issuers": "[" + people + "]", "login": `{"issuer":"https://a.example","authorizationEndpoint":"http://a.example/a","tokenEndpoint":"https://a.example/t","clientId":"c"}`},
		"no client":                 {"issuers": "[" + people + "]", "login": `{"issuer":"https://a.example","authorizationEndpoint":"https://a.example/a","tokenEndpoint":"https://a.example/t"}`},
	} {
		if _, err := ReadSettings(context); err == nil || !strings.Contains(err.Error(), "login: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
