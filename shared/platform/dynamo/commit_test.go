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
	"wavegate/shared/testing/expect"
)

type thing struct {
	ID       string `json:"factoryId"`
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
}

// call is the context of a call that may write.
func call(t testing.TB) context.Context { return admission.Unlimited(t.Context()) }

func put(name string, v thing, when dynamo.Condition) dynamo.TransactItem {
	return dynamo.TransactPut(name, dynamo.Factories, nil, v, when)
}

func get(t *testing.T, db *dynamo.DB, id string) thing {
	t.Helper()
	var v thing
	expect.Value(db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &v))(t)
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
		a, b, absent := id+"-a", id+"-b", dynamo.Absent("factoryId")
		expect.OK(t, db.Commit(call(t), put("a", thing{a, "A", 1}, absent), put("b", thing{b, "B", 1}, absent)))
		err := db.Commit(call(t),
			put("a", thing{a, "A2", 2}, dynamo.AtRevision("factoryId", 1)),
			put("b", thing{b, "B2", 2}, dynamo.AtRevision("factoryId", 7)))
		expect.Equal(t, partsOf(err), []string{"b"}, "%v: the refused parts", err)
		expect.Equal(t, get(t, db, a), thing{a, "A", 1}, "a")
		expect.Equal(t, get(t, db, b), thing{b, "B", 1}, "b")
	})
}

func TestCommit_FailedConditions_AreNamedWithoutOthers(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		err := db.Commit(call(t),
			put("first", thing{id + "-1", "x", 1}, dynamo.AtRevision("factoryId", 1)),
			put("second", thing{id + "-2", "x", 1}, dynamo.Absent("factoryId")),
			put("third", thing{id + "-3", "x", 1}, dynamo.AtRevision("factoryId", 3)))
		expect.Equal(t, partsOf(err), []string{"first", "third"}, "%v: the refused parts", err)
	})
}

// partsOf are the refused parts of a transaction.
func partsOf(err error) (refused []string) {
	if failed, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		for _, part := range failed.Parts {
			if dynamo.Refused(err, part) {
				refused = append(refused, part)
			}
		}
	}
	return refused
}

func TestUpdatePart_ChangesNamedAttributesOnly(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		expect.OK(t, db.Commit(call(t), put("a", thing{id, "A", 1}, dynamo.Condition{})))
		err := db.Commit(call(t), dynamo.TransactUpdate("a", dynamo.Factories, dynamo.Key{"factoryId": id},
			"SET #revision = :next", map[string]any{":next": 2}, dynamo.AtRevision("factoryId", 1)))
		got, want := get(t, db, id), (thing{id, "A", 2})
		expect.Must(t, err == nil && got == want, "got %v, %v, want %v", got, err, want)
	})
}

func TestGet_NoSuchItem_DoesNotChangeTheValue(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		v := thing{Name: "before"}
		found, err := db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &v)
		expect.Must(t, !found && err == nil && v.Name == "before", "got %v, %v, %v", found, err, v)
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
					return db.Commit(call(t), put("a", thing{id, "A", v.Revision + 1}, dynamo.AtRevision("factoryId", v.Revision)))
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

func (f *faultyClient) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
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

// faulty is a store that fails first, and then works.
func faulty(api dynamo.API, faults ...error) (*dynamo.DB, *faultyClient) {
	f := &faultyClient{API: api, tokens: map[string]bool{}, faults: faults}
	return dynamo.Open(f, time.Now), f
}

// TestCommit_CancelledByTheStore commits two parts. All tries have the same token.
func TestCommit_CancelledByTheStore(t *testing.T) {
	for name, c := range map[string]struct {
		faults   []error
		tries    int
		code     problem.Code // empty if it is made, or refused
		refused  []string
		collided bool
	}{
		"collisions are tried again": {
			[]error{cancelled("TransactionConflict"), cancelled("ThrottlingError"), cancelled("ProvisionedThroughputExceeded")}, 4, "", nil, false},
		"many collisions are UNAVAILABLE": {slices.Repeat([]error{cancelled("None", "TransactionConflict")}, 100), 8, problem.Unavailable, nil, false},
		"a failed condition is a refusal": {[]error{cancelled("None", "ConditionalCheckFailed")}, 1, "", []string{"b"}, false},
		"beside a collision, it says that other conditions are open": {
			[]error{cancelled("TransactionConflict", "ConditionalCheckFailed")}, 1, "", []string{"b"}, true},
		"an invalid request is INTERNAL": {[]error{cancelled("ValidationError")}, 1, problem.Internal, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
				id := uuid.NewString()
				db, f := faulty(client, c.faults...)
				err := db.Commit(call(t), put("a", thing{id, "A", 1}, dynamo.Absent("factoryId")), put("b", thing{id + "-b", "B", 1}, dynamo.Condition{}))
				expect.Equal(t, f.calls, c.tries, "%v: the number of tries is", err)
				expect.That(t, len(f.tokens) == 1 && !f.tokens[""], "the tokens are %v", f.tokens)
				if c.code != "" {
					expect.Equal(t, problem.From(err).Code, c.code, "%v is", err)
				}
				expect.Equal(t, problem.From(err).RetryAfter > 0, c.code == problem.Unavailable, "it says when to try again:")
				expect.Equal(t, partsOf(err), c.refused, "the refused parts")
				expect.Equal(t, dynamo.Collided(err), c.collided, "collided:")
				made := c.code == "" && c.refused == nil
				expect.Equal(t, err == nil, made, "%v: made", err)
				expect.Equal(t, get(t, db, id).Name == "A", made, "stored:")
			})
		})
	}
}

