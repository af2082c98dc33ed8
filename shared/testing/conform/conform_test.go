package conform_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/conform"
	"wavegate/shared/testing/expect"
)

// read is an exchange that follows the contract: a factory is read.
func read() conform.Exchange {
	return conform.Exchange{
		Method: http.MethodGet, Target: "/prod/api/factories/munich-1",
		Header: http.Header{"Authorization": {"Bearer token"}},
		Status: http.StatusOK,
		Answer: http.Header{
			"Content-Type": {"application/json"}, "Cache-Control": {"private, no-cache"}, "Etag": {`"1"`},
			"Ratelimit": {`"user";r=599;t=60`}, "Ratelimit-Policy": {`"user";q=600;w=60`}, "X-Amzn-Requestid": {"r"},
		},
		AnswerBody: []byte(`{"factoryId":"munich-1","organizationId":"acme","name":"Munich 1",` +
			`"createdAt":"2026-03-01T12:00:00.000Z","updatedAt":"2026-03-01T12:00:00.500Z","revision":1}`),
	}
}

// refused is an exchange that follows the contract: a factory's body has two faults.
func refused() conform.Exchange {
	return conform.Exchange{
		Method: http.MethodPut, Target: "/api/factories/munich-1",
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   []byte(`{"name":"","extra":1}`),
		Status: http.StatusBadRequest,
		Answer: http.Header{"Content-Type": {"application/problem+json"}, "Cache-Control": {"no-store"}},
		AnswerBody: []byte(`{"type":"urn:wavegate:problem:validation-failed","title":"The request is not valid","status":400,` +
			`"detail":"3 of the request's values are not valid; see errors.","code":"VALIDATION_FAILED","requestId":"r",` +
			`"errors":[{"pointer":"/name","code":"length","detail":"must have 1 to 200 characters, not 0"}]}`),
	}
}

// taken is an exchange that follows the contract: a factory is registered.
func taken() conform.Exchange {
	x := refused()
	x.Body = []byte(`{"organizationId":"acme","name":"Munich 1"}`)
	x.Status, x.AnswerBody = http.StatusCreated, nil
	x.Answer.Del("Content-Type")
	return x
}

// stray is an exchange that follows the contract: nothing is there, and the gateway says so.
func stray() conform.Exchange {
	x := refused()
	x.Method, x.Target, x.Status = http.MethodDelete, "/api/nothing", http.StatusNotFound
	x.AnswerBody = []byte(`{"type":"urn:wavegate:problem:not-found","title":"There is no such resource","status":404,` +
		`"detail":"There is no such resource.","code":"NOT_FOUND","requestId":"r"}`)
	return x
}

var checker = sync.OnceValues(conform.New)

func check(t *testing.T, x conform.Exchange) error {
	t.Helper()
	c := expect.Value(checker())(t)
	return c.Check(x)
}

func TestCheck_WhatKeepsTheContract_Passes(t *testing.T) {
	for name, x := range map[string]conform.Exchange{"read": read(), "refused": refused(), "taken": taken(), "stray": stray()} {
		err := check(t, x)
		expect.That(t, err == nil, "%s: %v", name, err)
	}
}

