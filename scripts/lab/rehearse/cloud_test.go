package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// playEmulator makes this program listen like the emulator, or end immediately.
const playEmulator = "REHEARSE_TEST_EMULATOR"

func TestMain(m *testing.M) {
	switch os.Getenv(playEmulator) {
	case "listen":
		fmt.Println(http.ListenAndServe(os.Args[2], http.NotFoundHandler()))
		os.Exit(1)
	case "end":
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestStartCloud_WaitsUntilTheEmulatorListens(t *testing.T) {
	t.Setenv(playEmulator, "listen")
	c := expect.Value(startCloud(t.Context(), os.Args[0], filepath.Join(t.TempDir(), "log")))(t)
	answer := expect.Value(http.Get(c.endpoint))(t)
	answer.Body.Close()
	c.stop()
	if answer, err := http.Get(c.endpoint); err == nil {
		answer.Body.Close()
		t.Error("the emulator listens after its end")
	}
}

func TestStartCloud_EmulatorThatEnds_IsToldWithItsLog(t *testing.T) {
	t.Setenv(playEmulator, "end")
	log := filepath.Join(t.TempDir(), "log")
	_, err := startCloud(t.Context(), os.Args[0], log)
	expect.That(t, err != nil && strings.Contains(err.Error(), log), "said %v", err)
}

// emulated is a cloud with answers from a function. Its arguments are the action of CloudFormation or the target of
// Systems Manager, and the token of the requested page.
func emulated(t *testing.T, answer func(call, token string) string) *cloud {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		call := r.Header.Get("X-Amz-Target")
		var token string
		if call == "" {
			values, _ := url.ParseQuery(string(body))
			call, token = values.Get("Action"), values.Get("NextToken")
		} else {
			var values struct{ NextToken string }
			_ = json.Unmarshal(body, &values)
			token = values.NextToken
		}
		text := answer(call, token)
		if text == "" {
			w.WriteHeader(http.StatusBadRequest)
			text = "no such call"
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return &cloud{endpoint: server.URL}
}

// listed is a page of CloudFormation resources.
func listed(next string, resources ...resource) string {
	var b strings.Builder
	b.WriteString("<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>")
	for _, r := range resources {
		fmt.Fprintf(&b, "<member><LogicalResourceId>%s</LogicalResourceId><PhysicalResourceId>%s</PhysicalResourceId>"+
			"<ResourceType>%s</ResourceType><ResourceStatus>%s</ResourceStatus></member>", r.ID, r.Physical, r.Type, r.Status)
	}
	b.WriteString("</StackResourceSummaries>")
	if next != "" {
		b.WriteString("<NextToken>" + next + "</NextToken>")
	}
	return b.String() + "</ListStackResourcesResult></ListStackResourcesResponse>"
}

var (
	table    = resource{"tablefactories1", "dev-factories", "AWS::DynamoDB::Table", "CREATE_COMPLETE"}
	function = resource{"getrollout1", "dev-get-rollout", "AWS::Lambda::Function", "UPDATE_COMPLETE"}
)

func TestResources_OfSeveralPages_AreAllThere(t *testing.T) {
	c := emulated(t, func(_, token string) string {
		if token == "" {
			return listed("more", table)
		}
		return listed("", function)
	})
	got, err := c.resources(t.Context(), "wavegate-dev")
	want := map[string]resource{table.ID: table, function.ID: function}
	expect.That(t, err == nil && maps.Equal(got, want), "got %v (%v)", got, err)
}

func TestStacks_DestroyedOnes_AreNotThere(t *testing.T) {
	c := emulated(t, func(string, string) string {
		return "<R><DescribeStacksResult><Stacks>" +
			"<member><StackName>a</StackName><StackStatus>CREATE_COMPLETE</StackStatus></member>" +
			"<member><StackName>b</StackName><StackStatus>DELETE_COMPLETE</StackStatus></member></Stacks></DescribeStacksResult></R>"
	})
	got, err := c.stacks(t.Context())
	expect.That(t, err == nil && maps.Equal(got, map[string]string{"a": "CREATE_COMPLETE"}), "got %v (%v)", got, err)
}

func TestParameters_OfSeveralPages_AreAllThere(t *testing.T) {
	c := emulated(t, func(call, token string) string {
		switch {
		case call != "AmazonSSM.GetParametersByPath":
			return ""
		case token == "":
			return `{"Parameters":[{"Name":"/wavegate/dev/a","Value":"1"}],"NextToken":"more"}`
		}
		return `{"Parameters":[{"Name":"/wavegate/dev/b","Value":"2"}]}`
	})
	got, err := c.parameters(t.Context(), "/wavegate/dev")
	expect.That(t, err == nil && maps.Equal(got, map[string]string{"/wavegate/dev/a": "1", "/wavegate/dev/b": "2"}),
		"got %v (%v)", got, err)
}

func TestCall_Refused_IsAnError(t *testing.T) {
	c := emulated(t, func(string, string) string { return "" })
	err := c.unprotect(t.Context(), "wavegate-dev")
	expect.That(t, err != nil && strings.Contains(err.Error(), "no such call"), "said %v", err)
}

// TestComplete_WhatLacksFailedOrIsLeft_IsNamed compares a stack with its template.
func TestComplete_WhatLacksFailedOrIsLeft_IsNamed(t *testing.T) {
	failed, gone, left := function, function, function
	failed.Status, gone.Status, left.ID = "CREATE_FAILED", "DELETE_COMPLETE", "left1"
	gone.ID = "gone1"
	want := template{Resources: map[string]struct{ Type string }{table.ID: {table.Type}, function.ID: {function.Type}}}
	for name, test := range map[string]struct {
		there  []resource
		faults []string
	}{
		"all is there, and what went is gone": {[]resource{table, function, gone}, nil},
		"one is missing":                      {[]resource{table}, []string{function.ID}},
		"one failed":                          {[]resource{table, failed}, []string{`getrollout1 (AWS::Lambda::Function) is "CREATE_FAILED"`}},
		"one is left":                         {[]resource{table, function, left}, []string{"left1 (AWS::Lambda::Function) is still there"}},
		"nothing is there":                    {nil, []string{table.ID, function.ID}},
	} {
		t.Run(name, func(t *testing.T) {
			c := emulated(t, func(string, string) string { return listed("", test.there...) })
			v := &version{in: &workspace{cloud: c}}
			err := v.complete(t.Context(), v.service(), want)
			expect.Must(t, (err == nil) == (len(test.faults) == 0), "said %v", err)
			for _, fault := range test.faults {
				expect.That(t, strings.Contains(err.Error(), fault), "%q is not in %v", fault, err)
			}
		})
	}
}

func TestEnvironment_HoldsNothingOfTheUsersAccount(t *testing.T) {
	environment := (&cloud{endpoint: "http://127.0.0.1:1"}).environment()
	for _, want := range []string{"AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_SESSION_TOKEN="} {
		expect.That(t, slices.Contains(environment, want), "%s is not among %v", want, environment)
	}
}
