package ratelimit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http/httptrace"
	"sync"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// A Caller is who a request counts against.
type Caller struct {
	// User names the user across issuers; see auth.Principal.User.
	User string
	// Organization is empty for a caller of none.
	Organization string
	// Box is set for an edge device: it counts against its own limit only, so that a fleet cannot
	// starve the people of its organization.
	Box bool
}

// A Config is what a Limiter is made of. The zero value of every field but Store and Limits stands
// for what the service uses.
type Config struct {
	Store  Updater
	Table  string // the name of the table rate-counters
	Limits Limits
	Clock  func() time.Time
	// Deadline bounds a request's stay in the limiter. A request for which a connection to the store has
	// to be made has at least a second; see bound.
	Deadline time.Duration
}

// A Limiter admits and rejects requests. It is safe for concurrent use; a container has one.
type Limiter struct {
	rules    rules
	store    store
	limits   Limits
	clock    func() time.Time
	deadline time.Duration
	memory   memory
	calm     calm
	breaker  breaker
}

// connectDeadline is the least that a request has for which a connection has to be made.
const connectDeadline = time.Second

// throttleTime is how long a container rejects the requests of a subject whose item is throttled.
const throttleTime = time.Second

// New makes a limiter. It makes no call.
func New(c Config) *Limiter {
	l := &Limiter{
		rules: slotLog, limits: c.Limits, clock: c.Clock,
		deadline: c.Deadline,
	}
	table := c.Table
	if table == "" {
		table = dynamo.RateCounters.Name()
	}
	l.store = counters{api: c.Store, table: table, rules: slotLog}
	if l.clock == nil {
		l.clock = time.Now
	}
	// A container is frozen between its calls, and its monotonic clock with it: what is remembered for
	// five seconds would be remembered for hours. So the limiter goes by the wall clock alone.
	clock := l.clock
	l.clock = func() time.Time { return clock().Round(0) }
	if l.deadline == 0 {
		l.deadline = time.Duration(setting.Numbers[setting.LimitDeadlineMS].Default) * time.Millisecond
	}
	return l
}

// Warm opens the connection to the store, while the function starts, with a write that changes
// nothing. Its failure is found by the first request, if it lasts.
func (l *Limiter) Warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	// Giving back what was never counted fails on its condition. The name is random, so that no
	// partition is warmed by every container at once.
	_, _, _ = l.store.apply(ctx, "warm#"+rand.Text(), giveBack{at: l.rules.at(l.clock())})
}

// A subject is one count that a request adds to.
type subject struct {
	key    string
	policy string
	limit  int // the default
	shared bool
}

// subjects lists what a request counts against, in the order of asking: the user's own counts
// first, so that one who exceeds a limit costs the organization nothing. See calm for when both are
// asked at once.
func (l *Limiter) subjects(c Caller, class operations.LimitClass) [][]subject {
	user := []subject{{key: userKey(c.User), policy: "user", limit: l.limits.User}}
	organization := []subject{{key: organizationKey(c.Organization), policy: "org", limit: l.limits.Organization, shared: true}}
	if class == operations.Copilot {
		user = append(user, subject{key: copilotKey(userKey(c.User)), policy: "copilot-user", limit: l.limits.CopilotUser})
		organization = append(organization, subject{key: copilotKey(organizationKey(c.Organization)), policy: "copilot-org", limit: l.limits.CopilotOrganization, shared: true})
	}
	if c.Box || c.Organization == "" {
		return [][]subject{user}
	}
	return [][]subject{user, organization}
}

// errOpen is why requests go unchecked while the breaker is open.
var errOpen = errors.New("ratelimit: the store failed repeatedly and is left alone for a moment")

// Recall rejects a request at once, without a write, if the container remembers that it would be
// rejected. It admits none: false means that the request has to be decided on by Admit.
func (l *Limiter) Recall(caller Caller, class operations.LimitClass) (Decision, bool) {
	now := l.clock()
	d, rejected := l.remembered(l.subjects(caller, class), now)
	if rejected && class == operations.Reserved {
		return d, l.recallReserve(caller, &d, now)
	}
	return d, rejected
}

// Admit decides on one request and counts it if it is admitted. It answers within the deadline,
// whatever the store does; see Decision.
func (l *Limiter) Admit(ctx context.Context, caller Caller, class operations.LimitClass) Decision {
	if d, rejected := l.Recall(caller, class); rejected {
		return d
	}
	now := l.clock()
	if l.breaker.open(now) {
		return unchecked(class, errOpen)
	}
	bounded, cancel := l.bound(ctx)
	defer cancel()

	levels := l.subjects(caller, class)
	var counted []admitted
	var err error
	// Only a request that may use the reserve gets here with a rejection that is remembered.
	d, rejected := l.remembered(levels, now)
	if !rejected {
		counted, err = l.count(bounded, levels, &d, now)
		rejected = d.Outcome == Rejected
	}
	if err == nil && rejected && class == operations.Reserved {
		err = l.askReserve(bounded, caller, &d, now)
	}
	if err != nil {
		if ctx.Err() == nil {
			l.breaker.failed(l.clock())
		}
		u := unchecked(class, err)
		u.Writes, u.RoundTrips = d.Writes, d.RoundTrips
		return u
	}
	l.breaker.succeeded()
	if rejected {
		l.giveBack(bounded, counted, &d)
	}
	return d
}

// bound gives a request its time: the deadline, or a second where a connection to the store has to be made,
// since that takes a name's look-up and a handshake. It has to at a container's first call, after a pause in
// which the old ones were closed, and after one that broke.
func (l *Limiter) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	began := time.Now()
	timer := time.AfterFunc(l.deadline, func() { cancel(errLate) })
	connecting := func() { timer.Reset(max(l.deadline, connectDeadline) - time.Since(began)) }
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { connecting() },
		ConnectStart: func(string, string) { connecting() },
	})
	return traced, func() { timer.Stop(); cancel(nil) }
}

