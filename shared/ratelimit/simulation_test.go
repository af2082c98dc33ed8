package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"
)

// A violation is a property that did not hold, by its number in the package's documentation.
type violation struct {
	property int
	what     string
}

func (v *violation) Error() string { return fmt.Sprintf("property %d: %s", v.property, v.what) }

// A pick draws a number from 0 to n-1, either from rapid, which can shrink and replay, or from a
// seed.
type pick func(n int) int

func (p pick) between(a, b int) int { return a + p(b-a+1) }

func (p pick) chance(percent int) bool { return p(100) < percent }

// A simulation is one subject that many containers call. Their clocks differ and may jump, and
// their steps interleave in every order. Time is simulated.
//
// True time only moves forward. A clock shows true time, plus the jumps that all clocks made,
// plus the container's own difference.
type simulation struct {
	pick  pick
	rules rules
	store *model
	// mutation, if set, makes the limiter faulty.
	mutation mutation

	limit    int              // the default
	override *counterOverride // the last one set, in the containers' time
	skew     []time.Duration  // of each container
	spread   time.Duration    // the largest skew, either way
	delay    time.Duration    // the longest time of a request from its start to its last write
	pattern  int

	now      time.Duration // true time since the start
	jumped   time.Duration
	jumps    bool
	high     time.Duration // the highest time that clocks have shown, if an item may still hold it
	admitted []time.Duration
	requests int
	rejected int
	writes   int
	waits    int
}

// A mutation makes a correct limiter faulty, to test the tests.
type mutation struct {
	rules func(*rules)
	// write changes a write before it is sent. It may use the item.
	write func(it item, w write) write
	wait  func(time.Duration) time.Duration
}

const subjectKey = "copilot#user#0123456789abcdef0123456789abcdef"

var epoch = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func newSimulation(p pick, m mutation) *simulation {
	s := &simulation{pick: p, rules: slotLog, mutation: m}
	if m.rules != nil {
		m.rules(&s.rules)
	}
	// The store takes only the names of slots from the true rules. Each write brings its own conditions.
	s.store = newModel(s.rules)
	s.limit = []int{p.between(1, 10), p.between(1, 100), p.between(50, 700)}[p(3)]
	s.spread = []time.Duration{0, 0, 100 * time.Millisecond, time.Second, 5 * time.Second, 40 * time.Second}[p(6)]
	s.delay = []time.Duration{0, 0, 100 * time.Millisecond, time.Second}[p(4)]
	s.jumps = p.chance(30)
	for range p.between(1, 8) {
		s.skew = append(s.skew, time.Duration(p.between(-1000, 1000))*s.spread/1000)
	}
	return s
}

// clock is what a container's clock shows.
func (s *simulation) clock(container int) time.Time {
	return epoch.Add(s.now + s.jumped + s.skew[container])
}

// run makes at least n requests and returns the first violation.
func (s *simulation) run(n int) error {
	for s.requests < n {
		if s.pick.chance(2) {
			s.pattern = s.pick(8)
		}
		s.now += s.gap()
		switch {
		case s.pick.chance(1):
			s.changeLimit()
		case s.jumps && s.pick.chance(1):
			s.jump()
		}
		burst := 1
		if s.pick.chance(25) {
			burst = s.pick.between(2, 12)
		}
		if err := s.burst(burst); err != nil {
			return err
		}
	}
	return nil
}

// gap is the time until the next requests, by the present pattern.
func (s *simulation) gap() time.Duration {
	pace := window / time.Duration(s.limit)
	switch s.pattern {
	case 0: // ordinary traffic, somewhat under the limit
		return pace * time.Duration(s.pick.between(90, 250)) / 100
	case 1: // greedy
		return pace * time.Duration(s.pick.between(0, 60)) / 100
	case 2: // a flood
		return time.Duration(s.pick(20)) * time.Millisecond
	case 3: // close to the ends of the window and of slots
		return time.Duration(s.pick.between(59_400, 61_100))*time.Millisecond + time.Duration(s.pick(3)-1)
	case 4: // a poll
		return time.Duration(s.pick.between(500, 90_000)) * time.Millisecond
	case 5: // close to the point where slot names repeat
		return time.Duration(s.pick.between(1_940, 2_060)) * time.Second
	case 6: // a box that was off for days, at most as long as an item is kept
		if s.pick.chance(10) {
			return time.Duration(s.pick(int(idle/time.Second))) * time.Second
		}
		return time.Duration(s.pick.between(50, 70)) * time.Second
	default:
		return time.Duration(s.pick(600)) * time.Millisecond
	}
}

