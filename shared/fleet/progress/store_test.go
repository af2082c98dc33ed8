package progress_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/progress"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/operations"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamotest"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A faulty store refuses calls as it is told.
type faulty struct {
	dynamo.API
	mu      sync.Mutex
	queries int
	fail    func() error
	// throttled and lost tell of a put whether it is refused, or made and its answer lost.
	throttled, lost func() bool
}

var errStore = errors.New("the store is in trouble")

func (f *faulty) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if f.throttled != nil && f.throttled() {
		return nil, errStore
	}
	out, err := f.API.PutItem(ctx, in, o...)
	if err == nil && f.lost != nil && f.lost() {
		return nil, errStore
	}
	return out, err
}

func (f *faulty) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	f.mu.Lock()
	f.queries++
	fail := f.fail
	f.mu.Unlock()
	if fail != nil {
		if err := fail(); err != nil {
			return nil, err
		}
	}
	return f.API.Query(ctx, in, o...)
}

// A fleet is the boxes of a channel of its own, on a clock that the test sets.
type fleet struct {
	ctx          context.Context
	api          *faulty
	now          time.Time
	edgeType     string
	channel      string
	db           *dynamo.DB
	registry     *edge.Registry
	polls        *edge.Polls
	reports      *edge.Reports
	releases     *release.Store
	publications *publication.Store
	rollouts     *rollout.Store
	limiter      *ratelimit.Limiter
	progress     *progress.Store
}

// A tester is a test, rapid's or the standard library's.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// fleetIssuer is the issuer of the boxes' tokens.
const fleetIssuer = "https://fleet.example"

// newFleet publishes 1.0.0 on a channel, and 2.0.0 elsewhere.
func newFleet(t tester, client *dynamodb.Client, shards report.Shards) *fleet {
	f := &fleet{ctx: admission.Unlimited(context.Background()), api: &faulty{API: client}, now: noon, edgeType: "t-" + uuid.NewString()[:8], channel: "stable"}
	clock := func() time.Time { return f.now }
	f.db = dynamo.Open(f.api, clock)
	settings := edge.Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute, Shards: shards}
	f.registry, f.polls, f.reports = edge.NewRegistry(f.db, shards), edge.NewPolls(f.db, settings, clock), edge.NewReports(f.db, shards, fleetIssuer)
	f.releases, f.publications, f.rollouts = release.NewStore(f.db), publication.NewStore(f.db), rollout.NewStore(f.db)
	f.limiter = ratelimit.New(ratelimit.Config{Store: client, Limits: ratelimit.Limits{User: 600}, Clock: clock, Deadline: 10 * time.Second})
	f.progress = progress.NewStore(f.db, progress.Settings{Shards: shards, PollInterval: time.Minute},
		func(ctx context.Context, subject string) (time.Time, error) {
			return ratelimit.LastSeen(ctx, client, subject)
		})
	f.publish(t, f.channel, "1.0.0")
	f.publish(t, "canary", "2.0.0")
	return f
}

