package census_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// owner may see everything.
var owner = auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}

// A faulty store fails calls as configured.
type faulty struct {
	dynamo.API
	mu      sync.Mutex
	queries int
	fail    func() error
	// trouble decides the fate of a write: it succeeds, is refused, or succeeds but its answer is lost.
	trouble func() trouble
	// page is the maximum number of items in a query's page; 0: the store's own.
	page int32
	// refuse returns why a transaction is refused, or nil.
	refuse func() error
	// unreadable is the id of an item that cannot be read.
	unreadable string
}

// A trouble is the fate of a write.
type trouble int

const (
	none trouble = iota
	refused
	lost
)

var errStore = errors.New("the store is in trouble")

func (f *faulty) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return write(f, func() (*dynamodb.UpdateItemOutput, error) { return f.API.UpdateItem(ctx, in, o...) })
}

func (f *faulty) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if id, ok := in.Key["id"].(*types.AttributeValueMemberS); ok && f.unreadable != "" && id.Value == f.unreadable {
		return nil, errStore
	}
	return f.API.GetItem(ctx, in, o...)
}

func (f *faulty) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if f.refuse != nil {
		if err := f.refuse(); err != nil {
			return nil, err
		}
	}
	return write(f, func() (*dynamodb.TransactWriteItemsOutput, error) { return f.API.TransactWriteItems(ctx, in, o...) })
}

func write[Out any](f *faulty, do func() (Out, error)) (out Out, err error) {
	f.mu.Lock()
	fate := none
	if f.trouble != nil {
		fate = f.trouble()
	}
	f.mu.Unlock()
	if fate == refused {
		return out, errStore
	}
	if out, err = do(); err == nil && fate == lost {
		err = errStore
	}
	return out, err
}

func (f *faulty) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	f.mu.Lock()
	f.queries++
	fail := f.fail
	f.mu.Unlock()
	if f.page > 0 {
		in.Limit = &f.page
	}
	if fail != nil {
		if err := fail(); err != nil {
			return nil, err
		}
	}
	return f.API.Query(ctx, in, o...)
}

// A fleet is the boxes of its own channel, on a clock that the test sets.
type fleet struct {
	ctx          context.Context
	api          *faulty
	clock        sync.Mutex // guards now, for a test that sets it during a count
	now          time.Time
	edgeType     string
	channel      string
	db           *dynamo.DB
	registry     *edge.Registry
	polls        *polling.Polls
	reports      *polling.Reports
	releases     *release.Store
	publications *publication.Store
	rollouts     *rollout.Store
	limiter      *ratelimit.Limiter
	progress     *census.Store
	blind        bool         // the times of boxes' last calls cannot be read
	looked       atomic.Int64 // how many were looked up
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
	clock := f.time
	f.db = dynamo.Open(f.api, clock)
	settings := polling.Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute, Shards: shards}
	f.registry, f.polls, f.reports = edge.NewRegistry(f.db, shards).For(owner), polling.NewPolls(f.db, settings, nil, clock), polling.NewReports(f.db, shards, fleetIssuer)
	f.releases, f.publications, f.rollouts = release.NewStore(f.db), publication.NewStore(f.db), rollout.NewStore(f.db)
	f.limiter = ratelimit.New(ratelimit.Config{Store: client, Limits: ratelimit.Limits{User: 600}, Clock: clock, Deadline: 10 * time.Second})
	f.progress = census.NewStore(f.db, census.Settings{Shards: shards, PollInterval: time.Minute, GuardInterval: time.Minute},
		func(ctx context.Context, subject string) (time.Time, error) {
			f.looked.Add(1)
			if f.blind {
				return time.Time{}, errStore
			}
			return ratelimit.LastSeen(client)(ctx, subject)
		})
	f.publish(t, f.channel, "1.0.0")
	f.publish(t, "canary", "2.0.0")
	return f
}

func (f *fleet) time() time.Time {
	f.clock.Lock()
	defer f.clock.Unlock()
	return f.now
}

func (f *fleet) later(d time.Duration) {
	f.clock.Lock()
	defer f.clock.Unlock()
	f.now = f.now.Add(d)
}

func (f *fleet) publish(t tester, channel, version string) {
	t.Helper()
	_, err := f.publications.Publish(f.ctx, audit.Origin{}, release.Publication{EdgeType: f.edgeType, Channel: channel, CurrentVersion: version,
		ArtifactURL: "https://a.example/" + version, SHA256: version}, input.Preconditions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fleet) register(t tester, id, channel, factory string) {
	t.Helper()
	a := edge.Assignment{EdgeType: f.edgeType, Channel: channel, OrganizationID: "acme", FactoryID: &factory}
	if _, err := f.registry.Put(f.ctx, audit.Origin{}, id, a, input.Preconditions{}); err != nil {
		t.Fatal(err)
	}
}

// name names one of so many boxes. A hash of the edge type, which is random, and of the name decides which stage reaches
// the box. By chance, a stage could have too many boxes or too few for what a test expects. So names are tried until
// each stage has its share.
func (f *fleet) name(i, boxes int) string {
	const stride = 37 // so that neighbors do not share a stage
	percentile := i * stride % boxes * 100 / boxes
	for try := 0; ; try++ {
		id := fmt.Sprintf("%s-%03d-%d", f.edgeType, i, try)
		if cohort.Of(f.edgeType, "2.0.0", id).Percentile() == percentile {
			return id
		}
	}
}

// start starts a rollout of 2.0.0 and raises it.
func (f *fleet) start(t tester, percent int) string {
	t.Helper()
	id, err := f.rollouts.Start(f.ctx, audit.Origin{}, rollout.Plan{EdgeType: f.edgeType, Channel: f.channel, TargetVersion: "2.0.0"}, idempotency.Claim{})
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range cohort.Stages[1:] {
		if stage <= percent {
			f.move(t, id, rollout.Move{StagedPercent: &stage})
		}
	}
	return id
}

func (f *fleet) move(t tester, id string, m rollout.Move) {
	t.Helper()
	if _, err := f.rollouts.Move(f.ctx, audit.Origin{}, id, m, input.Preconditions{}); err != nil {
		t.Fatal(err)
	}
}

// poll polls as a box, counted by the limiter.
func (f *fleet) poll(t tester, id, installed string, said ...string) {
	t.Helper()
	user := fleetIssuer + " " + id
	f.limiter.Admit(f.ctx, ratelimit.Caller{User: user, Box: true}, ratelimit.Ordinary)
	for try := 1; ; try++ {
		reply, err := f.polls.Answer(f.ctx, polling.Poll{EdgeID: id, Installed: installed, Said: said, Caller: user, Subject: ratelimit.Subject(user)})
		if err == nil && reply.Unrecorded == nil {
			return
		}
		// A busy machine may take longer than a poll waits. A box of a group is then told to poll again.
		if err != nil && !problem.Has(err, problem.Unavailable) || try == 20 {
			t.Fatalf("%s: %v, %v", id, err, reply.Unrecorded)
		}
	}
}

func (f *fleet) fails(t tester, id string) {
	t.Helper()
	if _, err := f.reports.Take(f.ctx, auth.Principal{Issuer: fleetIssuer, UserID: id}, id, report.Outcome{Version: "2.0.0", Attempt: 1, State: report.Failed, Code: report.CodeBoot, At: f.now}); err != nil {
		t.Fatal(err)
	}
}

// count counts once more.
func (f *fleet) count(t tester, id string) census.Progress {
	t.Helper()
	f.now = f.now.Add(11 * time.Second)
	p, err := f.progress.Rollout(f.ctx, id, false, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
