package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A model is a store in memory that repeats by hand what the expressions of counters.go say. The
// pure part is tested on it, and TestStores_AnswerLikeTheModel compares it with both real
// stores. Like the stores, it knows slots only by their names.
type model struct {
	mu    sync.Mutex
	rules rules
	items map[string]*stored
	// fail, if set, is called before every write.
	fail   func(key string, w write) error
	writes int
}

type stored struct {
	n, b             int64
	slots            map[string]int64
	override         bool
	lim, until, keep int64
	ttl              int64
}

func newModel(r rules) *model { return &model{rules: r, items: map[string]*stored{}} }

func (m *model) apply(ctx context.Context, key string, w write) (item, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.fail != nil {
		if err := m.fail(key, w); err != nil {
			return item{}, false, err
		}
	}
	s := m.items[key]
	applied := m.holds(s, w)
	if applied {
		if s == nil {
			s = &stored{slots: map[string]int64{}}
			m.items[key] = s
		}
		m.change(s, w)
	}
	return m.read(s), applied, nil
}

func (m *model) holds(s *stored, w write) bool {
	r := m.rules
	between := func(at slot) bool { return s.b >= int64(at-r.oldest) && s.b <= int64(at) }
	switch w := w.(type) {
	case count:
		if s == nil {
			return true
		}
		under := !s.override && s.n < int64(w.limit) || s.override && s.until > w.now.UnixMilli() && s.n < s.lim
		settled := s.b <= int64(w.at-r.settled)
		return under && settled && (s.b >= int64(w.at-r.fresh) && s.b <= int64(w.at-r.settled) || s.n < int64(r.small) && between(w.at))
	case roll:
		if s == nil || s.b != int64(w.from) {
			return false
		}
		if o := w.override; s.override != (o != nil) || o != nil && (s.lim != int64(o.Limit) || s.until != until(*o)) {
			return false
		}
		for x, n := range w.remove {
			if s.slots[r.attribute(x)] != int64(n) {
				return false
			}
		}
		if w.exact {
			return s.n == int64(w.seen)
		}
		return s.n < int64(w.below)
	case giveBack:
		if s == nil {
			return false
		}
		n, ok := s.slots[r.attribute(w.at)]
		return ok && between(w.at) && (w.last && n == 1 || !w.last && n > 1)
	}
	panic("no such write")
}

func (m *model) change(s *stored, w write) {
	r := m.rules
	switch w := w.(type) {
	case count:
		if s.b == 0 {
			s.b = int64(w.at - r.window)
		}
		s.n++
		s.slots[r.attribute(w.at)]++
		s.ttl = w.now.Add(idle).Unix()
	case roll:
		for x := range w.remove {
			delete(s.slots, r.attribute(x))
		}
		s.b = int64(w.to)
		s.n += int64(w.counted() - w.expired)
		s.slots[r.attribute(w.at)] += int64(w.counted() + w.pulled)
		s.ttl = w.now.Add(idle).Unix()
		if w.endsOverride() {
			s.override, s.lim, s.until, s.keep = false, 0, 0, 0
		}
	case giveBack:
		s.n--
		if s.slots[r.attribute(w.at)]--; w.last {
			delete(s.slots, r.attribute(w.at))
		}
	}
	if s.override {
		s.ttl = s.keep
	}
}

func (m *model) read(s *stored) item {
	if s == nil {
		return item{}
	}
	it := item{total: int(s.n), base: slot(s.b), slots: make(map[slot]int, len(s.slots))}
	for name, n := range s.slots {
		it.slots[m.rules.slotOf(name, it.base)] = int(n)
	}
	if s.override {
		it.override = &counterOverride{Limit: int(s.lim)}
		if s.until != forever {
			it.override.Ends = time.UnixMilli(s.until)
		}
	}
	return it
}

// override sets or removes a subject's override, as the transaction of the operation does.
func (m *model) override(key string, now time.Time, o *counterOverride) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.items[key]
	if s == nil {
		s = &stored{b: int64(m.rules.at(now) - m.rules.window), slots: map[string]int64{}}
		m.items[key] = s
	}
	s.override, s.lim, s.until, s.keep = false, 0, 0, 0
	if o != nil {
		s.override, s.lim, s.until = true, int64(o.Limit), until(*o)
		s.keep = until(*o)/1000 + int64(idle/time.Second)
	}
}

// size is an item's size in bytes by DynamoDB's rules. Names and strings take their length. A
// number takes one byte for every two digits, one more, and one for a sign.
func size(key string, s *stored) int {
	number := func(n int64) int { return (len(fmt.Sprint(n))+1)/2 + 1 }
	sum := len(attrSubject) + len(key)
	add := func(name string, n int64) { sum += len(name) + number(n) }
	add(attrTotal, s.n)
	add(attrBase, s.b)
	add(attrTTL, s.ttl)
	for name, n := range s.slots {
		add(name, n)
	}
	if s.override {
		add(attrLimit, s.lim)
		add(attrUntil, s.until)
		add(attrKeep, s.keep)
	}
	return sum
}