func (s *simulation) changeLimit() {
	s.override = nil
	if !s.pick.chance(30) {
		s.override = &counterOverride{Limit: s.pick(3 * s.limit)}
		if s.pick.chance(60) {
			s.override.Ends = s.clock(0).Add(time.Duration(s.pick(150_000)) * time.Millisecond).Truncate(time.Millisecond)
		}
	}
	s.store.override(subjectKey, s.clock(0), s.override)
}

func (s *simulation) jump() {
	by := time.Duration(s.pick.between(1, 5_000_000)) * time.Millisecond
	if s.pick.chance(50) {
		by = time.Duration(s.pick.between(1, 90_000)) * time.Millisecond
	}
	if s.pick.chance(50) {
		s.jumped += by
		// By all clocks this time has passed, so earlier admissions no longer count.
		for i := range s.admitted {
			s.admitted[i] -= by
		}
		return
	}
	s.high = max(s.high, s.now+s.jumped)
	s.jumped -= by
}

// A pending request has begun, but has no answer yet.
type pending struct {
	*attempt
	container int
	began     time.Duration
}

// burst starts some requests at the same time and steps them in random order until all are answered.
func (s *simulation) burst(size int) error {
	var open []pending
	for range size {
		c := s.pick(len(s.skew))
		open = append(open, pending{s.rules.begin(s.clock(c), s.limit), c, s.now})
		s.requests++
	}
	began := s.now
	for len(open) > 0 {
		i := s.pick(len(open))
		if s.delay > 0 && s.now-began < s.delay {
			s.now += time.Duration(s.pick(int((s.delay-(s.now-began))/time.Millisecond)+1)) * time.Millisecond
		}
		if s.pick.chance(1) {
			s.changeLimit()
		}
		v, done, err := s.step(open[i].attempt)
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		p := open[i]
		open = slices.Delete(open, i, i+1)
		if err := s.verdict(p, v, len(open) == 0 && size == 1); err != nil {
			return err
		}
	}
	return nil
}

// step sends one write and checks the properties of the item after it.
func (s *simulation) step(a *attempt) (verdict, bool, error) {
	it, applied, err := s.send(a.next)
	if err != nil {
		return verdict{}, false, err
	}
	v, done := a.answered(it, applied)
	return v, done, nil
}

func (s *simulation) send(w write) (item, bool, error) {
	if s.mutation.write != nil {
		w = s.mutation.write(s.item(), w)
	}
	it, applied, err := s.store.apply(context.Background(), subjectKey, w)
	s.writes++
	if err != nil {
		return item{}, false, err
	}
	if r, ok := w.(roll); ok && applied && r.pulled > 0 && s.high > s.now+s.jumped {
		s.high = s.now + s.jumped
	}
	sum := 0
	for x, n := range it.slots {
		if n <= 0 {
			return it, applied, &violation{4, fmt.Sprintf("slot %d holds %d after %#v", x, n, w)}
		}
		sum += n
	}
	if sum != it.total {
		return it, applied, &violation{4, fmt.Sprintf("total %d, slots %d after %#v", it.total, sum, w)}
	}
	if bytes := size(subjectKey, s.store.items[subjectKey]); bytes > 1024 {
		return it, applied, &violation{8, fmt.Sprintf("the item has %d bytes in %d slots", bytes, len(it.slots))}
	}
	return it, applied, nil
}

func (s *simulation) item() item { return s.store.read(s.store.items[subjectKey]) }

// window is the time in which at most the limit may be admitted, given how far clocks differ and
// how long requests take.
func (s *simulation) window() time.Duration { return window - 2*s.spread - s.delay }

func (s *simulation) limitAt(container int) int {
	return item{override: s.override}.limit(s.clock(container), s.limit)
}

