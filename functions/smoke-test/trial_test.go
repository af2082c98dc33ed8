package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestTrials_OfEveryFunction_AreOfNobody: an operation that can write gets a caller who expired long ago.
func TestTrials_OfEveryFunction_AreOfNobody(t *testing.T) {
	for _, name := range table.Functions() {
		trial, err := trialOf(name)
		expect.That(t, err == nil && json.Valid(trial.event), "%s: %v, %s", name, err, trial.event)
	}
	read := 0
	for _, op := range table.All {
		trial, _ := trialOf(op.ID)
		var event struct {
			RequestContext struct{ Authorizer map[string]any }
		}
		expect.OK(t, json.Unmarshal(trial.event, &event))
		caller, err := auth.FromContext(event.RequestContext.Authorizer)
		if err != nil || caller.UserID != stranger || caller.Issuer != stranger || caller.OrganizationID != stranger || caller.Credential != "" {
			t.Errorf("%s is called by %+v, %v", op.ID, caller, err)
		}
		writes := op.Method != http.MethodGet || slices.ContainsFunc(op.Grants, func(g operations.Grant) bool {
			return g.Table != dynamo.RateCounters && slices.ContainsFunc(g.Actions, func(a dynamo.Permission) bool {
				return a == dynamo.Write || strings.HasPrefix(string(a), "Put") || strings.HasPrefix(string(a), "Update") || strings.HasPrefix(string(a), "Delete")
			})
		})
		expired := caller.Expires.Year() < 1990
		expect.That(t, expired == writes, "%s can write: %t, but its caller has expired: %t", op.ID, writes, expired)
		if !writes {
			read++
		}
	}
	expect.That(t, read >= 20, "only %d operations read", read)
}

func TestJudge_NamesWhatIsWrong(t *testing.T) {
	judge := answers(http.StatusUnauthorized)
	for answer, want := range map[string]string{
		`{"statusCode":401,"body":"{}"}`:                         "",
		`{"statusCode":503,"body":"{\"code\":\"UNAVAILABLE\"}"}`: "answered 503 UNAVAILABLE",
		`{"statusCode":200,"body":"a list"}`:                     "answered 200 , want one of [401]",
		`null`:                                                   "502",
		`"text"`:                                                 "502",
	} {
		err := judge([]byte(answer))
		expect.Error(t, err, want, "%s gives", answer)
	}
	if denies([]byte(`{"policyDocument":{"Statement":[{"Effect":"Allow"}]}}`)) == nil || denies([]byte(`{}`)) == nil {
		t.Error("an authorizer that admits anyone passes")
	}
}