// TestWrites_CallNotAdmitted_NothingIsWritten: a context without a call is not admitted, either.
func TestWrites_CallNotAdmitted_NothingIsWritten(t *testing.T) {
	refusal := problem.New(problem.RateLimited, "Wait.")
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *dynamo.DB, id string) {
				ctx := admission.Ask(func() (http.Header, error) { return nil, refusal }).Context(t.Context())
				if err := write(ctx, db, thing{id, "A", 1}); !errors.Is(err, refusal) {
					t.Errorf("got %v", err)
				}
				err := write(t.Context(), db, thing{id, "A", 1})
				expect.That(t, err != nil && problem.From(err).Code == problem.Internal, "without a call: %v", err)
				expect.Equal(t, get(t, db, id), thing{}, "stored")
			})
		})
	}
}

func TestCommit_StoreIsDown_IsUnavailable(t *testing.T) {
	gone := dynamodb.New(dynamodb.Options{Region: "eu-central-1", BaseEndpoint: aws.String("http://127.0.0.1:1"), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "k", SecretAccessKey: "s"}, nil
		})})
	t.Setenv(dynamo.Factories.EnvName(), "wavegate-factories")
	db := dynamo.Open(gone, time.Now)
	err := db.Commit(call(t), put("a", thing{"x", "A", 1}, dynamo.Condition{}))
	expect.That(t, problem.Has(err, problem.Unavailable) && problem.From(err).RetryAfter > 0, "commit: got %v", err)
	if detail := problem.From(err).Detail; !strings.Contains(detail, "A change may or may not have been made") {
		t.Errorf("a commit that may have been applied says %q", detail)
	}
	_, err = db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": "x"}, &thing{})
	expect.That(t, problem.Has(err, problem.Unavailable) && !strings.Contains(problem.From(err).Detail, "change"),
		"get: got %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Commit(admission.Unlimited(ctx), put("a", thing{"x", "A", 1}, dynamo.Condition{})); !problem.Has(err, problem.Timeout) {
		t.Errorf("out of time: got %v", err)
	}
}

func TestTables_NamesAreGivenByTheEnvironment(t *testing.T) {
	t.Setenv("TABLE_RATE_COUNTERS", "another")
	got := dynamo.RateCounters.Name()
	expect.Must(t, got == "another", "got %q", got)
	expect.Equal(t, dynamo.TableOf(dynamo.Audit).Partition, "stream", "the definition belongs to another table than audit")
}

// TestInsist_LosesMoreRacesThanDecideTakes_IsMade has more collisions and failed conditions than Commit and Decide
// survive.
func TestInsist_LosesMoreRacesThanDecideTakes_IsMade(t *testing.T) {
	db, f := faulty(dynamotest.Embedded(t), slices.Repeat([]error{cancelled("TransactionConflict"), cancelled("ConditionalCheckFailed")}, 20)...)
	id, decided := uuid.NewString(), 0
	expect.OK(t, dynamo.Retry(t.Context(), func() error {
		decided++
		return db.CommitOnce(call(t), put("a", thing{id, "A", 1}, dynamo.Absent("factoryId")))
	}))
	expect.Equal(t, decided, 41, "the number of decisions is")
	expect.Equal(t, len(f.tokens), 41, "the number of tokens is")
	expect.Equal(t, get(t, db, id).Name, "A", "stored")
}

func TestInsist_AnotherError_IsReturnedAtOnce(t *testing.T) {
	refusal, decided := problem.New(problem.PreconditionFailed, "No."), 0
	err := dynamo.Retry(t.Context(), func() error { decided++; return refusal })
	expect.That(t, errors.Is(err, refusal) && decided == 1, "got %v after %d decisions", err, decided)
}

func TestInsist_TimeIsOver_SaysThatNothingWasChanged(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := dynamo.Retry(ctx, func() error { return &dynamo.ConditionError{Parts: []string{"a"}} })
	if !problem.Has(err, problem.Timeout) || !strings.Contains(problem.From(err).Detail, "Nothing was changed") || dynamo.Refused(err, "a") {
		t.Errorf("got %v", err)
	}
}
