package ratelimit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/problem"
)

// A Ruling is what the limiter decides about a request.
type Ruling int

const (
	// Admitted requests go on. Decision.Unchecked reports whether they were counted.
	Admitted Ruling = iota
	// Rejected requests exceed a limit: 429.
	Rejected
	// Unavailable requests cost money and could not be checked: 503.
	Unavailable
)

// A QuotaPolicy is the state of one limit for the caller.
type QuotaPolicy struct {
	// Name is user, org, copilot-user, copilot-org or reserve.
	Name string
	// Quota is the number of requests in any 60 s. Remaining is how many of them are left now.
	Quota, Remaining int
	// Reset is the time, in whole seconds, until more becomes free.
	Reset time.Duration
	// Exceeded is set for a policy that rejects. RetryAfter is then the wait for this policy.
	Exceeded   bool
	RetryAfter time.Duration
}

// A Result is the limiter's answer to one request.
type Result struct {
	Outcome Ruling
	// Policies are the limits that were checked, in order. There are none if the request is
	// Unchecked.
	Policies []QuotaPolicy
	// RetryAfter is set unless the request is admitted: from 1 s, in whole seconds; property 6
	// says up to what.
	RetryAfter time.Duration
	// Unchecked is the store's failure, if the limiter could not check the request. An ordinary
	// request is then admitted; a copilot request is not.
	Unchecked error
	// Writes is how many writes the decision took, and RoundTrips how many of them ran one after
	// the other. A user's counts are written in parallel; the organization's counts usually
	// follow.
	Writes, RoundTrips int

	own item // of the caller's own count, if it admitted the request
}

// unavailableFor is the Retry-After while the store fails: the longest time that the breaker is
// open.
const unavailableFor = breakerLongest

func unchecked(class Class, cause error) Result {
	d := Result{Unchecked: cause}
	if class == Copilot {
		d.Outcome, d.RetryAfter = Unavailable, unavailableFor
	}
	return d
}

func (d *Result) add(p QuotaPolicy) {
	d.Policies = append(d.Policies, p)
	if p.Exceeded {
		d.Outcome = Rejected
		d.RetryAfter = max(d.RetryAfter, p.RetryAfter)
	}
}

// Err is nil for an admitted request. Otherwise it is the problem to answer with: RATE_LIMITED,
// which names every policy that was exceeded, or UNAVAILABLE.
func (d Result) Err() error {
	switch d.Outcome {
	case Rejected:
		return d.rateLimited()
	case Unavailable:
		return problem.Wrap(d.Unchecked, problem.Unavailable,
			"The fair-use limit cannot be checked at the moment.").After(d.RetryAfter)
	}
	return nil
}

func (d Result) rateLimited() error {
	var names, limits []string
	place := fmt.Sprintf("Try again in %d s.", d.RetryAfter/time.Second)
	for _, p := range d.Policies {
		if p.Exceeded {
			names = append(names, p.Name)
			limits = append(limits, fmt.Sprintf("%s (%d in any 60 s)", p.Name, p.Quota))
		}
		if p.Exceeded && p.Quota == 0 && !d.reserved() {
			place = "While a limit is 0, a retry cannot succeed."
		}
	}
	e := problem.New(problem.RateLimited, "Exceeded: %s. %s", strings.Join(limits, ", "), place).After(d.RetryAfter)
	e.Policies = names
	return e
}

// reserved reports whether the reserve was checked for the request.
func (d Result) reserved() bool {
	return slices.ContainsFunc(d.Policies, func(p QuotaPolicy) bool { return p.Name == reservePolicy })
}

// Unchecked is the header of an answer to a request that could not be checked: the structured boolean true. The draft
// below cannot express that. Its policies need a quota, which is unknown here, because an override is read with the
// count.
const Unchecked = "RateLimit-Unchecked"

// Header returns RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11). In
// them q is the quota, w the window in seconds, r what remains, and t the seconds until more
// becomes free. If the request was not checked, it returns Unchecked instead. Retry-After comes
// from Err.
func (d Result) Header() http.Header {
	h := http.Header{}
	if d.Unchecked != nil {
		// Set would change the names to Ratelimit-Unchecked and so on.
		h[Unchecked] = []string{"?1"}
		return h
	}
	var policies, state []string
	for _, p := range d.Policies {
		policies = append(policies, fmt.Sprintf("%q;q=%d;w=%d", p.Name, p.Quota, window/time.Second))
		state = append(state, fmt.Sprintf("%q;r=%d;t=%d", p.Name, p.Remaining, p.Reset/time.Second))
	}
	h["RateLimit-Policy"] = []string{strings.Join(policies, ", ")}
	h["RateLimit"] = []string{strings.Join(state, ", ")}
	return h
}
