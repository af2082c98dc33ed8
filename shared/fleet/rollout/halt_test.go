package rollout_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// haltRounds is how many rollouts are halted while others write: 300 in a long run.
func haltRounds() int { return expect.Long(12, 300) }

// callTime is less than what a call to update-rollout may take.
const callTime = 4 * time.Second

// A slowStore takes a few milliseconds for a transaction, and cancels those that arrive meanwhile, as DynamoDB does if
// they write the same items. The embedded store writes them one after the other.
type slowStore struct {
	dynamo.API
	busy     atomic.Bool
	collided atomic.Int64
	third    func() // runs with the third collision, if it is set
}

func (s *slowStore) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if !s.busy.CompareAndSwap(false, true) {
		if s.collided.Add(1) == 3 && s.third != nil {
			s.third()
		}
		e := &types.TransactionCanceledException{}
		for range in.TransactItems {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String("TransactionConflict")})
		}
		return nil, e
	}
	defer s.busy.Store(false)
	time.Sleep(2*time.Millisecond + rand.N(4*time.Millisecond))
	return s.API.TransactWriteItems(ctx, in, o...)
}

// storesUnderLoad runs a test on the embedded store, and on one that conflicts like DynamoDB.
func storesUnderLoad(t *testing.T, test func(t *testing.T, api dynamo.API)) {
	t.Run("one after the other", func(t *testing.T) { test(t, dynamotest.Embedded(t)) })
	t.Run("colliding", func(t *testing.T) {
		s := &slowStore{API: dynamotest.Embedded(t)}
		test(t, s)
		expect.That(t, s.collided.Load() != 0, "no transaction collided")
	})
}

// startJudged starts a rollout with a policy on its own channel.
func startJudged(t *testing.T, api dynamo.API) (*fleet, string) {
	t.Helper()
	db := dynamo.Open(api, time.Now)
	f := newFleet(db)
	f.publish(t, "stable", "1.0.0", "a")
	f.publish(t, "canary", "1.1.0", "b")
	p := policy(10, 50, 100)
	id := expect.Value(f.rollouts.Start(admission.Unlimited(t.Context()), as("otto"),
		rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.1.0", Policy: &p}, idempotency.Claim{}))(t)
	return f, id
}

// A write is one of the changes that people make to a rollout.
type write func(ctx context.Context, f *fleet, id string) error

func approve(ctx context.Context, f *fleet, id string) error {
	return f.rollouts.Approve(ctx, as(uuid.NewString()), id, []int{10, 50, 100}[rand.N(3)], input.Preconditions{})
}

func promote(ctx context.Context, f *fleet, id string) error {
	_, err := f.rollouts.Move(ctx, as("petra"), id, rollout.Move{StagedPercent: new([]int{10, 50, 100}[rand.N(3)])}, input.Preconditions{})
	return err
}

func resume(ctx context.Context, f *fleet, id string) error {
	_, err := f.rollouts.Move(ctx, as("rosa"), id, rollout.Move{Status: rollout.Active}, input.Preconditions{})
	return err
}

func changePolicy(ctx context.Context, f *fleet, id string) error {
	p := policy(10, 50, 100)
	p.Guard.Acceptable = float64(1+rand.N(10)) / 1000
	return f.rollouts.SetPolicy(ctx, as("paul"), id, p, input.Preconditions{})
}

// beside runs a function while writers change a rollout as fast as they can, and returns the number of changes.
func beside(t *testing.T, f *fleet, id string, writers []write, run func()) int64 {
	t.Helper()
	ctx, cancel := context.WithCancel(admission.Unlimited(t.Context()))
	var made atomic.Int64
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() {
			for ctx.Err() == nil {
				if err := w(ctx, f, id); err == nil {
					made.Add(1)
				} else if ctx.Err() == nil && problem.From(err).Code == problem.Internal {
					t.Errorf("a writer got %v", err)
				}
			}
		})
	}
	time.Sleep(10*time.Millisecond + rand.N(20*time.Millisecond))
	run()
	cancel()
	group.Wait()
	return made.Load()
}

// halted reports whether the audit trail has a halt of the rollout by a person, or by the guard.
func halted(t *testing.T, f *fleet, id, by string) bool {
	t.Helper()
	page := expect.Value(audit.NewLog(f.db).List(t.Context(), audit.Platform, audit.Filter{}, "", 100))(t)
	return slices.ContainsFunc(page.Items, func(e audit.Event) bool {
		return e.EventName == "RolloutHalted" && e.Resource.ID == id && e.Actor.UserID == by
	})
}