func (f *fleet) publish(t tester, channel, version string) {
	t.Helper()
	_, err := f.publications.Publish(f.ctx, audit.Origin{}, release.Publication{EdgeType: f.edgeType, Channel: channel, CurrentVersion: version,
		ArtifactURL: "https://a.example/" + version, SHA256: version}, request.Preconditions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fleet) register(t tester, id, channel, factory string) {
	t.Helper()
	a := edge.Assignment{EdgeType: f.edgeType, Channel: channel, OrganizationID: "acme", FactoryID: &factory}
	if _, err := f.registry.Put(f.ctx, audit.Origin{}, id, a, request.Preconditions{}); err != nil {
		t.Fatal(err)
	}
}

// start starts a rollout of 2.0.0 and raises it.
func (f *fleet) start(t tester, percent int) string {
	t.Helper()
	id, err := f.rollouts.Start(f.ctx, audit.Origin{}, rollout.Plan{EdgeType: f.edgeType, Channel: f.channel, TargetVersion: "2.0.0"}, idempotency.Claim{})
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range rollout.Stages[1:] {
		if stage <= percent {
			f.move(t, id, rollout.Move{StagedPercent: &stage})
		}
	}
	return id
}

func (f *fleet) move(t tester, id string, m rollout.Move) {
	t.Helper()
	if _, err := f.rollouts.Move(f.ctx, audit.Origin{}, id, m, request.Preconditions{}); err != nil {
		t.Fatal(err)
	}
}

// poll polls as a box, counted by the limiter.
func (f *fleet) poll(t tester, id, installed string) {
	t.Helper()
	user := fleetIssuer + " " + id
	f.limiter.Admit(f.ctx, ratelimit.Caller{User: user, Box: true}, operations.Ordinary)
	for try := 1; ; try++ {
		reply, err := f.polls.Answer(f.ctx, edge.Poll{EdgeID: id, Installed: installed, Caller: user, Subject: ratelimit.Subject(user)})
		if err == nil && reply.Unrecorded == nil {
			return
		}
		if err != nil || try == 20 { // a busy machine may take longer than a poll waits
			t.Fatalf("%s: %v, %v", id, err, reply.Unrecorded)
		}
	}
}

func (f *fleet) fails(t tester, id string) {
	t.Helper()
	if _, err := f.reports.Take(f.ctx, id, fleetIssuer, report.Outcome{Version: "2.0.0", Attempt: 1, Stand: report.Failed, Code: report.CodeBoot, At: f.now}); err != nil {
		t.Fatal(err)
	}
}

// count counts anew.
func (f *fleet) count(t tester, id string) progress.Progress {
	t.Helper()
	f.now = f.now.Add(11 * time.Second)
	p, err := f.progress.Rollout(f.ctx, id, false, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRollout_NothingMoves_TheCensusIsExact plays a rollout box by box, with boxes that join, move and
// retire, and compares each number with what the test itself did.
func TestRollout_NothingMoves_TheCensusIsExact(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			f := newFleet(t, client, rapid.SampledFrom([]report.Shards{1, 4}).Draw(t, "shards"))
			truth := map[string]string{} // box: its stand; "" is not told yet, and "away" is on no count
			id := f.start(t, rapid.SampledFrom(rollout.Stages).Draw(t, "percent"))
			r, err := f.rollouts.Get(f.ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			reached := func(box string) bool {
				return rollout.FirstStage(f.edgeType, "2.0.0", box) <= r.StagedPercent
			}
			for range rapid.IntRange(1, 40).Draw(t, "events") {
				box := fmt.Sprintf("box-%d-%s", rapid.IntRange(0, 9).Draw(t, "box"), f.edgeType)
				stand, known := truth[box]
				if !known || stand == "away" {
					f.register(t, box, f.channel, "")
					truth[box] = ""
					continue
				}
				switch rapid.SampledFrom([]string{"polls", "updates", "falls back", "fails", "moves", "retires"}).Draw(t, "event") {
				case "polls":
					if stand == "" {
						f.poll(t, box, "1.0.0")
						if reached(box) {
							truth[box] = "offered"
						}
					}
				case "updates":
					if stand == "offered" || stand == "failed" {
						f.poll(t, box, "2.0.0")
						truth[box] = "installed"
					}
				case "falls back":
					if stand == "installed" {
						f.poll(t, box, "1.0.0")
						truth[box] = "reverted"
					}
				case "fails":
					if stand == "offered" {
						f.fails(t, box)
						truth[box] = "failed"
					}
				case "moves":
					f.register(t, box, "canary", "")
					truth[box] = "away"
				case "retires":
					if err := f.registry.Retire(f.ctx, audit.Origin{}, box, request.Preconditions{}); err != nil {
						t.Fatal(err)
					}
					truth[box] = "away"
				}
				if truth[box] == "away" && rapid.Bool().Draw(t, "comes back") {
					// What it was offered counts again, unless its registration was taken back.
					f.register(t, box, f.channel, "")
					row, err := report.NewStore(f.db, 1).Get(f.ctx, box)
					if err != nil {
						t.Fatal(err)
					}
					if truth[box] = ""; row.Offer != nil && row.Offer.RolloutID == id {
						truth[box] = string(row.Offer.Stand)
					}
				}
			}
			want := progress.NewCensus(r)
			for box, stand := range truth {
				if stand != "away" {
					at := slices.Index(rollout.Stages, rollout.FirstStage(f.edgeType, "2.0.0", box))
					tally(&want.Stages[at].Counts, stand, reached(box))
				}
			}
			if got := f.count(t, id); !slices.Equal(got.Stages, want.Stages) {
				t.Fatalf("counted %+v\nwant    %+v", got.Stages, want.Stages)
			}
		})
	})
}

