package census_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func TestTick_CountsEveryActiveRollout_AndDoublesDoNoHarm(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		f.now = time.Now().UTC().Truncate(time.Millisecond) // the reference holds other tests' rollouts, too
		first := f.start(t, 1)
		f.publish(t, "beta", "1.0.0")
		f.channel = "beta"
		second := f.start(t, 100)
		box := "box-" + f.edgeType
		f.register(t, box, "beta", "")
		f.poll(t, box, "1.0.0")
		tick := func() census.Tally {
			t.Helper()
			tally, err := f.progress.Tick(f.ctx, census.GuardOrigin("the tick"))
			expect.Must(t, !about(err, first, second), "%v", err)
			return tally
		}
		if tally := tick(); tally.Counted < 2 || strings.HasSuffix(t.Name(), "/embedded") && tally.Oldest != 0 {
			t.Errorf("the first tick: %+v", tally)
		}
		tick() // repeated
		for _, id := range []string{first, second} {
			if page, err := f.progress.History(f.ctx, id, "", 100); err != nil || len(page.Items) != 1 {
				t.Errorf("the same tick twice makes %d moments of %s, %v", len(page.Items), id, err)
			}
		}
		for range 3 {
			f.now = f.now.Add(time.Minute)
			tick()
		}
		f.now = f.now.Add(5 * time.Minute) // lost ticks
		tick()
		for _, id := range []string{first, second} {
			page, err := f.progress.History(f.ctx, id, "", 100)
			expect.That(t, err == nil && len(page.Items) == 5 && !page.More,
				"the history of %s: %+v, %v", id, page, err)
		}
		var walked []census.Snapshot
		for before := ""; ; {
			page := expect.Value(f.progress.History(f.ctx, second, before, 2))(t)
			if walked = append(walked, page.Items...); !page.More {
				break
			}
			before = census.PositionOf(page.Items[len(page.Items)-1])
		}
		if len(walked) != 5 || walked[0].Offered != 1 || !slices.IsSortedFunc(walked, func(a, b census.Snapshot) int { return b.At.Compare(a.At) }) {
			t.Errorf("walked by twos: %+v", walked)
		}
	})
}

// TestTick_DiesHalfWay_TheNextOneMakesUpForIt stops a tick in every query that it makes.
func TestTick_DiesHalfWay_TheNextOneMakesUpForIt(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 3)
	id := f.start(t, 100)
	f.register(t, "box-"+f.edgeType, f.channel, "")
	for die := range 4 {
		f.now = f.now.Add(time.Minute)
		f.api.queries = 0
		f.api.fail = func() error {
			f.api.mu.Lock()
			defer f.api.mu.Unlock()
			if f.api.queries > die {
				return errors.New("killed")
			}
			return nil
		}
		if _, err := f.progress.Tick(f.ctx, census.GuardOrigin("the tick")); err == nil {
			t.Fatalf("the tick that died after %d queries returns no error", die)
		}
		f.api.fail = nil
		f.now = f.now.Add(time.Minute)
		tally, err := f.progress.Tick(f.ctx, census.GuardOrigin("the tick"))
		expect.Must(t, err == nil && tally.Counted == 1, "the next one: %+v, %v", tally, err)
	}
	page, err := f.progress.History(f.ctx, id, "", 100)
	expect.That(t, err == nil && len(page.Items) == 4, "the history: %+v, %v", page, err)
}

// TestTick_Samples_AreLookedUpOnceInTenMinutes, and at the first count of a stage.
func TestTick_Samples_AreLookedUpOnceInTenMinutes(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 2)
	const boxes = 20
	for i := range boxes {
		f.register(t, f.name(i, boxes), f.channel, "munich-1")
		f.poll(t, f.name(i, boxes), "1.0.0")
	}
	id := f.start(t, 50)
	for i := range boxes {
		f.poll(t, f.name(i, boxes), "1.0.0")
	}
	ticks := func(n int) (looks int) {
		t.Helper()
		for range n {
			before := f.looked.Load()
			f.later(time.Minute)
			expect.Value(f.progress.Tick(f.ctx, audit.Origin{}))(t)
			if f.looked.Load() > before {
				looks++
			}
		}
		return looks
	}
	expect.Equal(t, ticks(1), 1, "looks at the first count:")
	expect.Equal(t, ticks(20), 2, "looks in twenty ticks:")
	stage := 100
	f.move(t, id, rollout.Move{StagedPercent: &stage})
	expect.Equal(t, ticks(1), 1, "looks at the first count of a stage:")
	p := expect.Value(f.progress.Rollout(f.ctx, id, false, false))(t)
	expect.That(t, p.Silent.Sampled != 0 && p.Silent.Of == p.Silent.Sampled, "the sample is %+v", p.Silent)
}
