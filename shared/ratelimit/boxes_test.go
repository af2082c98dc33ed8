package ratelimit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit/lease"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A shelf is books in memory.
type shelf struct {
	pages   map[string]page
	counted map[string]int // boxes, by organization
	reads   int
	writes  int
}

func (s *shelf) lease(_ context.Context, key string, w lease.Write, seen *counterOverride, _ time.Time) (page, bool, error) {
	s.writes++
	p := s.pages[key]
	if !cmp.Equal(p.override, seen) {
		return p, false, nil
	}
	next, applied := p.Apply(w)
	p.Book = next
	s.pages[key] = p
	return p, applied, nil
}

func (s *shelf) boxes(_ context.Context, organization string, _ time.Time) (tally, error) {
	s.reads++
	n, counted := s.counted[organization]
	return tally{n, counted, s.pages[boxesKey(organization)].override}, nil
}

// crowd is a limiter of boxes and the books that it shares with others.
func crowd(limits Limits, counted int) (*testLimiter, *shelf) {
	s := newTestLimiter(limits)
	books := &shelf{pages: map[string]page{}, counted: map[string]int{}}
	if counted > 0 {
		books.counted["acme"] = counted
	}
	s.books = books
	s.awake = func() time.Duration { return s.now.Sub(epoch) }
	return s, books
}

func boxNumber(i int) Caller {
	return Caller{User: fmt.Sprint("https://fleet gw-", i), Organization: "acme", Box: true}
}

var crowded = Limits{User: 6, Organization: 60, CopilotUser: 1, CopilotOrganization: 1, Boxes: 60}

// TestAdmit_FewBoxes_AreNotCountedTogether: ten boxes with six calls each are within 60, so nothing is written but the box's
// own count.
func TestAdmit_FewBoxes_AreNotCountedTogether(t *testing.T) {
	s, books := crowd(crowded, 10)
	for range 6 {
		for i := range 10 {
			d := s.ask(t, boxNumber(i), Ordinary)
			expect.Must(t, d.Outcome == Admitted && len(d.Policies) == 1, "got %+v", d)
		}
	}
	expect.That(t, books.reads == 1 && books.writes == 0, "%d reads and %d writes of books", books.reads, books.writes)
	s.now = s.now.Add(2 * time.Hour)
	s.ask(t, boxNumber(0), Ordinary)
	expect.Equal(t, books.reads, 2, "after an hour, the books were read")
}

// TestAdmit_ManyBoxes_ShareALimit: also if nobody has counted them. A report that the limit refuses keeps its reserve, and a
// refused call takes nothing from the box's own limit.
func TestAdmit_ManyBoxes_ShareALimit(t *testing.T) {
	for name, counted := range map[string]int{"eleven boxes": 11, "nobody knows how many": 0} {
		t.Run(name, func(t *testing.T) {
			s, _ := crowd(crowded, counted)
			var refused Result
			admitted := 0
			for i := range 200 {
				d := s.ask(t, boxNumber(i), Ordinary)
				if d.Outcome == Admitted {
					admitted++
				} else {
					refused = d
				}
				s.now = s.now.Add(100 * time.Millisecond)
			}
			expect.That(t, admitted >= 45 && admitted <= 60, "%d were admitted", admitted)
			p := problem.From(refused.Err())
			expect.That(t, fmt.Sprint(p.Policies) == "[org-boxes]" && refused.RetryAfter >= time.Second && refused.RetryAfter <= 61*time.Second, "refused with %+v", refused)
			expect.Equal(t, s.used(userKey(boxNumber(199).User)), 0, "a refused box has used")
			report := s.ask(t, boxNumber(199), Reserved)
			expect.Equal(t, report.Outcome, Admitted, "a report is")
		})
	}
}

// TestAdmit_BoxOverItsOwnLimit_TakesNothingFromTheOthers.
func TestAdmit_BoxOverItsOwnLimit_TakesNothingFromTheOthers(t *testing.T) {
	s, _ := crowd(crowded, 100)
	for range 200 {
		s.ask(t, boxNumber(0), Ordinary)
	}
	admitted := 0
	for i := 1; i < 40; i++ {
		if s.ask(t, boxNumber(i), Ordinary).Outcome == Admitted {
			admitted++
		}
	}
	expect.Equal(t, admitted, 39, "of the others, were admitted")
}

