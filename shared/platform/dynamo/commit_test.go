package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
)

type thing struct {
	ID       string `json:"factoryId"`
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
}

func put(name string, v thing, when dynamo.Condition) dynamo.TransactItem {
	return dynamo.TransactPut(name, dynamo.Factories, v, when)
}

func get(t *testing.T, db *dynamo.DB, id string) thing {
	t.Helper()
	var v thing
	if _, err := db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// each runs a test on every store, with its own ids.
func each(t *testing.T, test func(t *testing.T, db *dynamo.DB, id string)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		test(t, dynamo.Open(client, time.Now), uuid.NewString())
	})
}

func TestCommit_WritesAllPartsOrNone(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		a, b := id+"-a", id+"-b"
		if err := db.Commit(admission.Unlimited(t.Context()), put("a", thing{a, "A", 1}, dynamo.Absent("factoryId")), put("b", thing{b, "B", 1}, dynamo.Absent("factoryId"))); err != nil {
			t.Fatal(err)
		}
		err := db.Commit(admission.Unlimited(t.Context()),
			put("a", thing{a, "A2", 2}, dynamo.AtRevision("factoryId", 1)),
			put("b", thing{b, "B2", 2}, dynamo.AtRevision("factoryId", 7)))
		refusal, ok := errors.AsType[*dynamo.ConditionError](err)
		if !ok || !slices.Equal(refusal.Parts, []string{"b"}) || !dynamo.Refused(err, "b") || dynamo.Refused(err, "a") {
			t.Fatalf("got %v, want a refusal of only b", err)
		}
		if got, want := get(t, db, a), (thing{a, "A", 1}); got != want {
			t.Errorf("a is %v, want %v", got, want)
		}
		if got, want := get(t, db, b), (thing{b, "B", 1}); got != want {
			t.Errorf("b is %v, want %v", got, want)
		}
	})
}

func TestCommit_FailedConditions_AreNamedWithoutOthers(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		err := db.Commit(admission.Unlimited(t.Context()),
			put("first", thing{id + "-1", "x", 1}, dynamo.AtRevision("factoryId", 1)),
			put("second", thing{id + "-2", "x", 1}, dynamo.Absent("factoryId")),
			put("third", thing{id + "-3", "x", 1}, dynamo.AtRevision("factoryId", 3)))
		refusal, ok := errors.AsType[*dynamo.ConditionError](err)
		if !ok || !slices.Equal(refusal.Parts, []string{"first", "third"}) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestUpdatePart_ChangesNamedAttributesOnly(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		if err := db.Commit(admission.Unlimited(t.Context()), put("a", thing{id, "A", 1}, dynamo.Condition{})); err != nil {
			t.Fatal(err)
		}
		err := db.Commit(admission.Unlimited(t.Context()), dynamo.TransactUpdate("a", dynamo.Factories, dynamo.Key{"factoryId": id},
			"SET #revision = :next", map[string]any{":next": 2}, dynamo.AtRevision("factoryId", 1)))
		if got, want := get(t, db, id), (thing{id, "A", 2}); err != nil || got != want {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	})
}

func TestGet_NoSuchItem_DoesNotChangeTheValue(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		v := thing{Name: "before"}
		found, err := db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &v)
		if found || err != nil || v.Name != "before" {
			t.Fatalf("got %v, %v, %v", found, err, v)
		}
	})
}

// TestDecide_ManyAtOnce_EachCountsOnce runs many increments in parallel. The final count must
// contain every increment that succeeded, and no other.
func TestDecide_ManyAtOnce_EachCountsOnce(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		var done, conflicts atomic.Int64
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				err := dynamo.Decide(t.Context(), func() error {
					var v thing
					if _, err := db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &v); err != nil {
						return err
					}
					return db.Commit(admission.Unlimited(t.Context()), put("a", thing{id, "A", v.Revision + 1}, dynamo.AtRevision("factoryId", v.Revision)))
				})
				switch {
				case err == nil:
					done.Add(1)
				case problem.Has(err, problem.Conflict):
					conflicts.Add(1)
				default:
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if got := get(t, db, id).Revision; got != done.Load() || done.Load()+conflicts.Load() != 40 || got == 0 {
			t.Fatalf("revision %d after %d successes and %d conflicts", got, done.Load(), conflicts.Load())
		}
	})
}