// TestRollout_BoxesMoveMeanwhile_TheCensusIsWrongByThoseAtMost counts while boxes report, change their
// channel and retire, under throttles.
func TestRollout_BoxesMoveMeanwhile_TheCensusIsWrongByThoseAtMost(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		for seed := range uint64(3) {
			random := rand.New(rand.NewPCG(seed, 0))
			f := newFleet(t, client, 4)
			id := f.start(t, 100)
			const boxes = 60
			name := func(i int) string { return fmt.Sprintf("box-%d-%s", i, f.edgeType) }
			for i := range boxes {
				f.register(t, name(i), f.channel, "")
				if i%2 == 0 {
					f.poll(t, name(i), "1.0.0")
				}
			}
			before := progress.Total(f.count(t, id).Stages)
			f.now = f.now.Add(11 * time.Second)
			f.api.fail = func() error {
				time.Sleep(time.Millisecond) // the store is slow, so that boxes move between its answers
				return nil
			}
			var counting sync.WaitGroup
			begun := make(chan struct{})
			trouble := func(of int) func() bool {
				return func() bool {
					select {
					case <-begun:
						return rand.IntN(of) == 0
					default:
						return false
					}
				}
			}
			f.api.throttled, f.api.lost = trouble(4), trouble(4)
			moved := map[string]bool{}
			var during progress.Progress
			var err error
			counting.Go(func() {
				// What is counted is kept by puts, too: it is asked for until that goes well.
				for try := range 30 {
					if during, err = f.progress.Rollout(f.ctx, id, false, try == 0); err == nil {
						return
					}
				}
			})
			close(begun)
			for range 20 {
				i := random.IntN(boxes)
				moved[name(i)] = true
				switch random.IntN(3) {
				case 0:
					f.register(t, name(i), "canary", "")
				default:
					if e, err := edge.NewStore(f.db).Get(f.ctx, name(i)); err == nil && e.Channel == f.channel {
						f.poll(t, name(i), "2.0.0")
					}
				}
			}
			counting.Wait()
			f.api.fail, f.api.throttled, f.api.lost = nil, nil, nil
			if err != nil {
				t.Fatal(err)
			}
			after := progress.Total(f.count(t, id).Stages)
			got := progress.Total(during.Stages)
			for name, n := range map[string][3]int{
				"expected": {before.Expected, got.Expected, after.Expected}, "not yet polled": {before.NotYetPolled, got.NotYetPolled, after.NotYetPolled},
				"offered": {before.Offered, got.Offered, after.Offered}, "installed": {before.Installed, got.Installed, after.Installed},
			} {
				if low, high := min(n[0], n[2])-len(moved), max(n[0], n[2])+len(moved); n[1] < low || n[1] > high {
					t.Errorf("seed %d: %s went from %d to %d, counted %d while %d boxes moved", seed, name, n[0], n[2], n[1], len(moved))
				}
			}
		}
	})
}

func TestRollout_CountedAtMostOnceInTenSeconds_WhoeverAsks(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		id := f.start(t, 100)
		f.register(t, "box-"+f.edgeType, f.channel, "")
		first := f.count(t, id)
		f.poll(t, "box-"+f.edgeType, "1.0.0")
		f.api.queries = 0
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if p, err := f.progress.Rollout(f.ctx, id, false, true); err != nil || !p.AsOf.Equal(first.AsOf) {
					t.Errorf("within ten seconds: %+v, %v", p, err)
				}
			})
		}
		group.Wait()
		f.now = f.now.Add(11 * time.Second)
		for range 8 {
			group.Go(func() {
				if _, err := f.progress.Rollout(f.ctx, id, false, true); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if f.api.queries != 1 {
			t.Errorf("16 callers made it count %d times", f.api.queries)
		}
		p, err := f.progress.Rollout(f.ctx, id, false, false)
		if err != nil || progress.Total(p.Stages).Offered != 1 {
			t.Errorf("then: %+v, %v", p, err)
		}
	})
}