// TestAdmit_Containers_AreNeverOverTheLimit, in any minute, with boxes that call without pause.
func TestAdmit_Containers_AreNeverOverTheLimit(t *testing.T) {
	limits := crowded
	limits.User, limits.Boxes = 50, 300
	first, books := crowd(limits, 1000)
	all := []*testLimiter{first}
	for range 9 {
		s, _ := crowd(limits, 1000)
		s.books, s.store, s.model = books, first.store, first.model
		all = append(all, s)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var calls []time.Time
	now := epoch
	for range 6000 {
		now = now.Add(time.Duration(random.IntN(80)) * time.Millisecond)
		s := all[random.IntN(len(all))]
		s.now = now
		if s.ask(t, boxNumber(random.IntN(200)), Ordinary).Outcome == Admitted {
			calls = append(calls, now)
		}
	}
	most, since := 0, 0
	for i, at := range calls {
		for at.Sub(calls[since]) >= window {
			since++
		}
		most = max(most, i-since+1)
	}
	expect.That(t, most <= 300 && most >= 270, "%d in a minute", most)
}

// TestAdmit_Gateway_MayCallForAllBoxesOfItsOrganization, up to the organization's limit; or what was arranged for it. One of few
// boxes is counted call by call.
func TestAdmit_Gateway_MayCallForAllBoxesOfItsOrganization(t *testing.T) {
	gateway := Caller{User: "urn:wavegate:gateway-tokens:acme acme", Organization: "acme", Gateway: true}
	for name, c := range map[string]struct {
		boxes, limit int
		arranged     *counterOverride
		least, most  int
	}{
		"one box":                  {1, 60, nil, 6, 6},
		"five boxes":               {5, 60, nil, 30, 30},
		"many boxes":               {100, 60, nil, 60, 60},
		"nobody knows how many":    {0, 60, nil, 60, 60},
		"very many boxes":          {10_000, 40_000, nil, 300, 300},
		"ten were arranged for it": {10_000, 40_000, &counterOverride{Limit: 10}, 8, 10},
		"none":                     {10_000, 40_000, &counterOverride{Limit: 0}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			limits := crowded
			limits.Boxes = c.limit
			s, books := crowd(limits, c.boxes)
			if c.arranged != nil {
				books.pages[gatewayKey(gateway.User)] = page{override: c.arranged}
			}
			admitted := 0
			for range 300 {
				if s.ask(t, gateway, Ordinary).Outcome == Admitted {
					admitted++
				}
				s.now = s.now.Add(100 * time.Millisecond)
			}
			expect.That(t, admitted >= c.least && admitted <= c.most, "%d were admitted", admitted)
			expect.Equal(t, books.writes > 0, c.limit > highest, "calls are leased:")
		})
	}
}

// TestStores_Leases_AreLikeTheRule sends random writes to a store, and to the rule.
func TestStores_Leases_AreLikeTheRule(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		random := rand.New(rand.NewPCG(3, 4))
		real := counters{api: client, table: dynamo.RateCounters.Name(), rules: slotLog}
		key, want, applied := boxesKey(uuid.NewString()), lease.Book{}, 0
		for i := range 200 {
			end := epoch.Unix() + int64(random.IntN(8))
			w := lease.Write{Most: random.IntN(200), Calls: 1 + random.IntN(9), End: end}
			if random.IntN(2) == 0 {
				w.Back, w.BackEnd = 1+random.IntN(4), epoch.Unix()+int64(random.IntN(8))
			}
			for past := range want.Ends {
				if past < epoch.Unix()+4 && past != w.End && past != w.BackEnd && random.IntN(3) == 0 {
					if w.Expired == nil {
						w.Expired = map[int64]int{}
					}
					w.Expired[past] = want.Ends[past] + random.IntN(8)/7
				}
			}
			next, applies := want.Apply(w)
			got, did, err := real.lease(t.Context(), key, w, nil, epoch)
			expect.Must(t, err == nil && did == applies, "step %d: %+v of %+v: applied %v, want %v, %v", i, w, want, did, applies, err)
			want = next
			if len(want.Ends) > 0 {
				expect.Must(t, cmp.Equal(got.Book, want), "step %d: %+v is %+v, want %+v", i, w, got.Book, want)
			}
			if did {
				applied++
			}
		}
		expect.That(t, applied > 30 && applied < 170, "%d writes were applied", applied)
	})
}