// A faultyClient returns errors that no local store returns. When they are used up, it calls
// the real client.
type faultyClient struct {
	dynamo.API
	faults []error
	calls  int
	tokens map[string]bool
}

func (f *faultyClient) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	f.calls++
	f.tokens[aws.ToString(in.ClientRequestToken)] = true
	if len(f.faults) > 0 {
		err := f.faults[0]
		f.faults = f.faults[1:]
		return nil, err
	}
	return f.API.TransactWriteItems(ctx, in, o...)
}

// cancelled is the error of a transaction that failed for the given reasons, part by part.
func cancelled(codes ...string) error {
	e := &types.TransactionCanceledException{}
	for _, c := range codes {
		e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(c)})
	}
	return fmt.Errorf("operation error DynamoDB: %w", e)
}

func TestCommit_Collision_IsRetriedWithTheSameToken(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := &faultyClient{API: client, tokens: map[string]bool{}, faults: []error{
			cancelled("TransactionConflict"), cancelled("ThrottlingError"), cancelled("ProvisionedThroughputExceeded")}}
		db, id := dynamo.Open(f, time.Now), uuid.NewString()
		err := db.Commit(admission.Unlimited(t.Context()), put("a", thing{id, "A", 1}, dynamo.Absent("factoryId")))
		if err != nil || f.calls != 4 || len(f.tokens) != 1 || f.tokens[""] {
			t.Fatalf("got %v after %d calls with tokens %v", err, f.calls, f.tokens)
		}
		if got := get(t, db, id); got.Name != "A" {
			t.Fatalf("stored %v", got)
		}
	})
}

func TestCommit_KeepsColliding_IsUnavailableWithRetryAfter(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := &faultyClient{API: client, tokens: map[string]bool{}}
		for range 100 {
			f.faults = append(f.faults, cancelled("None", "TransactionConflict"))
		}
		db, id := dynamo.Open(f, time.Now), uuid.NewString()
		err := db.Commit(admission.Unlimited(t.Context()), put("a", thing{id, "A", 1}, dynamo.Absent("factoryId")))
		if !problem.Has(err, problem.Unavailable) || problem.From(err).RetryAfter <= 0 || f.calls != 8 {
			t.Fatalf("got %v after %d calls", err, f.calls)
		}
		if got := get(t, db, id); got != (thing{}) {
			t.Fatalf("stored %v", got)
		}
	})
}

func TestCommit_FailedConditionAndCollision_IsARefusal(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := &faultyClient{API: client, tokens: map[string]bool{}, faults: []error{cancelled("TransactionConflict", "ConditionalCheckFailed")}}
		err := dynamo.Open(f, time.Now).Commit(admission.Unlimited(t.Context()),
			put("a", thing{uuid.NewString(), "A", 1}, dynamo.Condition{}), put("b", thing{uuid.NewString(), "B", 1}, dynamo.Condition{}))
		if !dynamo.Refused(err, "b") || f.calls != 1 {
			t.Fatalf("got %v after %d calls", err, f.calls)
		}
	})
}

func TestCommit_InvalidRequest_IsAnInternalError(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		f := &faultyClient{API: client, tokens: map[string]bool{}, faults: []error{cancelled("ValidationError")}}
		err := dynamo.Open(f, time.Now).Commit(admission.Unlimited(t.Context()), put("a", thing{uuid.NewString(), "A", 1}, dynamo.Condition{}))
		if err == nil || problem.From(err).Code != problem.Internal {
			t.Fatalf("got %v", err)
		}
	})
}

func TestCommit_CallNotAdmitted_NothingIsWritten(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		refusal := problem.New(problem.RateLimited, "Wait.")
		ctx := admission.Ask(func() (http.Header, error) { return nil, refusal }).Context(t.Context())
		err := db.Commit(ctx, put("a", thing{id, "A", 1}, dynamo.Condition{}))
		if !errors.Is(err, refusal) {
			t.Fatalf("got %v", err)
		}
		if got := get(t, db, id); got != (thing{}) {
			t.Fatalf("stored %v", got)
		}
	})
}

func TestCommit_ContextWithoutAdmission_IsRefused(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		err := db.Commit(t.Context(), put("a", thing{id, "A", 1}, dynamo.Condition{}))
		if err == nil || problem.From(err).Code != problem.Internal {
			t.Fatalf("got %v", err)
		}
		if got := get(t, db, id); got != (thing{}) {
			t.Fatalf("stored %v", got)
		}
	})
}

