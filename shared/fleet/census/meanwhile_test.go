package census_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/trail/audit"
)

// TestRollout_BoxesMoveMeanwhile_TheCensusIsWrongByThoseAtMost counts while boxes poll, fail, change their channel
// and retire between the queries of the count, on a store that refuses writes and loses answers.
//
// Each number is compared with the counts before and after. A number can include a box at most once, however often the
// box moves. Several numbers can include it, so their sum is wrong by at most the number of moves.
func TestRollout_BoxesMoveMeanwhile_TheCensusIsWrongByThoseAtMost(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		// The embedded store looks for the last item of a page, and loses its place if that has moved.
		onReference := !strings.HasSuffix(t.Name(), "/embedded")
		dynamotest.Check(t, func(t *rapid.T) {
			f := newFleet(t, client, rapid.SampledFrom([]report.Shards{1, 4}).Draw(t, "shards"))
			id := f.start(t, 100)
			boxes := rapid.IntRange(1, 12).Draw(t, "boxes")
			name := func(i int) string { return fmt.Sprintf("box-%d-%s", i, f.edgeType) }
			for i := range boxes {
				f.register(t, name(i), f.channel, "")
				if rapid.Bool().Draw(t, "polls before") {
					f.poll(t, name(i), "1.0.0")
				}
			}
			before := census.Total(f.count(t, id).Stages)

			m := &movers{fleet: f, moved: map[string]bool{}}
			for range rapid.IntRange(0, 8).Draw(t, "moves") {
				m.moves = append(m.moves, move{name(rapid.IntRange(0, boxes-1).Draw(t, "box")),
					rapid.SampledFrom([]string{"polls", "updates", "fails", "moves", "comes back", "retires"}).Draw(t, "move")})
			}
			fates := rapid.SliceOfN(rapid.SampledFrom([]trouble{none, none, refused, lost}), 0, 20).Draw(t, "fates of writes")
			if onReference {
				f.api.page = rapid.SampledFrom([]int32{0, 1, 3}).Draw(t, "page")
			}
			f.api.fail = m.next
			f.api.trouble = func() (fate trouble) {
				if len(fates) > 0 {
					fate, fates = fates[0], fates[1:]
				}
				return fate
			}
			during := m.count(t, id)
			f.api.page, f.api.fail, f.api.trouble = 0, nil, nil
			if m.err != nil {
				t.Fatal(m.err)
			}
			after := census.Total(f.count(t, id).Stages)
			for number, of := range map[string]func(guard.Counts) int{
				"not yet polled": func(n guard.Counts) int { return n.NotYetPolled }, "offered": func(n guard.Counts) int { return n.Offered },
				"installed": func(n guard.Counts) int { return n.Installed }, "failed": func(n guard.Counts) int { return n.Failed },
				"reverted": func(n guard.Counts) int { return n.Reverted }, "expected": func(n guard.Counts) int { return n.Expected },
			} {
				most := len(m.moved)
				if number == "expected" {
					most = m.made
				}
				for when, there := range map[string]guard.Counts{"before": before, "after": after} {
					if off := of(during) - of(there); max(off, -off) > most {
						t.Fatalf("%s: %d %s, counted %d while %d boxes made %d moves", number, of(there), when, of(during), len(m.moved), m.made)
					}
				}
			}
		})
	})
}

// A move is what a box does while it is counted.
type move struct{ box, what string }

// movers make their moves between the queries of a count, one after the other.
type movers struct {
	*fleet
	mu    sync.Mutex
	moves []move
	made  int
	moved map[string]bool
	err   error
}

// next makes a move, if there is one left. It is called before each query.
func (m *movers) next() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.moves) == 0 || m.err != nil {
		return nil
	}
	next := m.moves[0]
	m.moves = m.moves[1:]
	m.moved[next.box] = true
	m.made++
	// The list of fates is short, so that every move succeeds in the end.
	for try := 1; ; try++ {
		err := m.make(next)
		if err == nil {
			return nil
		}
		if try == 30 {
			m.err = fmt.Errorf("%s %s: %w", next.box, next.what, err)
			return nil
		}
	}
}

func (m *movers) make(next move) error {
	e, err := edge.NewStore(m.db).Get(m.ctx, next.box)
	if err != nil && next.what != "comes back" {
		return nil // the box is retired, so nothing happens
	}
	switch next.what {
	case "moves":
		return m.assign(next.box, "canary")
	case "comes back":
		return m.assign(next.box, m.channel)
	case "retires":
		return m.registry.Retire(m.ctx, audit.Origin{}, next.box, input.Preconditions{})
	}
	if e.Channel != m.channel {
		return nil // the box is on another channel
	}
	if next.what == "fails" {
		row, err := report.NewStore(m.db, 1).Get(m.ctx, next.box)
		if err != nil || row.Offer == nil {
			return err // it was not offered anything
		}
		_, err = m.reports.Take(m.ctx, auth.Principal{Issuer: fleetIssuer, UserID: next.box}, next.box, report.Outcome{Version: row.Offer.Version, Attempt: 1, State: report.Failed, Code: report.CodeBoot, At: m.now})
		return err
	}
	user := fleetIssuer + " " + next.box
	reply, err := m.polls.Answer(m.ctx, polling.Poll{EdgeID: next.box, Installed: map[string]string{"polls": "1.0.0", "updates": "2.0.0"}[next.what],
		Caller: user, Subject: ratelimit.Subject(user)})
	if err == nil {
		err = reply.Unrecorded
	}
	return err
}

func (m *movers) assign(box, channel string) error {
	_, err := m.registry.Put(m.ctx, audit.Origin{}, box, edge.Assignment{EdgeType: m.edgeType, Channel: channel, OrganizationID: "acme"}, input.Preconditions{})
	return err
}

// count retries until it succeeds: counts are written, too, so they can fail.
func (m *movers) count(t tester, id string) guard.Counts {
	t.Helper()
	for range 30 {
		m.now = m.now.Add(11 * time.Second)
		began := m.now
		p, err := m.progress.Rollout(m.ctx, id, false, true)
		if err == nil && p.AsOf.Equal(began) {
			return census.Total(p.Stages)
		}
	}
	t.Fatal("the boxes could not be counted")
	return guard.Counts{}
}