// TestRollout_ChannelHasGoneOn_TheLastCensusStays: what boxes do after a publication says nothing about the
// rollout that it ended.
func TestRollout_ChannelHasGoneOn_TheLastCensusStays(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		box := "box-" + f.edgeType
		f.register(t, box, f.channel, "")
		id := f.start(t, 100)
		f.poll(t, box, "1.0.0")
		f.move(t, id, rollout.Move{Status: rollout.Halted})
		halted := f.count(t, id)
		if progress.Total(halted.Stages).Offered != 1 {
			t.Fatalf("halted: %+v", halted)
		}
		f.fails(t, box) // it was in flight
		if late := f.count(t, id); progress.Total(late.Stages).Failed != 1 || late.Failures[report.CodeBoot] != 1 {
			t.Errorf("a failure after the halt: %+v", late)
		}
		f.publish(t, f.channel, "3.0.0")
		f.poll(t, box, "1.0.0")
		if kept := f.count(t, id); progress.Total(kept.Stages).Failed != 1 {
			t.Errorf("after a publication: %+v", kept)
		}
		f.start(t, 1)
		never := f.start2(t)
		if _, err := f.progress.Rollout(f.ctx, never, false, true); !problem.Has(err, problem.NotFound) {
			t.Errorf("of a rollout that was never counted: %v", err)
		}
		if _, err := f.progress.Rollout(f.ctx, uuid.NewString(), false, true); !problem.Has(err, problem.NotFound) {
			t.Errorf("of no rollout: %v", err)
		}
	})
}

// start2 has another rollout come and go without a count.
func (f *fleet) start2(t tester) string {
	row, err := f.releases.Row(f.ctx, f.edgeType, f.channel)
	if err != nil {
		t.Fatal(err)
	}
	f.move(t, row.Rollout.ID, rollout.Move{Status: rollout.Halted})
	f.publish(t, f.channel, "4.0.0")
	return row.Rollout.ID
}

func TestByFactory_TheMostTroubledFirst(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 4)
		id := f.start(t, 100)
		for i := range 9 {
			box := fmt.Sprintf("box-%d-%s", i, f.edgeType)
			f.register(t, box, f.channel, []string{"", "munich-1", "oslo-2"}[i%3])
			f.poll(t, box, "1.0.0")
			if i%3 == 2 {
				f.fails(t, box)
			}
		}
		got, err := f.progress.Rollout(f.ctx, id, true, false)
		if err != nil {
			t.Fatal(err)
		}
		want := []progress.Factory{
			{FactoryID: "oslo-2", Counts: progress.Counts{Expected: 3, Failed: 3}},
			{Counts: progress.Counts{Expected: 3, Offered: 3}},
			{FactoryID: "munich-1", Counts: progress.Counts{Expected: 3, Offered: 3}},
		}
		if !slices.Equal(got.Factories, want) || got.MoreFactories != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestChannel_WhoRunsWhat(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 4)
		for i, installed := range []string{"1.0.0", "1.0.0", "0.9.0", "", "never"} {
			box := fmt.Sprintf("box-%d-%s", i, f.edgeType)
			f.register(t, box, f.channel, "")
			if installed != "never" {
				f.poll(t, box, installed)
			}
		}
		got, err := f.progress.Channel(f.ctx, f.edgeType, f.channel, false)
		if err != nil {
			t.Fatal(err)
		}
		if got.Boxes != 5 || got.Unknown != 2 || got.OtherVersions != 0 || !slices.Equal(got.Versions, []progress.Version{{Version: "1.0.0", Boxes: 2}, {Version: "0.9.0", Boxes: 1}}) {
			t.Errorf("got %+v", got)
		}
		if _, err := f.progress.Channel(f.ctx, f.edgeType, "none", false); !problem.Has(err, problem.NotFound) {
			t.Errorf("of no channel: %v", err)
		}
	})
}