func TestCommit_StoreIsDown_IsUnavailable(t *testing.T) {
	gone := dynamodb.New(dynamodb.Options{Region: "eu-central-1", BaseEndpoint: aws.String("http://127.0.0.1:1"), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "k", SecretAccessKey: "s"}, nil
		})})
	t.Setenv(dynamo.Factories.EnvName(), "wavegate-factories")
	db := dynamo.Open(gone, time.Now)
	err := db.Commit(admission.Unlimited(t.Context()), put("a", thing{"x", "A", 1}, dynamo.Condition{}))
	if !problem.Has(err, problem.Unavailable) || problem.From(err).RetryAfter <= 0 {
		t.Errorf("commit: got %v", err)
	}
	if detail := problem.From(err).Detail; !strings.Contains(detail, "A change may or may not have been made") {
		t.Errorf("a commit that may have been applied says %q", detail)
	}
	_, err = db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": "x"}, &thing{})
	if !problem.Has(err, problem.Unavailable) || strings.Contains(problem.From(err).Detail, "change") {
		t.Errorf("get: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Commit(admission.Unlimited(ctx), put("a", thing{"x", "A", 1}, dynamo.Condition{})); !problem.Has(err, problem.Timeout) {
		t.Errorf("out of time: got %v", err)
	}
}

func TestTables_NamesAreGivenByTheEnvironment(t *testing.T) {
	t.Setenv("TABLE_RATE_COUNTERS", "another")
	if got := dynamo.RateCounters.Name(); got != "another" {
		t.Fatalf("got %q", got)
	}
	if dynamo.TableOf(dynamo.Audit).Partition != "stream" {
		t.Fatal("the definition belongs to another table than audit")
	}
}

func TestCommit_FailedConditionAndCollision_SaysThatOtherConditionsAreOpen(t *testing.T) {
	f := &faultyClient{API: dynamotest.Embedded(t), tokens: map[string]bool{}, faults: []error{
		cancelled("TransactionConflict", "ConditionalCheckFailed"), cancelled("None", "ConditionalCheckFailed")}}
	for _, want := range []bool{true, false} {
		err := dynamo.Open(f, time.Now).Commit(admission.Unlimited(t.Context()),
			put("a", thing{uuid.NewString(), "A", 1}, dynamo.Condition{}), put("b", thing{uuid.NewString(), "B", 1}, dynamo.Condition{}))
		if !dynamo.Refused(err, "b") || dynamo.Refused(err, "a") || dynamo.Collided(err) != want {
			t.Errorf("got %v, collided %v, want %v", err, dynamo.Collided(err), want)
		}
	}
}

// TestInsist_LosesMoreRacesThanDecideTakes_IsMade has more collisions and failed conditions than Commit and Decide
// survive.
func TestInsist_LosesMoreRacesThanDecideTakes_IsMade(t *testing.T) {
	f := &faultyClient{API: dynamotest.Embedded(t), tokens: map[string]bool{}}
	for range 20 {
		f.faults = append(f.faults, cancelled("TransactionConflict"), cancelled("ConditionalCheckFailed"))
	}
	db, id, decided := dynamo.Open(f, time.Now), uuid.NewString(), 0
	err := dynamo.Retry(t.Context(), func() error {
		decided++
		return db.CommitOnce(admission.Unlimited(t.Context()), put("a", thing{id, "A", 1}, dynamo.Absent("factoryId")))
	})
	if err != nil || decided != 41 || len(f.tokens) != 41 || get(t, db, id).Name != "A" {
		t.Fatalf("got %v after %d decisions with %d tokens; stored %v", err, decided, len(f.tokens), get(t, db, id))
	}
}

func TestInsist_AnotherError_IsReturnedAtOnce(t *testing.T) {
	refusal, decided := problem.New(problem.PreconditionFailed, "No."), 0
	err := dynamo.Retry(t.Context(), func() error { decided++; return refusal })
	if !errors.Is(err, refusal) || decided != 1 {
		t.Errorf("got %v after %d decisions", err, decided)
	}
}

func TestInsist_TimeIsOver_SaysThatNothingWasChanged(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := dynamo.Retry(ctx, func() error { return &dynamo.ConditionError{Parts: []string{"a"}} })
	if !problem.Has(err, problem.Timeout) || !strings.Contains(problem.From(err).Detail, "Nothing was changed") || dynamo.Refused(err, "a") {
		t.Errorf("got %v", err)
	}
}
