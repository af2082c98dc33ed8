package main

import (
	"encoding/json"
	"strings"
	"testing"

	"wavegate/scripts/operator/login"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// TestLogin_TheStacksOwnPool: the API publishes the pool's own login. The operator's client accepts only codes
// with PKCE, and sends people only to the command.
func TestLogin_TheStacksOwnPool(t *testing.T) {
	template := dev().template
	status, headers, body := mockOf(t, template.api(t).routes()["GET "+operations.LoginPath])
	hasSecurityHeaders(t, operations.LoginPath, "method.response.header.", headers)
	var told login.Provider
	err := json.Unmarshal([]byte(body), &told)
	expect.Must(t, err == nil && status == "200", "it answers %s %s: %v", status, body, err)
	id := template.id(t, "AWS::Cognito::UserPoolClient", "operator")
	client := template.Resources[id].Properties
	domain := template.of("AWS::Cognito::UserPoolDomain")["login"].Properties
	host := "https://" + text(domain["Domain"]) + ".auth."
	for endpoint, path := range map[string]string{told.AuthorizationEndpoint: "/oauth2/authorize", told.TokenEndpoint: "/oauth2/token"} {
		expect.That(t, strings.HasPrefix(endpoint, host) && strings.HasSuffix(endpoint, path),
			"it publishes %s, want %s…%s", endpoint, host, path)
	}
	told.AuthorizationEndpoint, told.TokenEndpoint = "", ""
	expect.Equal(t, told, login.Provider{ClientID: "${" + id + "}", Scope: "openid", Issuer: trustedName(t, template)}, "what it publishes otherwise")
	var ports []string
	for _, port := range login.Ports {
		ports = append(ports, login.Redirect(port))
	}
	expect.Equal(t, list(client["CallbackURLs"]), ports, "people are sent to")
	expect.Equal(t, list(client["AllowedOAuthFlows"]), []string{"code"}, "the flows")
	expect.Equal(t, list(client["AllowedOAuthScopes"]), []string{"openid"}, "the scopes")
	expect.That(t, client["GenerateSecret"] != true && client["ExplicitAuthFlows"] == nil, "the client is %v", client)
	style := template.of("AWS::Cognito::ManagedLoginBranding")["loginstyle"].Properties
	has(t, domain, map[string]any{"ManagedLoginVersion": 2.0}, "the domain")
	has(t, style, map[string]any{"UseCognitoProvidedValues": true, "ClientId": "${" + id + "}"}, "the pages")
}

// trustedName is the issuer of people that the template's authorizer trusts, in the template's form.
func trustedName(t *testing.T, template template) string {
	t.Helper()
	return "https://cognito-idp.${AWS::Region}.${AWS::URLSuffix}/${" + template.id(t, "AWS::Cognito::UserPool", "people") + "}"
}

func TestLogin_OfAnIssuerElsewhere_IsTold_OrNotThere(t *testing.T) {
	without := foreign().template
	route := without.api(t).routes()["GET "+operations.LoginPath]
	expect.That(t, route == nil && len(without.of("AWS::Cognito::UserPoolDomain")) == 0, "there is %v", route)
	_, _, body := mockOf(t, foreignLogin().template.api(t).routes()["GET "+operations.LoginPath])
	expect.Equal(t, body, testLogin, "it publishes")
}