func TestMove_HaltBesideEightWriters_IsNeverRefused(t *testing.T) {
	person, byGuard := as("hanna"), origin
	byGuard.Actor = audit.Actor{Issuer: rollout.Guard.Issuer, UserID: rollout.Guard.UserID}
	for _, c := range []struct {
		who     string
		from    audit.Origin
		judged  int64
		writers []write
	}{
		{"a person", person, 0, []write{changePolicy, changePolicy, approve, approve, promote, promote, resume, resume}},
		// A change to the policy may prevent the guard's halt, and so may a resumption, which also changes it.
		{"the guard", byGuard, 1, []write{approve, approve, approve, approve, approve, approve, promote, promote}},
	} {
		t.Run(c.who, func(t *testing.T) {
			storesUnderLoad(t, func(t *testing.T, api dynamo.API) {
				var refused int
				var made int64
				var longest time.Duration
				for range haltRounds() {
					f, id := startJudged(t, api)
					made += beside(t, f, id, c.writers, func() {
						ctx, cancel := context.WithTimeout(admission.Unlimited(t.Context()), callTime)
						defer cancel()
						began := time.Now()
						if _, err := f.rollouts.Move(ctx, c.from, id, rollout.Move{Status: rollout.Halted, Judged: c.judged}, input.Preconditions{}); err != nil {
							t.Errorf("the halt was refused: %v", err)
							refused++
						}
						longest = max(longest, time.Since(began))
					})
					expect.That(t, halted(t, f, id, c.from.Actor.UserID),
						"the halt was acknowledged, but is not in the audit trail")
				}
				t.Logf("%d of %d halts refused beside %d writers, who made %d changes; the longest halt took %s",
					refused, haltRounds(), len(c.writers), made, longest.Round(time.Millisecond))
				expect.That(t, made != 0, "the writers changed nothing")
			})
		})
	}
}

// A holdingStore delays the next transaction until it is released.
type holdingStore struct {
	dynamo.API
	hold    atomic.Bool
	arrived chan struct{}
	letGo   chan struct{}
}

func (s *holdingStore) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if s.hold.CompareAndSwap(true, false) {
		close(s.arrived)
		<-s.letGo
	}
	return s.API.TransactWriteItems(ctx, in, o...)
}

func TestMove_InFlightWhenTheHaltIsAcknowledged_NeverTakesEffect(t *testing.T) {
	for name, m := range map[string]rollout.Move{
		"a promotion":               {StagedPercent: new(10)},
		"a promotion by the guard":  {StagedPercent: new(10)},
		"a promotion to completion": {StagedPercent: new(10), Status: rollout.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			s := &holdingStore{API: dynamotest.Embedded(t), arrived: make(chan struct{}), letGo: make(chan struct{})}
			f, id := startJudged(t, s)
			ctx := admission.Unlimited(t.Context())
			expect.OK(t, f.rollouts.Approve(ctx, as("anna"), id, 10, input.Preconditions{}))
			when := input.Preconditions{}
			if name == "a promotion by the guard" {
				when = input.Matching(input.Revision(f.get(t, id).Revision))
			}
			s.hold.Store(true)
			refused := make(chan error)
			go func() {
				_, err := f.rollouts.Move(ctx, as("petra"), id, m, when)
				refused <- err
			}()
			<-s.arrived
			f.move(t, id, 0, rollout.Halted)
			close(s.letGo)
			if err := <-refused; !problem.Has(err, problem.InvalidStateTransition) && !problem.Has(err, problem.PreconditionFailed) {
				t.Errorf("got %v", err)
			}
			if r := f.get(t, id); r.Status != rollout.Halted || r.StagedPercent != 1 || r.CompletedAt != nil {
				t.Errorf("after the halt the rollout is %s at %d percent", r.Status, r.StagedPercent)
			}
			f.carries(t, id)
		})
	}
}

func TestMove_GuardHaltsByAPolicyThatWasReplaced_IsRefused(t *testing.T) {
	f, id := startJudged(t, dynamotest.Embedded(t))
	ctx := admission.Unlimited(t.Context())
	byGuard := rollout.Move{Status: rollout.Halted, Judged: 1}
	advise := policy(10, 50, 100)
	advise.Mode = guard.Advise
	expect.OK(t, f.rollouts.SetPolicy(ctx, as("paul"), id, advise, input.Preconditions{}))
	if _, err := f.try(t, id, byGuard); !problem.Has(err, problem.PreconditionFailed) || f.get(t, id).Status != rollout.Active {
		t.Errorf("after somebody chose advise: %v, %s", err, f.get(t, id).Status)
	}
	f.move(t, id, 0, rollout.Completed)
	if _, err := f.try(t, id, rollout.Move{Status: rollout.Halted, Judged: 2}); !problem.Has(err, problem.PreconditionFailed) || f.get(t, id).Status != rollout.Completed {
		t.Errorf("after somebody completed it: %v, %s", err, f.get(t, id).Status)
	}
}

func TestMove_HaltWithAnOldEntityTag_IsRefused(t *testing.T) {
	f, id := startJudged(t, dynamotest.Embedded(t))
	expect.OK(t, f.rollouts.Approve(admission.Unlimited(t.Context()), as("anna"), id, 10, input.Preconditions{}))
	_, err := f.rollouts.Move(admission.Unlimited(t.Context()), as("hanna"), id, rollout.Move{Status: rollout.Halted}, input.Matching(`"1"`))
	expect.That(t, problem.Has(err, problem.PreconditionFailed), "got %v", err)
}

func TestMove_HaltThatCannotBeWrittenInTime_SaysSo(t *testing.T) {
	s := &slowStore{API: dynamotest.Embedded(t)}
	f, id := startJudged(t, s)
	s.busy.Store(true)
	ctx, cancel := context.WithCancel(admission.Unlimited(t.Context()))
	defer cancel()
	s.third = cancel
	_, err := f.rollouts.Move(ctx, as("hanna"), id, rollout.Move{Status: rollout.Halted}, input.Preconditions{})
	expect.That(t, problem.Has(err, problem.Timeout) && !errors.Is(err, context.Canceled), "got %v", err)
	expect.That(t, s.collided.Load() == 3, "the halt was tried %d times", s.collided.Load())
}
