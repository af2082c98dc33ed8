package ratelimit

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/interpreter/language"

	"wavegate/shared/testing/expect"
)

// fullItem has a count in every slot that an item can hold, and an override.
func fullItem(now time.Time) item {
	it := item{base: slotLog.at(now) - slotLog.fresh, slots: map[slot]int{}}
	it.override = &counterOverride{Limit: highest, Ends: now.Add(-time.Second)}
	for s := it.base; s <= it.base+slotLog.fresh; s++ {
		it.slots[s] = highest / int(slotLog.window)
		it.total += it.slots[s]
	}
	return it
}

var (
	placeholders = regexp.MustCompile(`[:#]\w+`)
	words        = regexp.MustCompile(`[A-Za-z_]\w*`)
	functions    = map[string]bool{"if_not_exists": true, "attribute_not_exists": true}
	keywords     = map[string]bool{"SET": true, "ADD": true, "REMOVE": true, "AND": true, "OR": true, "BETWEEN": true}
)

// TestExpressions_NameNoReservedWord checks every slot's name and every kind of write. The
// longest must also stay within DynamoDB's limits of 4 KB and 300 operators.
func TestExpressions_NameNoReservedWord(t *testing.T) {
	now := epoch
	roll := slotLog.roll(fullItem(now), now.Add(time.Minute+time.Second), 10, false)
	writes := []write{count{at: 1, now: now}, giveBack{at: 1}, giveBack{at: 1, last: true}, roll}
	for s := range slotLog.ring {
		writes = append(writes, giveBack{at: s})
	}
	for _, w := range writes {
		in := slotLog.input(w)
		for _, expression := range []string{aws.ToString(in.UpdateExpression), aws.ToString(in.ConditionExpression)} {
			operators := strings.Count(expression, " AND ") + strings.Count(expression, " = ") + strings.Count(expression, " OR ")
			expect.That(t, len(expression) <= 4096 && operators <= 300,
				"%d bytes are too long: %s", len(expression), expression)
			for _, word := range words.FindAllString(placeholders.ReplaceAllString(expression, ""), -1) {
				if !keywords[word] && !functions[word] && language.IsReservedWord(strings.ToUpper(word)) {
					t.Fatalf("%q is reserved: %s", word, expression)
				}
			}
		}
	}
}

func TestItem_AtFullActivity_StaysWithin1KB(t *testing.T) {
	it := fullItem(epoch)
	s := &stored{n: int64(it.total), b: int64(it.base), slots: map[string]int64{},
		override: true, lim: highest, until: forever, keep: forever / 1000, ttl: forever / 1000}
	for x, n := range it.slots {
		s.slots[slotLog.attribute(x)] = int64(n)
	}
	expect.Equal(t, len(s.slots), int(slotLog.fresh)+1, "the number of slots is")
	n := size(copilotKey(organizationKey("acme")), s)
	if t.Logf("%d bytes", n); n > 1024 {
		t.Error("the item is too large")
	}
}

func TestSlotNames_DecodeToTheirSlots(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		base := slot(random.Int64N(1 << 33))
		s := base + slot(random.Int64N(int64(slotLog.ring)))
		got := slotLog.slotOf(slotLog.attribute(s), base)
		expect.Must(t, got == s, "slot %d from base %d comes back as %d", s, base, got)
	}
}

// scriptedAPI answers each UpdateItem with the next error of a list, then with success.
type scriptedAPI struct {
	errs []error
	n    int
	opts dynamodb.Options
}

func (s *scriptedAPI) UpdateItem(
	_ context.Context, _ *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	for _, o := range options {
		o(&s.opts)
	}
	if s.n++; s.n <= len(s.errs) {
		return nil, s.errs[s.n-1]
	}
	return &dynamodb.UpdateItemOutput{}, nil
}

// TestApply_ItemInATransaction_IsRetried simulates the error, because only AWS returns it.
func TestApply_ItemInATransaction_IsRetried(t *testing.T) {
	conflict := &types.TransactionConflictException{}
	s := &scriptedAPI{errs: []error{conflict, conflict}}
	_, applied, err := counters{api: s, rules: slotLog}.apply(t.Context(), "k", count{})
	if !applied || err != nil || s.n != 3 {
		t.Errorf("applied %v, %v after %d tries", applied, err, s.n)
	}
}

// TestApply_IsNotRetriedByTheSDK: a write that timed out may have been applied.
func TestApply_IsNotRetriedByTheSDK(t *testing.T) {
	s := &scriptedAPI{errs: []error{&types.ProvisionedThroughputExceededException{}}}
	if _, _, err := (counters{api: s, rules: slotLog}).apply(t.Context(), "k", count{}); err == nil || s.n != 1 {
		t.Errorf("got %v after %d tries", err, s.n)
	}
	if _, none := s.opts.Retryer.(aws.NopRetryer); !none {
		t.Errorf("the SDK's retryer is %T", s.opts.Retryer)
	}
}
