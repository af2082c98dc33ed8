package main

import (
	"context"
	"encoding/json"
	"testing"

	"wavegate/shared/testing/expect"
)

// sent is an event as Cognito sends it when a user signs in.
const sent = `{
  "version": "2", "triggerSource": "TokenGeneration_Authentication", "region": "eu-central-1",
  "userPoolId": "eu-central-1_EXAMPLE", "userName": "3f1c1a52-0f0e-4b8e-9f06-1d9c2f6f1c11",
  "callerContext": {"awsSdkVersion": "aws-sdk-unknown-unknown", "clientId": "1example23456789"},
  "request": {
    "userAttributes": {"sub": "3f1c1a52-0f0e-4b8e-9f06-1d9c2f6f1c11", "email": "ada@example.com", "name": "Ada Berg", "custom:organization": "acme"},
    "groupConfiguration": {"groupsToOverride": ["production_engineer", "organization_admin"], "iamRolesToOverride": [], "preferredRole": null},
    "scopes": ["aws.cognito.signin.user.admin"]
  },
  "response": {"claimsAndScopeOverrideDetails": null}
}`

func TestTrigger_APersonLogsIn_TheAccessTokenSaysOrganizationRolesAndName(t *testing.T) {
	var e event
	expect.OK(t, json.Unmarshal([]byte(sent), &e))
	answer := expect.Value(generate(context.Background(), e))(t)
	b := expect.Value(json.Marshal(answer))(t)
	var got map[string]json.RawMessage
	expect.OK(t, json.Unmarshal(b, &got))
	want := `{"claimsAndScopeOverrideDetails":{"accessTokenGeneration":{"claimsToAddOrOverride":{"name":"Ada Berg","org":"acme","roles":"organization_admin production_engineer"}}}}`
	expect.Equal(t, string(got["response"]), want, "the response is")
	if string(got["version"]) != `"2"` || string(got["userPoolId"]) != `"eu-central-1_EXAMPLE"` {
		t.Errorf("Cognito expects its event back, and got %s", b)
	}
}

func TestClaims(t *testing.T) {
	for name, c := range map[string]struct {
		attributes map[string]string
		groups     []string
		want       map[string]string
	}{
		"a user of no organization and no group says nothing": {want: map[string]string{}},
		"an empty attribute says nothing":                     {attributes: map[string]string{"custom:organization": ""}, want: map[string]string{}},
		"a group that is not a role says nothing":             {groups: []string{"football"}, want: map[string]string{}},
		"a group named edge makes nobody a box":               {groups: []string{"edge", "platform_owner"}, want: map[string]string{"roles": "platform_owner"}},
		"an attribute of another name says nothing":           {attributes: map[string]string{"organization": "acme"}, want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, claims(c.attributes, c.groups), c.want, "claims are")
		})
	}
}
