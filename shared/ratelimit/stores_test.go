package ratelimit

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestStores_AnswerLikeTheModel sends the same writes to a store and to the model, and compares
// every answer. Some of the writes have conditions that fail. So what the simulation proves for
// the model also holds for the expressions.
func TestStores_AnswerLikeTheModel(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		for seed := range uint64(expect.Long(8, 20)) {
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			pick := pick(random.IntN)
			db := dynamo.Open(client, time.Now)
			holder := Target{Kind: Organizations, ID: uuid.NewString()}
			real := counters{api: client, table: dynamo.RateCounters.Name(), rules: slotLog}
			m := newModel(slotLog)
			now := epoch
			limit := pick.between(1, 30)
			for i := range 150 {
				now = now.Add(time.Duration(pick([]int{300, 2000, 20_000, 80_000, 2_100_000}[pick(5)])) * time.Millisecond)
				if pick.chance(10) {
					setOverride(t, db, m, holder, now, pick)
				}
				it := m.read(m.items[holder.key()])
				for _, w := range writes(it, now, limit, pick) {
					want, wantApplied, _ := m.apply(t.Context(), holder.key(), w)
					got, applied, err := real.apply(t.Context(), holder.key(), w)
					expect.Must(t, err == nil, "step %d: %+v: %v", i, w, err)
					if diff := cmp.Diff(want, got, cmp.AllowUnexported(item{}, counterOverride{})); applied != wantApplied || diff != "" {
						t.Fatalf("step %d: %+v of %+v: applied %v, want %v:\n%s", i, w, it, applied, wantApplied, diff)
					}
					if _, back := w.(giveBack); applied && !back {
						expect.Equal(t, ttlOf(t, client, holder.key()), m.items[holder.key()].ttl, "step %d: the time to live is", i)
					}
				}
			}
		}
	})
}

// ttlOf is the time at which a stored item may be deleted.
func ttlOf(t *testing.T, client *dynamodb.Client, key string) (seconds int64) {
	t.Helper()
	out := expect.Value(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(dynamo.RateCounters.Name()),
		Key: map[string]types.AttributeValue{attrSubject: &types.AttributeValueMemberS{Value: key}}}))(t)
	expect.OK(t, attributevalue.Unmarshal(out.Item[attrTTL], &seconds))
	return seconds
}

// writes makes the write that is due, and some that are stale or wrong.
func writes(it item, now time.Time, limit int, pick pick) []write {
	at := slotLog.at(now)
	c := count{at: at, now: now, limit: limit}
	list := []write{c}
	if pick.chance(30) {
		list = append(list, count{at: at - slot(pick(200)), now: now.Add(-time.Minute), limit: pick(40)})
	}
	if it.base != 0 && pick.chance(60) {
		r := slotLog.roll(it, now, limit, pick.chance(20))
		if r.only && r.pulled == 0 {
			r.only = false
		}
		stale := r
		stale.override = []*counterOverride{nil, {Limit: pick(30)}}[pick(2)]
		list = append([]write{stale, r}, list...)
	}
	for s, n := range it.slots {
		if pick.chance(10) {
			list = append(list, giveBack{at: s, last: pick.chance(50)}, giveBack{at: s, last: n == 1})
		}
	}
	return list
}

func setOverride(t *testing.T, db *dynamo.DB, m *model, target Target, now time.Time, pick pick) {
	t.Helper()
	var spec OverrideSpec
	if pick.chance(70) {
		spec.Limit = new(pick(30))
		if pick.chance(60) {
			spec.ExpiresAt = new(now.Add(time.Duration(pick(100_000)) * time.Millisecond).UTC())
		}
	}
	expect.OK(t, db.Commit(admission.Unlimited(t.Context()), counterPart("counter", target.key(), spec.Limit, spec.ExpiresAt, now, true)))
	if spec.Limit == nil {
		m.override(target.key(), now, nil)
		return
	}
	o := &counterOverride{Limit: *spec.Limit}
	if spec.ExpiresAt != nil {
		o.Ends = *spec.ExpiresAt
	}
	m.override(target.key(), now, o)
}