// TestRollout_SilentBoxes_AreThoseThatDied: the limiter's own counts tell.
func TestRollout_SilentBoxes_AreThoseThatDied(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := newFleet(t, client, 1)
		id := f.start(t, 100)
		name := func(i int) string { return fmt.Sprintf("box-%d-%s", i, f.edgeType) }
		for i := range 12 {
			f.register(t, name(i), f.channel, "")
			f.poll(t, name(i), "1.0.0")
		}
		for i := range 6 { // these update; the first two of them die then
			f.poll(t, name(i), "2.0.0")
		}
		f.fails(t, name(11)) // and is switched off
		if s := f.count(t, id).Silent; s.Boxes != 0 || s.Of != 11 {
			t.Errorf("at once: %+v", s)
		}
		f.now = f.now.Add(10 * time.Minute)
		for i := 2; i < 10; i++ { // box 10 died before it updated
			f.poll(t, name(i), map[bool]string{true: "2.0.0", false: "1.0.0"}[i < 6])
		}
		s := f.count(t, id).Silent
		want := []string{name(0), name(1), name(10)}
		if slices.Sort(s.EdgeIDs); s.Boxes != 3 || s.Sampled != 11 || s.Unknown != 0 || !slices.Equal(s.EdgeIDs, want) {
			t.Errorf("after ten minutes: %+v, want %v", s, want)
		}
	})
}

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
		tick := func() progress.Tally {
			t.Helper()
			tally, err := f.progress.Tick(f.ctx)
			if err != nil {
				t.Fatal(err)
			}
			return tally
		}
		if tally := tick(); tally.Counted < 2 || tally.Oldest != 0 {
			t.Errorf("the first tick: %+v", tally)
		}
		if tally := tick(); tally.Counted != 0 {
			t.Errorf("the same tick again: %+v", tally)
		}
		for range 3 {
			f.now = f.now.Add(time.Minute)
			tick()
		}
		f.now = f.now.Add(5 * time.Minute) // lost ticks
		tick()
		for _, id := range []string{first, second} {
			page, err := f.progress.History(f.ctx, id, "", 100)
			if err != nil || len(page.Items) != 5 || page.More {
				t.Errorf("the history of %s: %+v, %v", id, page, err)
			}
		}
		var walked []progress.Moment
		for before := ""; ; {
			page, err := f.progress.History(f.ctx, second, before, 2)
			if err != nil {
				t.Fatal(err)
			}
			if walked = append(walked, page.Items...); !page.More {
				break
			}
			before = progress.PositionOf(page.Items[len(page.Items)-1])
		}
		if len(walked) != 5 || walked[0].Offered != 1 || !slices.IsSortedFunc(walked, func(a, b progress.Moment) int { return b.At.Compare(a.At) }) {
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
		if _, err := f.progress.Tick(f.ctx); err == nil {
			t.Fatalf("the tick that died after %d queries says nothing", die)
		}
		f.api.fail = nil
		f.now = f.now.Add(time.Minute)
		if tally, err := f.progress.Tick(f.ctx); err != nil || tally.Counted != 1 {
			t.Fatalf("the next one: %+v, %v", tally, err)
		}
	}
	if page, err := f.progress.History(f.ctx, id, "", 100); err != nil || len(page.Items) != 4 {
		t.Errorf("the history: %+v, %v", page, err)
	}
}

func TestWhy_TheSentenceIsThatOfTheRule(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 1)
	var in, out string // of the first half for 2.0.0
	for i := 0; in == "" || out == ""; i++ {
		box := fmt.Sprintf("box-%d", i)
		if rollout.FirstStage(f.edgeType, "2.0.0", box) == 100 {
			out = box
		} else if rollout.FirstStage(f.edgeType, "2.0.0", box) == 50 {
			in = box
		}
	}
	for _, box := range []string{in, out} {
		f.register(t, box, f.channel, "")
		f.poll(t, box, "1.0.0")
	}
	rule := func(box string, want progress.Rule) progress.Why {
		t.Helper()
		why, err := f.progress.Why(f.ctx, box)
		if err != nil || why.Rule != want || why.Sentence == "" {
			t.Errorf("%s: %+v, %v; want the rule %s", box, why, err, want)
		}
		return why
	}
	rule(in, progress.RuleChannel)
	id := f.start(t, 50)
	rule(in, progress.RuleRollout)
	if why := rule(out, progress.RuleNotReached); why.Rollout.ReachedAt != 100 || why.Rollout.Percentile < 50 {
		t.Errorf("not reached: %+v", why.Rollout)
	}
	f.poll(t, in, "1.0.0")
	f.fails(t, in)
	why := rule(in, progress.RuleRollout)
	if why.Report.Stand != report.Failed || why.Report.Code != report.CodeBoot || why.LastSeenAt == nil || f.now.Sub(*why.LastSeenAt) >= 500*time.Millisecond || why.Running != "1.0.0" {
		t.Errorf("failed: %+v, %+v", why, why.Report)
	}
	f.poll(t, in, "2.0.0")
	f.move(t, id, rollout.Move{Status: rollout.Halted})
	rule(in, progress.RuleKept)
	if why := rule(out, progress.RuleEnded); why.Rollout.Status != rollout.Halted {
		t.Errorf("ended: %+v", why.Rollout)
	}
	f.register(t, out, "nothing", "")
	rule(out, progress.RuleNothing)
	if _, err := f.progress.Why(f.ctx, "nobody"); !problem.Has(err, problem.NotFound) {
		t.Errorf("of no box: %v", err)
	}
}
