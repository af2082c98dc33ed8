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

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// A Caller says whose limits a request counts against.
type Caller struct {
	// User names the user across issuers; see auth.Principal.User.
	User string
	// Organization is empty if the caller has none.
	Organization string
	// Box is set for an edge device. It counts against its own limit and against that of the boxes of its organization, so
	// that a fleet cannot use up the limit of the people there.
	Box bool
	// Gateway is set for the gateway of an organization, which calls for its boxes. Each of its calls also counts as one of
	// the box that it names.
	Gateway bool
	// Shared is set for a call of a box that was counted against its own limit, before its organization was known.
	Shared bool
}

// A Config holds the parts of a Limiter. Store and Limits are required; the zero value of every
// other field means the service's default.
type Config struct {
	Store  Updater
	Table  string // the name of the table rate-counters
	Limits Limits
	Clock  func() time.Time
	// Deadline bounds the time of a request in the limiter. A request that must first connect to
	// the store has at least a second; see bound.
	Deadline time.Duration
	// Awake is a clock that runs only while the process does, and that nobody sets.
	Awake func() time.Duration
}

// A Limiter admits and rejects requests. It is safe for concurrent use. A container has one.
type Limiter struct {
	rules    rules
	store    store
	limits   Limits
	clock    func() time.Time
	awake    func() time.Duration
	deadline time.Duration
	books    books
	groups   boxGroups
	memory   memory
	turns    turns
	lowUsage lowUsage
	breaker  breaker
}

// connectDeadline is the least deadline of a request that must first connect to the store.
const connectDeadline = time.Second

// throttleTime is how long a container rejects requests of a subject whose item is throttled.
const throttleTime = time.Second

// New makes a limiter. It makes no network call.
func New(c Config) *Limiter {
	l := &Limiter{
		rules: slotLog, limits: c.Limits, clock: c.Clock,
		deadline: c.Deadline,
	}
	table := c.Table
	if table == "" {
		table = dynamo.RateCounters.Name()
	}
	store := counters{api: c.Store, table: table, rules: slotLog}
	l.store, l.books = store, store
	if l.clock == nil {
		l.clock = time.Now
	}
	// Between calls a container is frozen, and its monotonic clock stops. An entry for five
	// seconds could then last for hours. So the limiter uses the wall clock only.
	clock := l.clock
	l.clock = func() time.Time { return clock().Round(0) }
	if l.awake = c.Awake; l.awake == nil {
		began := time.Now()
		l.awake = func() time.Duration { return time.Since(began) }
	}
	if l.deadline == 0 {
		l.deadline = time.Duration(setting.Ranges[setting.LimitDeadlineMS].Default) * time.Millisecond
	}
	return l
}

// Warm opens the connection to the store while the function starts. Its write changes nothing.
// It reports no failure: if the failure lasts, the first request finds it.
func (l *Limiter) Warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	// A giveBack of something never counted fails on its condition. The key is random, so that
	// the containers do not all write to one partition.
	_, _, _ = l.store.apply(ctx, "warm#"+rand.Text(), giveBack{at: l.rules.at(l.clock())})
}

// A subject is one count that a request adds to.
type subject struct {
	key    string
	policy string
	limit  int    // the default
	caller string // who asks, if others share the subject; otherwise empty
}

// subjects lists what a request counts against, in the order of the writes. The user's own
// counts come first, so that a rejected user costs the organization no write. See lowUsage for
// when both are written in parallel.
func (l *Limiter) subjects(c Caller, class Class) [][]subject {
	user := []subject{{key: userKey(c.User), policy: "user", limit: l.limits.User}}
	organization := []subject{{key: organizationKey(c.Organization), policy: "org", limit: l.limits.Organization, caller: c.User}}
	if class == Copilot {
		user = append(user, subject{key: copilotKey(userKey(c.User)), policy: "copilot-user", limit: l.limits.CopilotUser})
		organization = append(organization, subject{key: copilotKey(organizationKey(c.Organization)), policy: "copilot-org", limit: l.limits.CopilotOrganization, caller: c.User})
	}
	switch {
	case c.Shared:
		return nil
	case c.Gateway && l.leases(c):
		return l.gateway(c, user[0])
	case c.Box || c.Gateway || c.Organization == "":
		return [][]subject{user}
	}
	return [][]subject{user, organization}
}

// errOpen is why requests are unchecked while the breaker is open.
var errOpen = errors.New("ratelimit: the store failed repeatedly; no calls are made to it for a moment")

// Recall rejects a request without a write if the container remembers that it would be rejected.
// It never admits: false means that Admit must decide.
func (l *Limiter) Recall(caller Caller, class Class) (Result, bool) {
	now := l.clock()
	d, rejected := l.remembered(l.subjects(caller, class), now)
	if p, refuses := l.recallLease(caller, now); refuses {
		d.add(p)
		rejected = true
	}
	if rejected && class == Reserved {
		return d, l.recallReserve(caller, &d, now)
	}
	return d, rejected
}

