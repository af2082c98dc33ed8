package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestOverride_IsSetReadReplacedAndTakenBack(t *testing.T) {
	w := harness.New(t)
	owner, path := w.Owner(t), "/api/rate-limits/organizations/acme"
	owner.Get(t, path).Refused(t, problem.NotFound)
	owner.Do(t, http.MethodDelete, path, "").Refused(t, problem.NotFound)

	owner.Put(t, path, `{"limit":9000,"copilotLimit":500,"boxLimit":1000000,"expiresAt":"2099-01-01T00:00:00+01:00","reason":" ticket 1 "}`).Is(t, http.StatusCreated)
	first := owner.Get(t, path).Is(t, http.StatusOK)
	got := first.Object(t)
	for field, want := range map[string]any{
		"kind": "organizations", "id": "acme", "limit": 9000.0, "copilotLimit": 500.0, "boxLimit": 1_000_000.0,
		"expiresAt": "2098-12-31T23:00:00.000Z", "reason": "ticket 1", "revision": 1.0,
	} {
		expect.Equal(t, got[field], want, "%s is", field)
	}
	expect.Equal(t, first.Header.Get("ETag"), `"1"`, "ETag is")

	// Repeating the same values changes nothing.
	before := w.State(t)
	owner.Put(t, path, `{"limit":9000,"copilotLimit":500,"boxLimit":1000000,"expiresAt":"2098-12-31T23:00:00Z","reason":"ticket 1"}`).Is(t, http.StatusNoContent)
	expect.Equal(t, w.State(t), before, "the stored data is")

	// A PUT replaces everything: the copilot's limit is the default again.
	owner.Put(t, path, `{"limit":100}`, "If-Match", `"7"`).Refused(t, problem.PreconditionFailed)
	owner.Put(t, path, `{"limit":100}`, "If-Match", `"1"`).Is(t, http.StatusNoContent)
	for _, s := range standings(t, w.Engineer(t, "acme")) {
		want := map[string]int{"user": 600, "copilot-user": 30, "org": 100, "copilot-org": 300, "org-boxes": 600_000}[s.Policy]
		expect.That(t, s.Limit == want, "the limit %s is %d, want %d", s.Policy, s.Limit, want)
	}

	owner.Do(t, http.MethodDelete, path, "", "If-Match", `"1"`).Refused(t, problem.PreconditionFailed)
	owner.Do(t, http.MethodDelete, path, "", "If-Match", `"2"`).Is(t, http.StatusNoContent)
	owner.Do(t, http.MethodDelete, path, "").Refused(t, problem.NotFound)

	// Revisions continue, so that an entity tag never means two things.
	owner.Put(t, path, `{"boxLimit":700000}`).Is(t, http.StatusCreated)
	expect.Equal(t, owner.Get(t, path).Header.Get("ETag"), `"4"`, "ETag is")
	expect.Equal(t, len(w.Events(t, "rate-limit", "organizations/acme")), 4, "audit events:")
}

// TestOverride_EndsByItself waits until the override ends.
func TestOverride_EndsByItself(t *testing.T) {
	t.Parallel()
	w := harness.New(t, withSettings("LIMIT_USER=3", "LIMIT_COPILOT_USER=3"))
	owner, eric := w.Owner(t), w.Engineer(t, "acme")
	ends := time.Now().Add(15 * time.Second) // enough for the calls before it, on a busy machine
	owner.Put(t, "/api/rate-limits/users/eric", `{"limit":50,"expiresAt":"`+ends.UTC().Format(time.RFC3339Nano)+`"}`).Is(t, http.StatusCreated)
	for range 5 {
		eric.Get(t, me).Is(t, http.StatusOK)
	}
	time.Sleep(time.Until(ends) + 10*time.Millisecond)
	limited(t, eric.Get(t, me), "user")
	owner.Get(t, "/api/rate-limits/users/eric").Refused(t, problem.NotFound)
}

// TestOverride_UserOfOneIssuer_IsNotTheOtherIssuers: boxes and people of the same name are different
// users.
func TestOverride_UserOfOneIssuer_IsNotTheOtherIssuers(t *testing.T) {
	w := harness.New(t)
	path := "/api/rate-limits/users/gw-1"
	w.Owner(t).Put(t, path+"?issuer="+url.QueryEscape(devissuer.Fleet), `{"limit":5}`).Is(t, http.StatusCreated)
	w.Owner(t).Get(t, path).Refused(t, problem.NotFound)
	if s := standings(t, w.Box(t, "gw-1"))[0]; s.Limit != 5 {
		t.Errorf("the box stands at %+v", s)
	}
	s := standings(t, w.As(t, "gw-1", "acme", auth.ProductionEngineer))[0]
	expect.That(t, s.Limit == 600, "the person stands at %+v", s)
}

func TestOverride_OfNothing_BlocksEveryCall(t *testing.T) {
	w := harness.New(t)
	w.Owner(t).Put(t, "/api/rate-limits/users/eric", `{"limit":0}`).Is(t, http.StatusCreated)
	a := w.Engineer(t, "acme").Get(t, me)
	limited(t, a, "user")
	p := a.Refused(t, problem.RateLimited)
	expect.That(t, !strings.Contains(p.Detail, "Try again in"), "a place is promised: %s", p.Detail)
}
