package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

func TestIdentity_TheStacksOwnPool(t *testing.T) {
	template := prod()
	pool := template.Resources[template.id(t, "AWS::Cognito::UserPool", "people")].Properties
	const trigger = "LambdaConfig/PreTokenGenerationConfig/"
	has(t, pool, map[string]any{
		"AdminCreateUserConfig/AllowAdminCreateUserOnly": true, "UserPoolTier": "ESSENTIALS", "DeletionProtection": "ACTIVE",
		trigger + "LambdaArn":     "${" + template.id(t, "AWS::Lambda::Function", preTokenGeneration) + ".Arn}",
		trigger + "LambdaVersion": "V2_0",
	}, "the pool")
	for _, c := range template.of("AWS::Cognito::UserPoolClient") {
		expect.Equal(t, list(c.Properties["WriteAttributes"]), []string{"email"}, "a person may write their own")
		expect.That(t, c.Properties["GenerateSecret"] != true && c.Properties["PreventUserExistenceErrors"] == "ENABLED",
			"the client is %v", c.Properties)
	}
	var groups []string
	for _, g := range template.of("AWS::Cognito::UserPoolGroup") {
		groups = append(groups, g.Properties["GroupName"].(string))
	}
	slices.Sort(groups)
	expect.Equal(t, groups, []string{"fleet_installer", "fleet_viewer", "organization_admin", "platform_owner", "platform_viewer", "production_engineer"}, "the pool's groups are")
}

// trusted returns the issuers that the template's authorizer trusts, with possible values instead of those that are known
// only at deploy time.
func trusted(t *testing.T, template template) []token.Issuer {
	t.Helper()
	authorizer := template.function(t, operations.Authorizer)
	setting := text(value(authorizer.Properties, "Environment", "Variables", token.Setting))
	for id := range template.of("AWS::Cognito::UserPool") {
		pool := regexp.MustCompile(`https://cognito-idp\.[^/"]+/\$\{` + id + `}`)
		setting = pool.ReplaceAllString(setting, "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE")
	}
	for id := range template.of("AWS::Cognito::UserPoolClient") {
		setting = strings.ReplaceAll(setting, "${"+id+"}", "1example-"+strings.ToLower(id[:6]))
	}
	issuers, err := token.ParseIssuers(setting)
	expect.Must(t, err == nil, "the authorizer would not start: %v", err)
	return issuers
}

func TestIdentity_WithNoIssuerGiven_TheAuthorizerTrustsThePoolForPeople(t *testing.T) {
	issuers := trusted(t, dev().template)
	if len(issuers) != 1 || issuers[0].Name != "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE" ||
		issuers[0].JWKSURL != issuers[0].Name+"/.well-known/jwks.json" || !slices.Equal(issuers[0].ClientIDs, []string{"1example-client", "1example-operat"}) ||
		!slices.Equal(issuers[0].Grants, auth.People) {
		t.Errorf("the authorizer trusts %+v", issuers)
	}
}

func TestIdentity_WithAnIssuerOfBoxes_TheAuthorizerTrustsBoth(t *testing.T) {
	issuers := trusted(t, full().template)
	if len(issuers) != 2 || issuers[0].Name != "https://fleet.example" || !slices.Equal(issuers[0].Grants, []auth.Role{auth.Edge}) {
		t.Errorf("the authorizer trusts %+v", issuers)
	}
}

func TestIdentity_WithAnIssuerOfPeople_ThereIsNoPool(t *testing.T) {
	template := foreign().template
	if pools := template.of("AWS::Cognito::UserPool"); len(pools) > 0 {
		t.Errorf("the stack makes %v", sorted(pools))
	}
	issuers := trusted(t, template)
	expect.That(t, len(issuers) == 1 && issuers[0].Name == "https://people.example", "the authorizer trusts %+v", issuers)
}