// TestStores_BoxLimit_IsArrangedFromTheNextLeaseOn, shown to the caller, and never below a box's.
func TestStores_BoxLimit_IsArrangedFromTheNextLeaseOn(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, organization := dynamo.Open(client, time.Now), uuid.NewString()
		real := counters{api: client, table: dynamo.RateCounters.Name(), rules: slotLog}
		overrides, target := NewOverrideStore(db), Target{Kind: Organizations, ID: organization}
		ctx := admission.Unlimited(t.Context())
		_, err := overrides.Put(ctx, audit.Origin{}, Target{Kind: Users, ID: "u"}, OverrideSpec{BoxLimit: new(700)}, input.Preconditions{})
		expect.That(t, problem.Has(err, problem.ValidationFailed), "for a user: %v", err)
		w := lease.Write{Most: 100, Calls: 3, End: time.Now().Unix() + 5}
		_, applied, err := real.lease(ctx, boxesKey(organization), w, nil, time.Now())
		expect.Must(t, err == nil && applied, "got %v, %v", applied, err)
		expect.Value(overrides.Put(ctx, audit.Origin{}, target, OverrideSpec{BoxLimit: new(900_000)}, input.Preconditions{}))(t)
		p, applied, err := real.lease(ctx, boxesKey(organization), w, nil, time.Now())
		expect.Must(t, err == nil && !applied && p.override != nil && p.override.Limit == 900_000 && p.Total == 3, "with the old limit: %v, %+v, %v", applied, p, err)
		_, applied, err = real.lease(ctx, boxesKey(organization), w, p.override, time.Now())
		expect.That(t, err == nil && applied, "with the new limit: %v, %v", applied, err)
		is, err := real.boxes(ctx, organization, time.Now())
		expect.That(t, err == nil && !is.counted && is.override != nil && is.override.Limit == 900_000, "the tally has %+v, %v", is, err)
		usages := expect.Value(ReadUsage(ctx, client, Limits{User: 600, Organization: 6000, Boxes: 600_000}, time.Now(), Caller{User: "b", Organization: organization, Box: true}))(t)
		own := usages[len(usages)-1]
		expect.That(t, own.Policy == boxPolicy && own.Limit == 900_000 && own.Used == 6 && own.Arranged, "got %+v", own)
	})
}

// TestStores_TallyOfBoxes_IsRenewedBeforeItEnds, so that an organization that registers nobody keeps its count.
func TestStores_TallyOfBoxes_IsRenewedBeforeItEnds(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, organization := dynamo.Open(client, time.Now), uuid.NewString()
		real := counters{api: client, table: dynamo.RateCounters.Name(), rules: slotLog}
		ctx, key := admission.Unlimited(t.Context()), dynamo.Key{"subject": dynamo.BoxTally(organization)}
		is, err := real.boxes(ctx, organization, time.Now())
		expect.That(t, err == nil && !is.counted, "nothing is stored: %+v, %v", is, err)
		var item map[string]any
		set := func(what string, values map[string]any) {
			t.Helper()
			expect.Value(db.Tally(ctx, dynamo.RateCounters, key, what, values, dynamo.Condition{}, &item))(t)
		}
		soon, late := time.Now().Add(20*24*time.Hour).Unix(), time.Now().Add(34*24*time.Hour).Unix()
		set("SET #n = :n, #ttl = :ttl", map[string]any{":n": 7, ":ttl": soon})
		is, err = real.boxes(ctx, organization, time.Now())
		expect.That(t, err == nil && !is.counted, "never counted: %+v, %v", is, err)
		set("SET #countedAt = :at", map[string]any{":at": 1})
		is, err = real.boxes(ctx, organization, time.Now())
		expect.That(t, err == nil && is.counted && is.n == 7, "got %+v, %v", is, err)
		expect.Value(db.Get(ctx, dynamo.RateCounters, key, &item))(t)
		expect.That(t, item["ttl"].(float64) >= float64(late), "it ends at %v", item["ttl"])
	})
}