// Admit decides on one request and counts it if it is admitted. It answers within the deadline
// even if the store does not; see Decision.
func (l *Limiter) Admit(ctx context.Context, caller Caller, class Class) Result {
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
	// A remembered rejection gets here only for a request that may use the reserve.
	d, rejected := l.remembered(levels, now)
	var share leased
	if !rejected {
		share, err = l.lease(bounded, caller, &d, now)
	}
	if !rejected && err == nil && !share.Exceeded {
		counted, err = l.count(bounded, l.subjects(caller, class), &d, now) // the boxes of a gateway are known now
	}
	if share.Name != "" {
		d.add(share.QuotaPolicy)
	}
	rejected = d.Outcome == Rejected
	if err == nil && rejected && class == Reserved {
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
		share.giveBack()
	}
	return d
}

// bound gives a request its deadline. It is extended to a second if the request must first
// connect to the store, which takes a DNS lookup and a handshake. That happens on a container's
// first call, after a pause in which the old connections were closed, and after a broken
// connection.
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

// count counts a request at all levels until one rejects, and adds the results to the decision.
// It returns what was counted.
func (l *Limiter) count(ctx context.Context, levels [][]subject, d *Result, now time.Time) ([]admitted, error) {
	var counted []admitted
	for _, level := range l.lowUsage.mergeLevels(levels, now) {
		verdicts, err := l.ask(ctx, level, now)
		trips := 0
		for i, v := range verdicts {
			d.Writes += v.writes
			trips = max(trips, v.writes)
			if v.admitted {
				counted = append(counted, admitted{level[i].key, v})
				if level[i].policy == "user" {
					d.own = v.item
				}
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

// ask counts a request at all subjects of one level in parallel.
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

func (l *Limiter) admit(ctx context.Context, key string, now time.Time, limit int) (verdict, error) {
	if limit <= 0 {
		return verdict{free: now.Add(l.rules.longest)}, nil
	}
	a := l.rules.begin(now, limit)
	for {
		it, applied, err := l.store.apply(ctx, key, a.next)
		if errors.Is(err, errThrottled) {
			// The caller itself causes this many requests; the store has not failed.
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

// policy translates a verdict into the caller's policy, and remembers the verdict.
func (l *Limiter) policy(s subject, v verdict, now time.Time) QuotaPolicy {
	r := l.rules
	p := QuotaPolicy{Name: s.policy, Quota: v.limit, Remaining: max(v.limit-v.used, 0), Reset: r.retryAfter(now, v.free)}
	if s.caller == "" {
		l.lowUsage.note(s.key, v, now)
	}
	if v.admitted {
		l.memory.admitted(s.key)
		return p
	}
	if v.throttled {
		l.memory.throttled(s.key, v.limit, now, v.free)
	} else {
		l.memory.rejected(s.key, v, now)
	}
	p.Exceeded, p.Remaining = true, 0
	p.RetryAfter = l.wait(s, now, v.free, v.item)
	return p
}

// wait is the Retry-After for one subject. Callers who share the subject are given a turn. The first turn is random by
// some seconds, because other containers give turns, too.
func (l *Limiter) wait(s subject, now, free time.Time, it item) time.Duration {
	wait := l.rules.retryAfter(now, free)
	if s.caller != "" && it.limit(now, s.limit) > 0 {
		wait = l.turns.take(l.rules, s.key, s.caller, it, now, s.limit, wait+time.Duration(mathrand.IntN(4))*time.Second)
	}
	return wait
}

// remembered rejects without a write if one of the counts rejected a moment ago.
func (l *Limiter) remembered(levels [][]subject, now time.Time) (Result, bool) {
	var d Result
	for _, level := range levels {
		for _, s := range level {
			if p, ok := l.recall(s, now); ok {
				d.add(p)
			}
		}
	}
	return d, d.Outcome == Rejected
}

// recall is the policy of a count that rejected a moment ago.
func (l *Limiter) recall(s subject, now time.Time) (QuotaPolicy, bool) {
	e, ok := l.memory.recall(s.key, now)
	if !ok {
		return QuotaPolicy{}, false
	}
	return QuotaPolicy{
		Name: s.policy, Quota: e.limit, Reset: l.rules.retryAfter(now, e.free),
		Exceeded: true, RetryAfter: l.wait(s, now, e.free, e.item),
	}, true
}

// admitted is a request that a subject has counted.
type admitted struct {
	key     string
	verdict verdict
}

// giveBack undoes the counts of a request that another level rejected. It is best effort: it
// stops at the deadline, and a count that is not given back expires within a minute.
func (l *Limiter) giveBack(ctx context.Context, counted []admitted, d *Result) {
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
		// If the slot is gone, the condition can never hold. Otherwise the slot's count changed
		// in the meantime.
		if err != nil || applied || !stored || writes == l.rules.attempts {
			return writes
		}
		w.last = n == 1
	}
}
