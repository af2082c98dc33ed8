package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"wavegate/events"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
)

// A trial is an event that changes nothing, with a judge of the answer to it.
type trial struct {
	event []byte
	judge func(answer []byte) error
}

// stranger is the caller in every trial. No user, issuer or organization has this name.
const stranger = "smoke-test"

// trialOf makes the trial of a function from its sample event. The function has to start, read its settings, understand
// the event and answer. Its answer shows what else has worked:
//
//   - An operation that only reads does read, as a stranger to every organization. So its tables, its indexes
//     and its permissions are tried, too.
//   - Every other operation gets an expired caller, and answers 401 before anything else. So nothing is written.
//   - The authorizer sees no token and refuses, the pages are served, the bell does not know the address, the door reads a
//     box that does not exist, and a task only looks whether it knows the form of the stored data.
func trialOf(function string) (trial, error) {
	switch function {
	case operations.Authorizer:
		return sample("authorizer-deny-no-token", denies)
	case operations.Docs, operations.Console:
		return sample(function, answers(http.StatusOK))
	case operations.Door:
		const event = `{"rawPath":"/api/edges/` + stranger + `/update/manifest","headers":{"authorization":"Bearer wavegate-edge:` + stranger +
			`:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},"requestContext":{"http":{"method":"GET"}}}`
		return trial{[]byte(event), answers(http.StatusUnauthorized)}, nil
	case operations.Bell:
		return trial{[]byte(`{"rawPath":"/","headers":{},"requestContext":{"http":{"method":"GET"}}}`), answers(http.StatusNotFound)}, nil
	}
	if slices.ContainsFunc(table.Tasks, func(t operations.Task) bool { return t.ID == function }) {
		return trial{[]byte(`{"smokeTest":true}`), func([]byte) error { return nil }}, nil
	}
	i := slices.IndexFunc(table.All, func(op operations.Operation) bool { return op.ID == function })
	if i < 0 {
		return trial{}, fmt.Errorf("is not a function of the service: %s", function)
	}
	if reads(table.All[i]) {
		return asStranger(function, nil, answers(http.StatusOK, http.StatusNotModified, http.StatusForbidden, http.StatusNotFound))
	}
	return asStranger(function, map[string]any{"exp": "1"}, answers(http.StatusUnauthorized))
}

// reads reports whether an operation cannot write to a table, apart from the limiter's counts.
func reads(op operations.Operation) bool {
	if op.Method != http.MethodGet {
		return false
	}
	for _, g := range op.Grants {
		for _, a := range g.Actions {
			if g.Table != dynamo.RateCounters && !slices.Contains([]dynamo.Permission{dynamo.Get, dynamo.BatchGet, dynamo.Query}, a) {
				return false
			}
		}
	}
	return true
}

// sample is a trial with an unchanged sample event.
func sample(name string, judge func([]byte) error) (trial, error) {
	text, err := events.Files.ReadFile(name + ".json")
	return trial{text, judge}, err
}

// asStranger is a trial with the sample event of an operation, sent by a stranger with the sample's roles.
func asStranger(operation string, changes map[string]any, judge func([]byte) error) (trial, error) {
	t, err := sample(operation, judge)
	if err != nil {
		return trial{}, err
	}
	var event map[string]any
	if err := json.Unmarshal(t.event, &event); err != nil {
		return trial{}, fmt.Errorf("has no sample event: %w", err)
	}
	within, _ := event["requestContext"].(map[string]any)
	caller, _ := within["authorizer"].(map[string]any)
	if caller == nil {
		return trial{}, errors.New("has a sample event without a caller")
	}
	caller["issuer"], caller["userId"], caller["organizationId"] = stranger, stranger, stranger
	delete(caller, "credential")
	for key, value := range changes {
		caller[key] = value
	}
	t.event, err = json.Marshal(event)
	return t, err
}

// answers judges an answer to API Gateway, or to a function's URL, by its status. A failure is named by its problem's
// code, which says more than the status and contains no personal data.
func answers(good ...int) func([]byte) error {
	return func(answer []byte) error {
		var got struct {
			StatusCode int    `json:"statusCode"`
			Body       string `json:"body"`
		}
		if err := json.Unmarshal(answer, &got); err != nil || got.StatusCode == 0 {
			return errors.New("answered what API Gateway takes for a failure (502)")
		}
		if slices.Contains(good, got.StatusCode) {
			return nil
		}
		var problem struct {
			Code string `json:"code"`
		}
		_ = json.Unmarshal([]byte(got.Body), &problem) // an answer of another form has no code
		return fmt.Errorf("answered %d %s, want one of %d", got.StatusCode, problem.Code, good)
	}
}

// denies judges the authorizer's answer to a call without a token.
func denies(answer []byte) error {
	var got struct {
		Policy struct{ Statement []struct{ Effect string } } `json:"policyDocument"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || len(got.Policy.Statement) != 1 || got.Policy.Statement[0].Effect != "Deny" {
		return errors.New("does not refuse a call without a token")
	}
	return nil
}
