package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestIdempotencyKey_SameRequest_GivesTheFirstAnswerAgain(t *testing.T) {
	w, owner := begin(t)
	factory(t, w, "munich-1", "acme")
	engineer := w.Engineer(t, "acme")
	first := engineer.Post(t, methods, method, "Idempotency-Key", "k").Made(t)
	before := w.State(t)
	again := engineer.Post(t, methods, method, "Idempotency-Key", "k").Made(t)
	// In another spelling, it is the same request.
	other := engineer.Post(t, methods, `{ "name":"\u004dilling ", "productId":"7B0F2C52-6E0B-4F53-9F51-0C5D6A3C1E11" }`,
		"Idempotency-Key", "k").Made(t)
	expect.Equal(t, []string{again, other}, []string{first, first}, "the locations are")
	engineer.Post(t, methods, strings.Replace(method, "Milling", "Turning", 1), "Idempotency-Key", "k").
		Refused(t, problem.IdempotencyKeyReused)
	expect.Equal(t, w.State(t), before, "the stored data is")

	// The same key from another user or organization, or for another path, is a different key.
	colleague := w.As(t, "emma", "acme", auth.ProductionEngineer)
	factory(t, w, "munich-2", "acme")
	seen := []string{first,
		colleague.Post(t, methods, method, "Idempotency-Key", "k").Made(t),
		engineer.Post(t, "/api/factories/munich-2/production-methods", method, "Idempotency-Key", "k").Made(t),
		engineer.Post(t, methods, method, "Idempotency-Key", "K").Made(t),
		engineer.Post(t, methods, method).Made(t),
	}
	slices.Sort(seen)
	expect.Equal(t, len(slices.Compact(slices.Clone(seen))), 5, "methods of %q:", seen)

	// A successful start is not refused because of its own rollout.
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	one := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.0.0"), "Idempotency-Key", "k").Made(t)
	two := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.0.0"), "Idempotency-Key", "k").Made(t)
	expect.Equal(t, two, one, "the second start gives")
	reason := strings.Replace(plan("gateway-x", "stable", "1.0.0"), "{", `{"reason":"Somebody else's",`, 1)
	owner.Post(t, rollouts, reason, "Idempotency-Key", "k").Refused(t, problem.IdempotencyKeyReused)
	owner.Post(t, rollouts, plan("gateway-x", "stable", "1.0.0"), "Idempotency-Key", "other").Refused(t, problem.RolloutActive)
}

func TestIdempotencyKey_RepeatedBehindAnotherPrefix_HandsOutThatPrefix(t *testing.T) {
	w := harness.New(t, harness.WithPrefix("/prod"))
	factory(t, w, "munich-1", "acme")
	location := w.Engineer(t, "acme").Post(t, methods, method, "Idempotency-Key", "k").Made(t)
	expect.Must(t, strings.HasPrefix(location, "/prod/api/factories/munich-1/production-methods/"),
		"Location is %s", location)
	for _, item := range w.Items(t, dynamo.Idempotency) {
		expect.That(t, !strings.Contains(fmt.Sprint(item), "/prod") && !strings.Contains(fmt.Sprint(item), "eric"),
			"the record holds more than it should: %v", item)
	}
}

// cancelledAnswer is DynamoDB's answer for a failed transaction, with the reason of each part.
func cancelledAnswer(codes ...string) *storefront.Answer {
	var reasons []string
	for _, c := range codes {
		reasons = append(reasons, fmt.Sprintf(`{"Code":%q}`, c))
	}
	return &storefront.Answer{Status: http.StatusBadRequest, Body: fmt.Sprintf(
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled","CancellationReasons":[%s]}`,
		strings.Join(reasons, ","))}
}