var errLate = errors.New("ratelimit: the store did not answer in time")

// count puts a request to the counts of all levels, as far as it is admitted, and adds what they say to the
// decision. It returns what was counted.
func (l *Limiter) count(ctx context.Context, levels [][]subject, d *Decision, now time.Time) ([]admitted, error) {
	var counted []admitted
	for _, level := range l.calm.together(levels, now) {
		verdicts, err := l.ask(ctx, level, now)
		trips := 0
		for i, v := range verdicts {
			d.Writes += v.writes
			trips = max(trips, v.writes)
			if v.admitted {
				counted = append(counted, admitted{level[i].key, v})
			}
		}
		d.RoundTrips += trips
		if err != nil {
			return counted, err
		}
		for i, v := range verdicts {
			d.add(l.policy(level[i], v, now))
		}
		if d.Outcome == Rejected {
			break
		}
	}
	return counted, nil
}

// ask puts a request to the counts of one level side by side.
func (l *Limiter) ask(ctx context.Context, level []subject, now time.Time) ([]verdict, error) {
	verdicts := make([]verdict, len(level))
	errs := make([]error, len(level))
	var group sync.WaitGroup
	for i, s := range level[1:] {
		group.Go(func() { verdicts[i+1], errs[i+1] = l.admit(ctx, s.key, now, s.limit) })
	}
	verdicts[0], errs[0] = l.admit(ctx, level[0].key, now, level[0].limit)
	group.Wait()
	return verdicts, errors.Join(errs...)
}

// admit takes one request through its attempt.
func (l *Limiter) admit(ctx context.Context, key string, now time.Time, limit int) (verdict, error) {
	if limit <= 0 {
		return verdict{free: now.Add(l.rules.longest)}, nil
	}
	a := l.rules.begin(now, limit)
	for {
		it, applied, err := l.store.apply(ctx, key, a.next)
		if errors.Is(err, errThrottled) {
			// So many requests are the caller's own doing and no trouble of the store.
			return verdict{limit: limit, used: limit, free: now.Add(throttleTime), throttled: true, writes: a.writes + 1}, nil
		}
		if err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
			}
			return verdict{writes: a.writes + 1}, err
		}
		if v, done := a.answered(it, applied); done {
			return v, nil
		}
	}
}

// policy tells what a verdict means for the caller, and remembers it.
func (l *Limiter) policy(s subject, v verdict, now time.Time) Policy {
	r := l.rules
	p := Policy{Name: s.policy, Quota: v.limit, Remaining: max(v.limit-v.used, 0), Reset: r.retryAfter(now, v.free)}
	if !s.shared {
		l.calm.note(s.key, v, now)
	}
	if v.admitted {
		l.memory.admitted(s.key)
		return p
	}
	if v.throttled {
		l.memory.throttled(s.key, v.limit, now, v.free)
	} else {
		l.memory.rejected(s.key, v.limit, now, v.free)
	}
	p.Exceeded, p.Remaining = true, 0
	p.RetryAfter = l.wait(s, now, v.free)
	return p
}

// wait is the Retry-After of one subject. Those who share one wait a little longer at random, so
// that they do not all come back for the same place.
func (l *Limiter) wait(s subject, now, free time.Time) time.Duration {
	r := l.rules
	wait := r.retryAfter(now, free)
	if s.shared {
		wait = min(wait+time.Duration(mathrand.IntN(4))*time.Second, r.longest)
	}
	return wait
}

// remembered rejects without a write if any of the counts has lately rejected.
func (l *Limiter) remembered(levels [][]subject, now time.Time) (Decision, bool) {
	var d Decision
	for _, level := range levels {
		for _, s := range level {
			if p, ok := l.recall(s, now); ok {
				d.add(p)
			}
		}
	}
	return d, d.Outcome == Rejected
}

// recall is the policy of a count that has lately rejected.
func (l *Limiter) recall(s subject, now time.Time) (Policy, bool) {
	limit, free, ok := l.memory.recall(s.key, now)
	if !ok {
		return Policy{}, false
	}
	return Policy{
		Name: s.policy, Quota: limit, Reset: l.rules.retryAfter(now, free),
		Exceeded: true, RetryAfter: l.wait(s, now, free),
	}, true
}

// An admitted request is one that a subject has counted.
type admitted struct {
	key     string
	verdict verdict
}

// giveBack undoes what was counted for a request that is rejected after all. It is best effort: it
// stops at the deadline, and what is not given back expires within the minute.
func (l *Limiter) giveBack(ctx context.Context, counted []admitted, d *Decision) {
	writes := make([]int, len(counted))
	var group sync.WaitGroup
	for i, a := range counted {
		group.Go(func() { writes[i] = l.undo(ctx, a.key, a.verdict) })
	}
	group.Wait()
	trips := 0
	for _, n := range writes {
		d.Writes += n
		trips = max(trips, n)
	}
	d.RoundTrips += trips
}

func (l *Limiter) undo(ctx context.Context, key string, v verdict) int {
	w := giveBack{at: v.at, last: v.alone}
	for writes := 1; ; writes++ {
		it, applied, err := l.store.apply(ctx, key, w)
		n, stored := it.slots[v.at]
		// The condition fails for good when the slot has gone. Otherwise others came or went in it.
		if err != nil || applied || !stored || writes == l.rules.attempts {
			return writes
		}
		w.last = n == 1
	}
}
