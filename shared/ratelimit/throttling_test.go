package ratelimit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/testing/expect"
)

// TestApply_ItemThrottled_IsErrThrottled_TableThrottled_IsAFailure: throttling of the table or the account
// is not caused by the caller.
func TestApply_ItemThrottled_IsErrThrottled_TableThrottled_IsAFailure(t *testing.T) {
	because := func(reasons ...string) (list []types.ThrottlingReason) {
		for _, r := range reasons {
			list = append(list, types.ThrottlingReason{Reason: aws.String(r)})
		}
		return list
	}
	const ofItem, ofAccount = "TableWriteKeyRangeThroughputExceeded", "TableWriteAccountLimitExceeded"
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"the item, no reason said": {&types.ProvisionedThroughputExceededException{}, true},
		"the item":                 {&types.ThrottlingException{ThrottlingReasons: because(ofItem)}, true},
		"the item among others":    {&types.ProvisionedThroughputExceededException{ThrottlingReasons: because(ofAccount, ofItem)}, true},
		"the table":                {&types.ThrottlingException{ThrottlingReasons: because("TableWriteMaxOnDemandThroughputExceeded")}, false},
		"the account":              {&types.RequestLimitExceeded{}, false},
		"a failure":                {&types.InternalServerError{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scriptedAPI{errs: []error{c.err}}
			_, _, err := (counters{api: s, rules: slotLog}).apply(t.Context(), "k", count{})
			expect.That(t, err != nil && errors.Is(err, errThrottled) == c.want, "%v", err)
		})
	}
}

// throttlingStore takes a limited number of writes to each item in a second, as DynamoDB does.
type throttlingStore struct {
	*model
	now    func() time.Time
	second int64
	used   map[string]int
}

const writesPerSecond = 1000

func (n *throttlingStore) apply(ctx context.Context, key string, w write) (item, bool, error) {
	if s := n.now().Unix(); s != n.second {
		n.second, n.used = s, map[string]int{}
	}
	if n.used[key]++; n.used[key] > writesPerSecond {
		return item{}, false, errThrottled
	}
	return n.model.apply(ctx, key, w)
}

// TestThrottling_OneCallerManyContainers_StaysUnderTheLimit simulates a caller with so many
// parallel calls that DynamoDB throttles their item. A second caller makes few calls.
func TestThrottling_OneCallerManyContainers_StaysUnderTheLimit(t *testing.T) {
	now := epoch
	clock := func() time.Time { return now }
	shared := &throttlingStore{model: newModel(slotLog), now: clock}
	containers := make([]*Limiter, 1000)
	for i := range containers {
		containers[i] = New(Config{Limits: standard, Table: "-", Clock: clock})
		containers[i].store = shared
	}
	throttled, unchecked, admitted, calls, touched := 0, 0, 0, 0, 0
	for range 120 { // a minute in half seconds: nothing expires within it
		for i, l := range containers {
			for range 3 {
				calls++
				d := l.Admit(t.Context(), Caller{User: "greedy"}, Ordinary)
				if d.Unchecked != nil {
					unchecked++
				}
				if d.Outcome == Admitted {
					admitted++
				}
			}
			if i%100 != 0 || now.UnixMilli()%2000 != 0 {
				continue
			}
			if d := l.Admit(t.Context(), Caller{User: "honest"}, Ordinary); d.Outcome != Admitted || d.Unchecked != nil {
				touched++
			}
		}
		if shared.used["user#"+digest("greedy")] > writesPerSecond {
			throttled++
		}
		now = now.Add(500 * time.Millisecond)
	}
	t.Logf("%d of %d calls were admitted; the item was throttled in %d half seconds", admitted, calls, throttled)
	expect.That(t, admitted <= 600 && throttled != 0,
		"of a limit of 600, %d calls were admitted, and the item was throttled %d times", admitted, throttled)
	expect.Equal(t, unchecked, 0, "the store did not fail; calls that are not counted are")
	expect.Equal(t, touched, 0, "calls of another caller that were refused or not counted are")
}

func TestThrottling_RejectsTheCallerForASecond(t *testing.T) {
	s := newTestLimiter(small)
	s.model.fail = func(key string, _ write) error {
		if key == orders[0] {
			return errThrottled
		}
		return nil
	}
	d := s.ask(t, ann, Ordinary)
	if d.Outcome != Rejected || d.Unchecked != nil || d.RetryAfter < time.Second || s.used(orders[1]) != 0 {
		t.Fatalf("got %+v; the organization has used %d", d, s.used(orders[1]))
	}
	expect.Equal(t, answerOf(s.ask(t, ann, Ordinary)), answer{Rejected, "user", 0}, "within the second, the answer")
	s.model.fail = nil
	s.now = s.now.Add(d.RetryAfter)
	expect.Equal(t, answerOf(s.ask(t, ann, Ordinary)), answer{Admitted, "", 2}, "after the wait, the answer")
}