// TestCheck_EveryDeparture_IsFound departs from the contract in one thing at a time.
func TestCheck_EveryDeparture_IsFound(t *testing.T) {
	swap := func(b []byte, from, to string) []byte { return []byte(strings.Replace(string(b), from, to, 1)) }
	for name, c := range map[string]struct {
		of     func() conform.Exchange
		depart func(*conform.Exchange)
		says   string
	}{
		"a status":                     {read, func(x *conform.Exchange) { x.Status = http.StatusAccepted }, "the status is not documented"},
		"a header":                     {read, func(x *conform.Exchange) { x.Answer.Set("X-Debug", "1") }, "the header X-Debug is not documented"},
		"no header":                    {read, func(x *conform.Exchange) { x.Answer.Del("ETag") }, "the header ETag is missing"},
		"a header's value":             {read, func(x *conform.Exchange) { x.Answer.Set("ETag", "1") }, `response header "ETag"`},
		"a media type":                 {read, func(x *conform.Exchange) { x.Answer.Set("Content-Type", "text/html") }, "text/html"},
		"a field":                      {read, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `{`, `{"secret":1,`) }, "secret"},
		"no field":                     {read, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `"name":"Munich 1",`, ``) }, "name"},
		"a field's type":               {read, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `:1}`, `:"1"}`) }, "revision"},
		"a field's value":              {read, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `munich-1`, `Munich-1`) }, "factoryId"},
		"a body where there is none":   {taken, func(x *conform.Exchange) { x.AnswerBody = []byte(`{}`) }, "a body is not documented"},
		"a code of another status":     {refused, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `VALIDATION_FAILED`, `CONFLICT`) }, "code"},
		"a fault's field":              {refused, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `"pointer"`, `"cause":"x","pointer"`) }, "cause"},
		"a refusal without reason":     {refused, func(x *conform.Exchange) { x.Body = taken().Body }, "refused a request that the contract allows"},
		"a bad body that is taken":     {taken, func(x *conform.Exchange) { x.Body = refused().Body }, "took a request that the contract forbids"},
		"a parameter that is taken":    {taken, func(x *conform.Exchange) { x.Target += "?force=1" }, `no query parameter "force"`},
		"a bad path that is taken":     {taken, func(x *conform.Exchange) { x.Target = "/api/factories/Munich" }, "took a request that the contract forbids"},
		"a bad header that is taken":   {taken, func(x *conform.Exchange) { x.Header.Set("If-Match", "3") }, "took a request that the contract forbids"},
		"a route":                      {stray, func(x *conform.Exchange) { x.Status = http.StatusOK }, "not an operation of the contract"},
		"a 405 without Allow":          {stray, func(x *conform.Exchange) { x.Status = http.StatusMethodNotAllowed }, "the header Allow is missing"},
		"a 405 that is something else": {stray, func(x *conform.Exchange) { x.Status = http.StatusMethodNotAllowed; x.Answer.Set("Allow", "GET") }, "the code is NOT_FOUND"},
		"a method":                     {stray, func(x *conform.Exchange) { x.Target, x.Status = "/api/factories/munich-1", http.StatusNoContent }, "not an operation of the contract"},
		"the gateway's own body":       {stray, func(x *conform.Exchange) { x.AnswerBody = swap(x.AnswerBody, `{`, `{"message":"Forbidden",`) }, "message"},
	} {
		t.Run(name, func(t *testing.T) {
			x := c.of()
			c.depart(&x)
			if err := check(t, x); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
		})
	}
}

// TestCheck_NewShapes_AreAlwaysLookedAt: after many exchanges of one shape, a difference in another shape is still
// found.
func TestCheck_NewShapes_AreAlwaysLookedAt(t *testing.T) {
	c := expect.Value(conform.New())(t)
	for range 150 {
		expect.OK(t, c.Check(read()))
	}
	x := read()
	x.AnswerBody = []byte(strings.Replace(string(x.AnswerBody), `{`, `{"secret":1,`, 1))
	expect.That(t, c.Check(x) != nil, "a field that is not documented went unseen")
	if exchanges, operations, answers := c.Coverage(); exchanges != 151 || operations != 1 || answers != 1 {
		t.Errorf("counted %d exchanges of %d operations with %d answers", exchanges, operations, answers)
	}
}

// TestUnseen_ListsWhatNoExchangeHad: a factory was read, and nothing else was called.
func TestUnseen_ListsWhatNoExchangeHad(t *testing.T) {
	c := expect.Value(conform.New())(t)
	missing := read()
	missing.Status, missing.AnswerBody = http.StatusNotFound, stray().AnswerBody
	missing.Answer = stray().Answer
	_, _ = c.Check(read()), c.Check(missing)
	unseen := c.Unseen([]problem.Code{problem.Unauthenticated, problem.Forbidden}, []problem.Code{problem.Internal})
	for says, want := range map[string]bool{
		"200 of get-factory": false, "304 of get-factory": true, "NOT_FOUND of get-factory": false, "VALIDATION_FAILED of get-factory": true,
		"INTERNAL of get-factory": false, "FORBIDDEN of get-factory": false, "FORBIDDEN of any operation": true, "201 of put-factory": true,
	} {
		expect.Equal(t, slices.Contains(unseen, says), want, "%s: listed", says)
	}
}