// TestTrouble_PassesOrIsToldPlainly injects errors that local stores never raise. The caller does not notice a
// passing fault; a lasting one is a problem with Retry-After. Nothing is ever half done.
func TestTrouble_PassesOrIsToldPlainly(t *testing.T) {
	t.Parallel()
	faults := map[string]storefront.Effect{
		"transaction conflict":      {Answer: cancelledAnswer("None", "TransactionConflict", "None", "None")},
		"throttling in a reason":    {Answer: cancelledAnswer("ThrottlingError", "None", "None", "None")},
		"transaction in progress":   {Answer: storefront.Failure(400, "TransactionInProgressException", "in progress")},
		"throughput exceeded":       {Answer: storefront.Failure(400, "ProvisionedThroughputExceededException", "slow down")},
		"internal error":            {Answer: storefront.Failure(500, "InternalServerError", "oops wavegate-internal")},
		"connection lost before it": {DropRequest: true},
	}
	for name, effect := range faults {
		t.Run(name, func(t *testing.T) {
			w, owner := begin(t)
			path := start(t, owner, "gateway-x")
			var left atomic.Int64
			w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
				if c.Operation == "TransactWriteItems" && left.Add(-1) >= 0 {
					return effect
				}
				return storefront.Effect{}
			})

			left.Store(2)
			owner.Patch(t, path, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
			owner.Get(t, path).Has(t, `{"staged_percent":10,"revision":2}`)

			before := w.State(t)
			left.Store(1000)
			a := owner.Patch(t, path, `{"staged_percent":50}`)
			left.Store(0)
			a.Refused(t, problem.Unavailable)
			s := a.Header.Get("Retry-After")
			expect.That(t, s != "" && s != "0", "Retry-After is %q", s)
			if strings.Contains(string(a.Body), "wavegate-internal") || strings.Contains(string(a.Body), "Exception") {
				t.Errorf("the answer tells the cause: %s", a.Body)
			}
			expect.Equal(t, w.State(t), before, "the stored data is")
			owner.Patch(t, path, `{"staged_percent":50}`).Is(t, http.StatusNoContent)
		})
	}
}

// TestTrouble_AnswerLost_ChangeIsMadeOnce drops the store's answer after the transaction was applied. On the store
// that does not support the transaction's token, the change is recognized by its result.
func TestTrouble_AnswerLost_ChangeIsMadeOnce(t *testing.T) {
	w, owner := begin(t)
	factory(t, w, "munich-1", "acme")
	engineer := w.Engineer(t, "acme")
	owner.Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	var left atomic.Int64
	w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Operation == "TransactWriteItems" && left.Add(-1) >= 0 {
			return storefront.Effect{DropAnswer: true}
		}
		return storefront.Effect{}
	})
	lost := func() { left.Store(1) }

	lost()
	path := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
	owner.Get(t, path).Is(t, http.StatusOK)
	lost()
	owner.Patch(t, path, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
	lost()
	// The embedded store ignores the token of the second try, which finds the channel in the wanted state and has
	// nothing to change.
	if a := owner.Put(t, channelPath("gateway-x", "beta"),
		release("1.0.0", digest("a"))); a.Status != http.StatusCreated && a.Status != http.StatusNoContent {
		t.Errorf("answered %d %s", a.Status, a.Body)
	}
	lost()
	made := engineer.Post(t, methods, method).Made(t)
	engineer.Get(t, made).Is(t, http.StatusOK)
	lost()
	keyed := engineer.Post(t, methods, method, "Idempotency-Key", "k").Made(t)
	engineer.Get(t, keyed).Is(t, http.StatusOK)

	expect.Equal(t, len(w.Items(t, dynamo.Rollouts)), 1, "rollouts:")
	expect.Equal(t, len(w.Items(t, dynamo.Methods)), 2, "methods:")
	expect.Equal(t, eventNames(w, t, "rollout", id(path)), []string{"RolloutStarted", "RolloutPromoted"}, "events")
	// Three publications, a factory, a start, a raise and two methods: an event for each.
	expect.Equal(t, len(w.Items(t, dynamo.Audit)), 8, "audit events:")
}
