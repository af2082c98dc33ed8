package ratelimit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
)

// A fleet is many containers that call a real store at the same time. Each has its own Limiter
// and its own clock. The clocks stand still during the calls and move on between them, so the
// admissions in 60 s are known exactly.
type fleet struct {
	t          *rapid.T
	client     *dynamodb.Client
	limits     Limits
	now        time.Time
	spread     time.Duration
	containers []*Limiter
	caller     Caller
	requests   int
	admitted   []time.Time // of the caller, in order
	rejected   int
}

func newFleet(t *rapid.T, client *dynamodb.Client, limits Limits) *fleet {
	f := &fleet{t: t, client: client, limits: limits, now: epoch, caller: Caller{User: uuid.NewString()}}
	f.spread = rapid.SampledFrom([]time.Duration{0, 0, 100 * time.Millisecond, time.Second, 5 * time.Second}).Draw(t, "spread")
	for range rapid.IntRange(2, 16).Draw(t, "containers") {
		skew := time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "skew")) * f.spread / 1000
		f.containers = append(f.containers, New(Config{
			Store: client, Limits: limits, Deadline: time.Minute,
			Clock: func() time.Time { return f.now.Add(skew) },
		}))
	}
	return f
}

func (f *fleet) ask(n int) []Result {
	decisions := make([]Result, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for _, l := range f.containers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				decisions[i] = l.Admit(context.Background(), f.caller, Ordinary)
			}
		})
	}
	group.Wait()
	f.requests += n
	for _, d := range decisions {
		if d.Unchecked != nil {
			f.t.Fatalf("the store failed: %v", d.Unchecked)
		}
	}
	return decisions
}

// round calls ask and checks the properties of the answers.
func (f *fleet) round(n int) []Result {
	decisions := f.ask(n)
	for _, d := range decisions {
		if d.Outcome == Admitted {
			f.admitted = append(f.admitted, f.now)
		}
	}
	if got := f.within(window - 2*f.spread); got > f.limits.User {
		f.t.Fatalf("property 1 or 7: %d admitted in 60 s, the limit is %d, the clocks differ by %v", got, f.limits.User, f.spread)
	}
	for _, d := range decisions {
		if d.Outcome != Rejected {
			continue
		}
		f.rejected++
		if got := f.within(window + slotLog.slot + 2*f.spread); got < f.limits.User {
			f.t.Fatalf("property 2: rejected with %d of %d admitted", got, f.limits.User)
		}
		if d.RetryAfter < time.Second || d.RetryAfter > 61*time.Second || d.RetryAfter%time.Second != 0 {
			f.t.Fatalf("property 6: Retry-After is %v", d.RetryAfter)
		}
	}
	return decisions
}

// within is how many requests were admitted in the time up to now, now included.
func (f *fleet) within(d time.Duration) int {
	at, _ := slices.BinarySearchFunc(f.admitted, f.now.Add(-d), func(a, b time.Time) int {
		if a.After(b) {
			return 1
		}
		return -1
	})
	return len(f.admitted) - at
}

func (f *fleet) stored(key string) item {
	out, err := f.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String(dynamo.RateCounters.Name()), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{attrSubject: &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	it, err := slotLog.decode(out.Item)
	if err != nil {
		f.t.Fatal(err)
	}
	sum := 0
	for _, n := range it.slots {
		sum += n
	}
	if sum != it.total {
		f.t.Fatalf("property 4: the total is %d, the slots hold %d", it.total, sum)
	}
	if n := bytesOf(out.Item); n > 1024 {
		f.t.Fatalf("property 8: the item has %d bytes", n)
	}
	return it
}

// bytesOf is an item's size by DynamoDB's rules.
func bytesOf(attributes map[string]types.AttributeValue) int {
	sum := 0
	for name, a := range attributes {
		switch a := a.(type) {
		case *types.AttributeValueMemberS:
			sum += len(name) + len(a.Value)
		case *types.AttributeValueMemberN:
			sum += len(name) + (len(a.Value)+1)/2 + 1
		}
	}
	return sum
}

// TestProperties_OnTheStores checks the properties with many goroutines on every store. With
// rapid's 100 runs it makes about 16,000 requests on the embedded store, and 9,000 on the
// reference if there is one.
func TestProperties_OnTheStores(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		size := map[bool]int{true: 60, false: 150}[t.Name() == "TestProperties_OnTheStores/reference"]
		requests, rejected := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			limit := rapid.IntRange(3, size/4).Draw(t, "limit")
			f := newFleet(t, client, Limits{User: limit, Organization: highest, CopilotUser: limit, CopilotOrganization: highest})
			for f.requests < size {
				gap := rapid.SampledFrom([]int{0, 1, 100, 499, 500, 2000, 20_000, 59_400, 60_000, 60_600, 2_048_000}).Draw(t, "gap")
				f.now = f.now.Add(time.Duration(gap) * time.Millisecond)
				f.round(rapid.IntRange(1, min(2*limit, size)).Draw(t, "burst"))
				f.stored(userKey(f.caller.User))
			}
			if f.spread == 0 {
				f.waits()
			}
			requests += f.requests
			rejected += f.rejected
		})
		t.Logf("%d requests on the store, %d rejected", requests, rejected)
	})
}

// waits checks the third property: a client that reached its limit and waits is admitted.
func (f *fleet) waits() {
	for _, d := range f.round(f.limits.User + 1) {
		if d.Outcome != Rejected {
			continue
		}
		f.now = f.now.Add(d.RetryAfter)
		if again := f.round(1)[0]; again.Outcome != Admitted {
			f.t.Fatalf("property 3: rejected after waiting %v", d.RetryAfter)
		}
		return
	}
	f.t.Fatalf("property 1: %d parallel requests were admitted", f.limits.User+1)
}

// TestProperties_PeopleOfAnOrganization checks that a request that the organization rejects is
// given back to the user. After any number of parallel calls, the user's count is exactly what
// was admitted.
func TestProperties_PeopleOfAnOrganization(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		size := map[bool]int{true: 20, false: 48}[t.Name() == "TestProperties_PeopleOfAnOrganization/reference"]
		requests, givenBack := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			organization := rapid.IntRange(2, size/4).Draw(t, "organization")
			f := newFleet(t, client, Limits{User: highest, Organization: organization, CopilotUser: highest, CopilotOrganization: highest})
			name := uuid.NewString()
			admitted := map[string]int{}
			total := 0
			for range 4 {
				f.caller = Caller{User: uuid.NewString(), Organization: name}
				for _, d := range f.ask(size / 4) {
					requests++
					if d.Outcome == Admitted {
						admitted[f.caller.User]++
						total++
					} else if d.Writes > 1 {
						givenBack++
					}
				}
				if it := f.stored(userKey(f.caller.User)); it.total != admitted[f.caller.User] {
					t.Fatalf("property 5: the user's count is %d, %d were admitted", it.total, admitted[f.caller.User])
				}
			}
			if it := f.stored(organizationKey(name)); it.total != total || total > organization {
				t.Fatalf("property 1: the organization's count is %d, %d were admitted, the limit is %d", it.total, total, organization)
			}
		})
		t.Logf("%d requests on the store, %d given back", requests, givenBack)
		if givenBack == 0 {
			t.Error("nothing was ever given back")
		}
	})
}
