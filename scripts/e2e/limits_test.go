package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

const me = "/api/rate-limits/me"

// spend makes n calls, eight at a time, and returns how many were answered with each status.
func spend(t *testing.T, n int, call func() (harness.Answer, error)) map[int]int {
	t.Helper()
	var mu sync.Mutex
	statuses := map[int]int{}
	work := make(chan struct{}, n)
	for range n {
		work <- struct{}{}
	}
	close(work)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range work {
				a, err := call()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				statuses[a.Status]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return statuses
}

// limited checks a 429 that names the policies and returns its Retry-After.
func limited(t *testing.T, a harness.Answer, policies ...string) time.Duration {
	t.Helper()
	p := a.Refused(t, problem.RateLimited)
	expect.Equal(t, p.Policies, policies, "the problem names")
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 121 {
		t.Fatalf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	for _, name := range policies {
		if !strings.Contains(a.Header.Get("RateLimit"), fmt.Sprintf("%q;r=0;t=", name)) {
			t.Errorf("RateLimit is %q", a.Header.Get("RateLimit"))
		}
	}
	return time.Duration(seconds) * time.Second
}

// TestLimits_User_600PassThe601stWaits uses the real limit of 600 and really waits.
func TestLimits_User_600PassThe601stWaits(t *testing.T) {
	t.Parallel()
	w := harness.New(t)
	eric := w.Engineer(t, "acme")
	got := spend(t, 600, func() (harness.Answer, error) { return eric.Try(http.MethodGet, me, "") })
	expect.Must(t, got[200] == 600, "600 calls were answered %v", got)
	wait := limited(t, eric.Get(t, me), "user")
	w.As(t, "emma", "acme").Get(t, me).Is(t, http.StatusOK) // a colleague is not affected
	time.Sleep(wait)
	eric.Get(t, me).Is(t, http.StatusOK)
}

// TestLimits_HaltAfter600Calls_GetsThrough uses the real limit: an operator with a script that went wild can still
// stop the rollout immediately.
func TestLimits_HaltAfter600Calls_GetsThrough(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	rollout := start(t, owner, "gateway-x")
	got := spend(t, 600, func() (harness.Answer, error) { return owner.Try(http.MethodGet, me, "") })
	expect.Equal(t, got, map[int]int{200: 597, 429: 3}, "600 calls more were answered")
	limited(t, owner.Get(t, rollout), "user")
	a := owner.Do(t, http.MethodPatch, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	if got := a.Header.Get("RateLimit"); !strings.Contains(got, `"user";r=0`) || !strings.Contains(got, `"reserve";r=59`) {
		t.Errorf("RateLimit is %s", got)
	}
	engineer := w.As(t, "olga", "wavegate", auth.ProductionEngineer) // the same user, without the permission to halt
	limited(t, engineer.Do(t, http.MethodPatch, rollout, `{"status":"halted"}`), "user")
}

// TestLimits_ReportsAboveTheLimit_GetThrough: whoever has a box's token can use up its limit with polls, but cannot keep
// the guard from hearing that the box failed.
func TestLimits_ReportsAboveTheLimit_GetThrough(t *testing.T) {
	b, _ := boxed(t)
	w, owner := b.w, b.w.Owner(t)
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	own := w.With("Bearer", owner.SetToken(t, boxPath+"/token"))
	owner.Put(t, "/api/edges/box-2", box).Is(t, http.StatusCreated)
	gateway := client(t, w, "GatewayToken", gatewayToken)
	base(t, gateway, "box-2")
	own.Get(t, manifest).Is(t, http.StatusOK)
	for user, issuer := range map[string]string{"box-1": devissuer.Fleet, "box-2": devissuer.Fleet,
		"acme": "urn:wavegate:gateway-tokens:acme"} {
		owner.Put(t, "/api/rate-limits/users/"+user+"?issuer="+url.QueryEscape(issuer), `{"limit":0}`).Is(t, http.StatusCreated)
	}
	limited(t, own.Get(t, manifest), "user")
	limited(t, own.Get(t, ddiPath("acme", "box-1")), "user")
	limited(t, gateway.Get(t, ddiPath("acme", "box-2")), "user")
	for name, a := range map[string]harness.Answer{
		"a failure":          own.Put(t, reports, `{"version":"1.0.0","attempt":1,"outcome":"failed","detail":"no space"}`),
		"a method's state":   b.w.Box(t, "box-1").Put(t, b.report("press-1"), b.says(1, "running")),
		"feedback":           own.Post(t, ddiPath("acme", "box-1")+"/deploymentBase/1/feedback", feedback("closed", "failure", "no space")),
		"of a gateway's box": gateway.Post(t, ddiPath("acme", "box-2")+"/deploymentBase/1/feedback", feedback("closed", "failure", "no space")),
		"of a cancellation":  gateway.Post(t, ddiPath("acme", "box-2")+"/cancelAction/1/feedback", feedback("closed", "success", "")),
		"of what a box runs": gateway.Put(t, ddiPath("acme", "box-2")+"/configData", `{"data":{"installed":"0.9.0"}}`),
	} {
		if state := a.Header.Get("RateLimit"); a.Status > http.StatusCreated || !strings.Contains(state, `"user";r=0`) ||
			!strings.Contains(state, `"reserve";r=`) {
			t.Errorf("%s is answered %d with %s: %s", name, a.Status, state, a.Body)
		}
	}
	knows(t, owner, "box-1", "1.0.0", report.Failed)
	limited(t, own.Get(t, manifest), "user")
}

// TestLimits_Copilot_30PassThe31stWaits uses the real limit of 30. A call also counts as an ordinary one; a rejected
// call counts as neither.
func TestLimits_Copilot_30PassThe31stWaits(t *testing.T) {
	t.Parallel()
	w := harness.New(t, withAssistant(t))
	eric := w.Engineer(t, "acme")
	ask := func() (harness.Answer, error) { return eric.Try(http.MethodPost, "/api/copilot/chat", "{}") }
	got := spend(t, 30, ask)
	expect.Must(t, got[200] == 30, "30 calls were answered %v", got)
	wait := limited(t, eric.Post(t, "/api/copilot/chat", "{}"), "copilot-user")
	used := map[string]int{}
	for _, l := range standings(t, eric) {
		used[l.Policy] = l.Used
	}
	expect.Equal(t, used, map[string]int{"user": 31, "copilot-user": 30, "org": 31, "copilot-org": 30, "org-boxes": 0}, "used are")
	time.Sleep(wait)
	eric.Post(t, "/api/copilot/chat", "{}").Is(t, http.StatusOK)
}

type standing struct {
	Policy                      string
	Limit, Used, Remaining      int
	WindowSeconds, ResetSeconds int
	Arranged                    bool
	ExpiresAt                   *time.Time
}

func standings(t *testing.T, c *harness.Caller) []standing {
	t.Helper()
	var body struct{ Limits []standing }
	c.Get(t, me).Is(t, http.StatusOK).Into(t, &body)
	return body.Limits
}

// TestLimits_ForbiddenCalls_CountAsWell: a flood of them ends in 429.
func TestLimits_ForbiddenCalls_CountAsWell(t *testing.T) {
	w := harness.New(t, withSettings("LIMIT_USER=10", "LIMIT_COPILOT_USER=5"))
	eric := w.Engineer(t, "acme")
	got := spend(t, 15, func() (harness.Answer, error) { return eric.Try(http.MethodPut, "/api/factories/munich-1", `{}`) })
	expect.Equal(t, got, map[int]int{403: 10, 429: 5}, "15 forbidden calls were answered")
}

// TestLimits_RejectedWrite_WritesNothing: the limiter decides before the transaction.
func TestLimits_RejectedWrite_WritesNothing(t *testing.T) {
	w, owner := begin(t, withSettings("LIMIT_USER=3", "LIMIT_COPILOT_USER=3"))
	got := spend(t, 8, func() (harness.Answer, error) {
		return owner.Try(http.MethodPut, "/api/factories/"+harness.Name("f"), `{"organizationId":"acme","name":"F"}`)
	})
	expect.Equal(t, got, map[int]int{201: 3, 429: 5}, "8 writes were answered")
	expect.Equal(t, len(w.Items(t, dynamo.Factories)), 3, "factories, which are those that were admitted:")
}

func TestLimits_Override_ActsOnTheVeryNextCall(t *testing.T) {
	w := harness.New(t, withSettings("LIMIT_USER=5", "LIMIT_COPILOT_USER=5"))
	owner, eric := w.Owner(t), w.Engineer(t, "acme")
	for range 5 {
		eric.Get(t, me).Is(t, http.StatusOK)
	}
	limited(t, eric.Get(t, me), "user")

	path := "/api/rate-limits/users/eric"
	owner.Put(t, path, `{"limit":8,"reason":"ticket 4711"}`).Is(t, http.StatusCreated)
	got := standings(t, eric)[0]
	got.WindowSeconds, got.ResetSeconds = 0, 0
	expect.Equal(t, got, standing{Policy: "user", Limit: 8, Used: 6, Remaining: 2, Arranged: true}, "eric stands at")
	owner.Do(t, http.MethodDelete, path, "").Is(t, http.StatusNoContent)
	limited(t, eric.Get(t, me), "user")

	subject := "users/" + devissuer.People + " eric"
	expect.Equal(t, eventNames(w, t, "rate-limit", subject), []string{"RateLimitSet", "RateLimitRemoved"}, "events")
	events := w.Events(t, "rate-limit", subject)
	expect.Equal(t, events[1]["after"], nil, "after the last event there is")
}

// troubled disturbs only the limiter's writes.
func troubled(t *testing.T, w *harness.World, effect storefront.Effect) {
	t.Helper()
	counters := dynamolocal.TableName(dynamo.RateCounters)
	t.Cleanup(w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Operation == "UpdateItem" && c.Writes(counters) {
			return effect
		}
		return storefront.Effect{}
	}))
}

// uncounted is the number of calls that a function logged as let through uncounted.
func uncounted(w *harness.World, name string) int {
	n := 0
	for _, line := range w.Logs(name) {
		if strings.Contains(line, `"`+function.LimiterFailOpen+`":1`) {
			n++
		}
	}
	return n
}

// unchecked checks that an answer says that the limits were not checked.
func unchecked(t *testing.T, a harness.Answer) {
	t.Helper()
	if h := a.Header; h.Get(ratelimit.Unchecked) != "?1" || h.Get("RateLimit") != "" || h.Get("RateLimit-Policy") != "" {
		t.Errorf("an unchecked call got %v", h)
	}
}

func TestLimits_StoreStopped_OrdinaryCallsPassAndCopilotCallsDoNot(t *testing.T) {
	w := harness.New(t, withAssistant(t))
	troubled(t, w, storefront.Effect{Answer: storefront.Failure(http.StatusInternalServerError, "InternalServerError", "down")})
	owner, eric := w.Owner(t), w.Engineer(t, "acme")
	for range 6 { // the breaker opens after three
		a := owner.Put(t, "/api/factories/"+harness.Name("f"), `{"organizationId":"acme","name":"F"}`).Is(t, http.StatusCreated)
		unchecked(t, a)
		refused := eric.Post(t, "/api/copilot/chat", "{}")
		refused.Refused(t, problem.Unavailable)
		unchecked(t, refused)
		expect.Equal(t, refused.Header.Get("Retry-After"), "5", "Retry-After is")
	}
	expect.Equal(t, uncounted(w, "put-factory"), 6, "calls that were reported as let through uncounted:")
}

// TestLimits_StoreSlow_TheDeadlineHolds: the limiter's writes would succeed after three seconds. No answer waits for
// that: none of the calls is counted.
func TestLimits_StoreSlow_TheDeadlineHolds(t *testing.T) {
	w := harness.New(t, withAssistant(t), withSettings("LIMIT_DEADLINE_MS=100"))
	troubled(t, w, storefront.Effect{Delay: 3 * time.Second})
	for range 4 {
		unchecked(t, w.Engineer(t, "acme").Get(t, me).Is(t, http.StatusOK))
		w.Engineer(t, "acme").Post(t, "/api/copilot/chat", "{}").Refused(t, problem.Unavailable)
	}
	expect.Equal(t, uncounted(w, "get-my-rate-limits"), 4, "calls that were reported as let through uncounted:")
}

// TestLimits_BoxesWhoseTokensNameNoOrganization_ShareItsLimit: three boxes with access tokens of an issuer may make 30 calls
// each, and 45 together.
func TestLimits_BoxesWhoseTokensNameNoOrganization_ShareItsLimit(t *testing.T) {
	w := harness.New(t, withSettings(setting.LimitUser.Assign(30), setting.LimitBoxes.Assign(45)))
	owner := w.Owner(t)
	for i := range 3 {
		owner.Put(t, fmt.Sprint("/api/edges/box-", i), `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	}
	admitted, refused := 0, 0
	for range 24 {
		for i := range 3 {
			box := w.Box(t, fmt.Sprint("box-", i))
			switch a := box.Get(t, fmt.Sprintf("/api/edges/box-%d/update/manifest", i)); a.Status {
			case http.StatusTooManyRequests:
				d := a.Refused(t, problem.RateLimited)
				expect.That(t, slices.Contains(d.Policies, "org-boxes") && a.Header.Get("Retry-After") != "", "refused with %v", d.Policies)
				refused++
			default:
				admitted++
			}
		}
	}
	expect.That(t, admitted <= 45 && admitted >= 36, "%d calls were admitted and %d refused, want at most 45 admitted", admitted, refused)
}
