package ratelimit

import (
	"context"
	"time"
)

// reserve is how many requests a user may make in any 60 s beyond their limits. It applies only
// to operations that may use the reserve: see Reserved. It is the same for everyone,
// so no override can stop a user from halting a rollout, or a box from reporting a failure, not even an override of 0.
const reserve = 60

// reservePolicy names the reserve in headers and problems.
const reservePolicy = "reserve"

func reserveOf(c Caller) subject {
	return subject{key: "reserve#" + userKey(c.User), policy: reservePolicy, limit: reserve}
}

// askReserve admits a rejected request if the caller's reserve has a place, and counts it there.
func (l *Limiter) askReserve(ctx context.Context, c Caller, d *Result, now time.Time) error {
	s := reserveOf(c)
	v, err := l.admit(ctx, s.key, now, s.limit)
	d.Writes += v.writes
	d.RoundTrips += v.writes
	if err != nil {
		return err
	}
	d.reserve(l.policy(s, v, now))
	return nil
}

// recallReserve reports whether the container remembers that the caller's reserve is used up.
func (l *Limiter) recallReserve(c Caller, d *Result, now time.Time) bool {
	p, ok := l.recall(reserveOf(c), now)
	if ok {
		d.reserve(p)
	}
	return ok
}

// reserve adds the reserve's result to a rejection. The request is admitted if the reserve has a
// place. Otherwise the caller waits until either the limits or the reserve have one.
func (d *Result) reserve(p QuotaPolicy) {
	d.Policies = append(d.Policies, p)
	if p.Exceeded {
		d.RetryAfter = min(d.RetryAfter, p.RetryAfter)
		return
	}
	d.Outcome, d.RetryAfter = Admitted, 0
}
