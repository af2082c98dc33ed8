package function_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/access/auth"
	"wavegate/shared/function"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/expect"
)

type limiter struct {
	known, refusal error
	after          time.Duration // how long a refusal takes
	class          ratelimit.Class
	asked          int
	shared         []string // the organizations for whose boxes a call was counted
	full           error    // what refuses such a call
}

var policy = http.Header{"Ratelimit-Policy": {`"user";q=600;w=60`}}

func (l *limiter) Recall(_ auth.Principal, class ratelimit.Class) (http.Header, error) {
	l.class = class
	return policy, l.known
}

func (l *limiter) Admit(context.Context, auth.Principal, ratelimit.Class) (http.Header, []time.Time, error) {
	l.asked++
	time.Sleep(l.after)
	return policy, nil, l.refusal
}

func (l *limiter) Share(_ context.Context, _ auth.Principal, organization string, _ ratelimit.Class) error {
	l.shared = append(l.shared, organization)
	return l.full
}

var tooMany = problem.New(problem.RateLimited, "Exceeded: user.").After(7 * time.Second)

func limited(t *testing.T, res events.APIGatewayProxyResponse) {
	t.Helper()
	refused(t, res, http.StatusTooManyRequests, problem.RateLimited)
	if res.MultiValueHeaders["Retry-After"][0] != "7" || len(res.MultiValueHeaders["Ratelimit-Policy"]) != 1 {
		t.Errorf("the headers are %v", res.MultiValueHeaders)
	}
}

func TestLimiter_RefusalIsRemembered_HandlerDoesNotRun(t *testing.T) {
	b, l := newBench(), &limiter{known: tooMany}
	b.limiter = l
	limited(t, b.call(t, event(), func(*function.Call, request) (lambdahttp.Answer, error) {
		t.Error("the handler ran")
		return lambdahttp.Answer{}, nil
	}))
	expect.Equal(t, l.asked, 0, "the limiter's store was asked")
}

// TestLimiter_Refuses_HandlersReadsAreCancelled: the handler's reads would take a minute.
func TestLimiter_Refuses_HandlersReadsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.limiter = &limiter{refusal: tooMany, after: 5 * time.Millisecond}
		began := time.Now()
		limited(t, b.call(t, event(), func(c *function.Call, _ request) (lambdahttp.Answer, error) {
			select {
			case <-c.Context().Done():
			case <-time.After(time.Minute):
			}
			return lambdahttp.OK("x", ""), c.Context().Err()
		}))
		expect.Equal(t, time.Since(began), 5*time.Millisecond, "answered after")
	})
}

func TestLimiter_Admits_ContextIsNotCancelled(t *testing.T) {
	b := newBench()
	b.limiter = &limiter{}
	res := b.call(t, event(), func(c *function.Call, _ request) (lambdahttp.Answer, error) {
		return lambdahttp.OK("x", ""), c.Context().Err()
	})
	expect.Equal(t, res.StatusCode, http.StatusOK, "%s: the status is", res.Body)
}

// TestLimiter_ForbiddenCall_DoesNotUseTheReserve: forbidden calls must not use up the reserve.
func TestLimiter_ForbiddenCall_DoesNotUseTheReserve(t *testing.T) {
	for role, want := range map[auth.Role]ratelimit.Class{auth.PlatformOwner: ratelimit.Reserved, auth.OrganizationAdmin: ratelimit.Ordinary} {
		b, l, e := newBench(), &limiter{}, event()
		b.limiter = l
		e.RequestContext.Authorizer["roles"] = string(role)
		if b.callOf(t, "update-rollout", e, answers("x")); l.class != want {
			t.Errorf("a call of a %s counts as %s, want %s", role, l.class, want)
		}
	}
}

// TestLimiter_ABoxWhoseTokenNamesNoOrganization_CountsForThatOfItsRow_Once: others are counted before the handler runs.
func TestLimiter_ABoxWhoseTokenNamesNoOrganization_CountsForThatOfItsRow_Once(t *testing.T) {
	for name, c := range map[string]struct {
		organization, role string
		refusal            error // by the caller's own limit
		want               int
	}{
		"a box without an organization":   {"", string(auth.Edge), nil, 1},
		"such a box that calls too often": {"", string(auth.Edge), tooMany, 0},
		"a box with one":                  {"acme", string(auth.Edge), nil, 0},
		"a person":                        {"", string(auth.PlatformOwner), nil, 0},
	} {
		b, l, e := newBench(), &limiter{full: tooMany, refusal: c.refusal}, event()
		b.limiter = l
		e.RequestContext.Authorizer["roles"] = c.role
		e.RequestContext.Authorizer["organizationId"] = c.organization
		res := b.callOf(t, "get-manifest", e, func(c *function.Call, _ request) (lambdahttp.Answer, error) {
			err := errors.Join(admission.Share(c.Context(), "acme"), admission.Share(c.Context(), "acme"))
			return lambdahttp.OK("x", ""), err
		})
		expect.Equal(t, len(l.shared), c.want, "%s: counted for an organization", name)
		expect.That(t, (res.StatusCode == http.StatusTooManyRequests) == (c.want > 0 || c.refusal != nil), "%s: answered %d", name, res.StatusCode)
	}
}
