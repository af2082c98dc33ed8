package ratelimit

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"wavegate/shared/ratelimit/lease"
)

// The boxes of an organization share a limit, and so do all calls of its gateway. Containers lease their calls; see package
// lease. If the organization has so few boxes that all their own limits together are within its limit, nothing is counted.

const (
	// boxPolicy names the limit of an organization's boxes in headers and problems.
	boxPolicy = "org-boxes"
	// knownFor is how long a container uses what it has read of an organization's boxes and their limit.
	knownFor = time.Hour
	// mostGroups is how many organizations a container remembers. Then it forgets all; what they have leased stays counted.
	mostGroups = 4096
	// spreadOver is the time over which boxes come back that were refused together.
	spreadOver = 15 * time.Second
)

func boxesKey(organization string) string { return "boxes#" + digest(organization) }
func gatewayKey(user string) string       { return "gateway#" + digest(user) }

// A boxGroup is what a container knows of the boxes of an organization.
type boxGroup struct {
	mu      sync.Mutex
	own     account // the limit that the boxes share
	gateway account
	tally
	readAt   time.Time
	defaults Limits
}

// An account is a limit of which containers lease calls.
type account struct {
	lease.Holder
	override *counterOverride
}

type boxGroups struct {
	mu sync.Mutex
	of map[string]*boxGroup
}

func (f *boxGroups) get(organization string, defaults Limits) *boxGroup {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil || len(f.of) >= mostGroups {
		f.of = map[string]*boxGroup{}
	}
	if f.of[organization] == nil {
		f.of[organization] = &boxGroup{defaults: defaults}
	}
	return f.of[organization]
}

// most is the limit of all boxes together. It is never below that of one box.
func (f *boxGroup) most(now time.Time) int {
	return max(item{override: f.own.override}.limit(now, f.defaults.Boxes), f.defaults.User)
}

// suffices reports whether the boxes' own limits keep them within their common one.
func (f *boxGroup) suffices(now time.Time) bool {
	return f.counted && f.n <= f.most(now)/f.defaults.User
}

// ofGateway is the limit of the organization's gateway: that of its boxes.
func (f *boxGroup) ofGateway(now time.Time) int {
	if !f.counted {
		return f.most(now)
	}
	return min(f.most(now), max(f.n, 1)*f.defaults.User)
}

// leases reports whether containers lease the calls. The calls of a gateway of few boxes are counted one by one, like a user's.
func (f *boxGroup) leases(c Caller, now time.Time) bool {
	if c.Gateway {
		return f.ofGateway(now) > highest
	}
	return !f.suffices(now)
}

// accountOf is the account that a call counts against, with its key, policy and limit.
func (f *boxGroup) accountOf(c Caller, now time.Time) (a *account, s subject) {
	if c.Gateway {
		return &f.gateway, subject{key: gatewayKey(c.User), policy: "user", limit: item{override: f.gateway.override}.limit(now, f.ofGateway(now))}
	}
	return &f.own, subject{key: boxesKey(c.Organization), policy: boxPolicy, limit: f.most(now)}
}

// leases reports whether a call counts against a limit that containers lease.
func (l *Limiter) leases(c Caller) bool {
	return (c.Box || c.Gateway) && c.Organization != "" && l.limits.Boxes > 0
}

// gateway is what a gateway's call counts against, unless its calls are leased.
func (l *Limiter) gateway(c Caller, user subject) [][]subject {
	f, now := l.groups.get(c.Organization, l.limits), l.clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases(c, now) {
		return nil
	}
	user.limit = f.ofGateway(now)
	return [][]subject{{user}}
}

// moment is now, by both clocks.
func (l *Limiter) moment(now time.Time) lease.Moment {
	return lease.Moment{Wall: now, Awake: l.awake()}
}

// recallLease refuses a call if the container refused one of the same account a moment ago.
func (l *Limiter) recallLease(c Caller, now time.Time) (p QuotaPolicy, refuses bool) {
	if !l.leases(c) {
		return p, false
	}
	f := l.groups.get(c.Organization, l.limits)
	f.mu.Lock()
	defer f.mu.Unlock()
	a, s := f.accountOf(c, now)
	free, refuses := a.Refuses(l.moment(now))
	return l.refusal(s, now, free), refuses
}

func (l *Limiter) refusal(s subject, now, free time.Time) QuotaPolicy {
	wait := l.rules.retryAfter(now, free)
	return QuotaPolicy{Name: s.policy, Quota: s.limit, Reset: wait, Exceeded: true,
		RetryAfter: min(wait+rand.N(spreadOver).Truncate(time.Second), l.rules.longest)}
}

// A leased is a call that was counted against a lease.
type leased struct {
	QuotaPolicy // without a name if nothing was counted
	group       *boxGroup
	account     *account
	number      int
}

// giveBack undoes the count.
func (x leased) giveBack() {
	if x.account != nil {
		x.group.mu.Lock()
		defer x.group.mu.Unlock()
		x.account.Return(x.number)
	}
}

// lease counts a call of a box or a gateway against the limit that it shares. The container's calls wait for each other only
// while one of them takes a lease.
func (l *Limiter) lease(ctx context.Context, c Caller, d *Result, now time.Time) (leased, error) {
	if !l.leases(c) {
		return leased{}, nil
	}
	f := l.groups.get(c.Organization, l.limits)
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := now.Sub(f.readAt); known < 0 || known >= knownFor {
		d.Writes, d.RoundTrips = d.Writes+1, d.RoundTrips+1
		is, err := l.books.boxes(ctx, c.Organization, now)
		if err != nil {
			return leased{}, err
		}
		f.tally, f.own.override, f.readAt = is, is.override, now
	}
	if !f.leases(c, now) {
		return leased{}, nil
	}
	a, s := f.accountOf(c, now)
	x := leased{group: f}
	var taken bool
	x.number, taken = a.Take(l.moment(now))
	if _, refuses := a.Refuses(l.moment(now)); !taken && !refuses {
		var err error
		if x.number, taken, err = l.renew(ctx, f, c, d, now); err != nil {
			return leased{}, err
		}
		a, s = f.accountOf(c, now)
	}
	if !taken {
		free, _ := a.Refuses(l.moment(now))
		x.QuotaPolicy = l.refusal(s, now, free)
		return x, nil
	}
	x.account = a
	x.QuotaPolicy = QuotaPolicy{Name: s.policy, Quota: s.limit, Remaining: max(s.limit-a.Book.Used(now.Unix()), 0), Reset: window}
	return x, nil
}

// renew takes the next lease, and the call from it. If the limit is used up, it takes none.
func (l *Limiter) renew(ctx context.Context, f *boxGroup, c Caller, d *Result, now time.Time) (number int, taken bool, err error) {
	for try := range l.rules.attempts {
		a, s := f.accountOf(c, now)
		wish, more := a.Next(l.moment(now), s.limit, try > 0)
		if !more {
			return 0, false, nil
		}
		d.Writes++
		d.RoundTrips++
		p, applied, err := l.books.lease(ctx, s.key, wish.Write, a.override, now)
		if errors.Is(err, errThrottled) {
			a.Lost()
			return 0, false, nil
		}
		if err != nil {
			a.Lost()
			return 0, false, err
		}
		if a.Book, a.override = p.Book, p.override; applied {
			number, taken = a.Leased(wish, l.moment(now))
			return number, taken, nil
		}
	}
	return 0, false, nil
}