// verdict checks the properties of an answered request. Alone is set if no other was running.
func (s *simulation) verdict(p pending, v verdict, alone bool) error {
	if v.admitted {
		if alone && s.pick.chance(10) {
			return s.undo(p, v)
		}
		return s.admit(p, v)
	}
	s.rejected++
	limit := v.limit
	// The second property: enough were admitted just before. After a clock moved back, counts
	// last until the clock shows its old time, or until a roll pulls them to the present.
	since := p.began - window - s.rules.slot - 2*s.spread - s.delay
	n := len(s.admitted) - sort.Search(len(s.admitted), func(i int) bool { return s.admitted[i] > since })
	if n < limit && p.began+s.jumped > s.high+s.rules.longest+2*s.spread+s.delay {
		return &violation{2, fmt.Sprintf("rejected at %v with %d of %d admitted since %v", p.began, n, limit, since)}
	}
	wait := s.rules.retryAfter(p.now, v.free)
	if s.mutation.wait != nil {
		wait = s.mutation.wait(wait)
	}
	if wait < time.Second || wait > 61*time.Second || wait%time.Second != 0 {
		return &violation{6, fmt.Sprintf("Retry-After is %v", wait)}
	}
	if alone && s.spread == 0 && s.delay == 0 && limit > 0 && s.pick.chance(50) {
		return s.waitAndAsk(p.container, wait)
	}
	return nil
}

// admit records an admission and checks the first property (the seventh if clocks differ).
func (s *simulation) admit(p pending, v verdict) error {
	if newest, found := s.item().newest(); s.spread == 0 && s.delay == 0 && !s.jumps && (!found || newest != s.rules.at(p.now)) {
		return &violation{9, fmt.Sprintf("admitted in slot %d, the newest slot is %d", s.rules.at(p.now), newest)}
	}
	at, _ := slices.BinarySearch(s.admitted, p.began+1)
	s.admitted = slices.Insert(s.admitted, at, p.began)
	limit := v.limit
	for i := at; i < len(s.admitted); i++ {
		first := sort.Search(len(s.admitted), func(j int) bool { return s.admitted[j] > s.admitted[i]-s.window() })
		if n := i - first + 1; n > limit && s.window() > 0 {
			property := 1
			if s.spread > 0 {
				property = 7
			}
			return &violation{property, fmt.Sprintf("%d admitted within %v up to %v, the limit is %d", n, s.window(), s.admitted[i], limit)}
		}
	}
	if len(s.admitted) > 8*limit+4096 {
		s.admitted = slices.Clone(s.admitted[len(s.admitted)-4*limit-2048:])
	}
	return nil
}

// undo gives an admitted request back and checks that nothing else changed.
func (s *simulation) undo(p pending, v verdict) error {
	before := s.item()
	w := giveBack{at: v.at, last: v.alone}
	after, applied, err := s.send(w)
	if err != nil {
		return err
	}
	if !applied {
		// The slot must still exist; a roll may have removed it.
		if before.base <= v.at {
			return &violation{5, fmt.Sprintf("not given back: slot %d of %v", v.at, before)}
		}
		return s.admit(p, v)
	}
	undone := before.slots[v.at] - after.slots[v.at]
	delete(before.slots, v.at)
	delete(after.slots, v.at)
	if undone != 1 || fmt.Sprint(before.slots) != fmt.Sprint(after.slots) || before.total-after.total != 1 {
		return &violation{5, fmt.Sprintf("giving back %+v made %v of %v", w, after, before)}
	}
	return nil
}

// waitAndAsk checks the third property.
func (s *simulation) waitAndAsk(container int, wait time.Duration) error {
	s.now += wait
	if s.limitAt(container) == 0 {
		return nil
	}
	s.requests++
	s.waits++
	p := pending{s.rules.begin(s.clock(container), s.limit), container, s.now}
	for {
		v, done, err := s.step(p.attempt)
		if err != nil {
			return err
		}
		if done && !v.admitted {
			return &violation{3, fmt.Sprintf("rejected at %v after waiting %v", s.now, wait)}
		}
		if done {
			return s.admit(p, v)
		}
	}
}
