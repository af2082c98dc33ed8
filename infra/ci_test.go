package main

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// prefixes are IAM's names of services that have another name in CloudFormation. A custom resource is a call of its
// function.
var prefixes = map[string]string{"Cognito": "cognito-idp", "ApiGateway": "apigateway", "SmokeTest": "lambda"}

// TestCI_TheExecutionPolicy_CoversEveryKindOfResource, of the largest deployment, and none that manages people's accounts.
func TestCI_TheExecutionPolicy_CoversEveryKindOfResource(t *testing.T) {
	b := expect.Value(os.ReadFile("ci/execution-policy.json"))(t)
	var policy map[string]any
	expect.OK(t, json.Unmarshal(b, &policy))
	compact, err := json.Marshal(policy)
	if err != nil || len(compact) > 6144 {
		t.Errorf("the policy has %d characters, and IAM takes 6,144: %v", len(compact), err)
	}
	var actions []string
	for _, line := range allowed(policy) {
		fields := strings.Fields(line)
		if fields[0] == "Allow" {
			actions = append(actions, fields[1])
		}
		if fields[0] == "Allow" && (fields[1] == "*" || fields[1] == "iam:*") {
			t.Errorf("it allows %s", line)
		}
	}
	for id, r := range full().Resources {
		service := strings.Split(r.Type, "::")[1]
		prefix := prefixes[service]
		if prefix == "" {
			prefix = strings.ToLower(service)
		}
		if !slices.ContainsFunc(actions, func(action string) bool { return strings.HasPrefix(action, prefix+":") }) {
			t.Errorf("it covers no %s, such as %s", r.Type, id)
		}
	}
}

// TestCI_Names_OfRolesAndFunctions_AreThoseThatThePolicyKnows: it covers names that begin with wavegate-, and the
// names that CloudFormation makes begin with the stack's.
func TestCI_Names_OfRolesAndFunctions_AreThoseThatThePolicyKnows(t *testing.T) {
	for id, r := range full().Resources {
		for _, property := range []string{"FunctionName", "AlarmName", "DashboardName", "QueueName", "RoleName", "ApplicationName"} {
			name, given := r.Properties[property].(string)
			if match, err := path.Match("wavegate-*", name); given && (err != nil || !match) {
				t.Errorf("%s is named %s", id, name)
			}
		}
	}
}
