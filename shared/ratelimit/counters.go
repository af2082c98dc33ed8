package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// These are the attributes of an item. A slot's attribute is slotPrefix and three hex digits of
// the slot's number modulo 4,096. No reserved word of DynamoDB begins like this. The names ttl
// and until are reserved, so expressions use placeholders for them.
const (
	attrSubject = "subject"
	attrTotal   = "n"
	attrBase    = "b"
	attrTTL     = "ttl"   // epoch seconds
	attrLimit   = "lim"   // an override's limit
	attrUntil   = "until" // the override's end in epoch milliseconds, or forever
	attrKeep    = "keep"  // the ttl of an item that has an override
	slotPrefix  = "x"
)

const (
	// forever means that an override has no end: the last second of the year 9999.
	forever = 253402300799000
	// idle is how long an item is kept after its last request. LastSeen needs it that long. It
	// must be longer than the time in which names of slots are unique. DynamoDB deletes an
	// expired item within days, never early.
	idle = 35 * 24 * time.Hour
)

// An Updater makes the one DynamoDB call that the limiter needs. *dynamodb.Client is one.
type Updater interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// counters is the store in the table rate-counters.
type counters struct {
	api   Updater
	table string
	rules rules
}

// apply sends one write. It returns the item after the write, and whether the write was applied.
// The error is errThrottled if the item takes no more writes at the moment. Any other error is a
// failure of the store.
func (c counters) apply(ctx context.Context, subject string, w write) (item, bool, error) {
	_, givesBack := w.(giveBack)
	attributes, applied, err := c.update(ctx, subject, c.rules.input(w), !givesBack)
	if err != nil {
		return item{}, false, err
	}
	it, err := c.rules.decode(attributes)
	return it, applied, err
}

// update sends one write, with the answers of apply. again allows to send it again after a broken connection.
func (c counters) update(ctx context.Context, subject string, in *dynamodb.UpdateItemInput, again bool) (map[string]types.AttributeValue, bool, error) {
	in.TableName = aws.String(c.table)
	in.Key = map[string]types.AttributeValue{attrSubject: &types.AttributeValueMemberS{Value: subject}}
	in.ReturnValues = types.ReturnValueAllNew
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := c.send(ctx, in, again)
	for collided(err) {
		// A transaction that sets an override locks the item for a moment; nothing was written.
		select {
		case <-ctx.Done():
			return nil, false, fmt.Errorf("ratelimit: count: %w", err)
		case <-time.After(rand.N(pause)):
		}
		out, err = c.send(ctx, in, again)
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, false, nil
	}
	if throttled(err) {
		return nil, false, fmt.Errorf("%w: %w", errThrottled, err)
	}
	if err != nil {
		return nil, false, fmt.Errorf("ratelimit: count: %w", err)
	}
	return out.Attributes, true, nil
}

// send sends one write. The SDK does not retry it: a write that timed out may have been applied,
// and a retry would count it twice. Only a write that adds to a count is sent again, once, after
// a broken connection. Usually the connection was closed while the container was frozen. The
// second try may count a request twice, but never too few.
func (c counters) send(ctx context.Context, in *dynamodb.UpdateItemInput, again bool) (*dynamodb.UpdateItemOutput, error) {
	out, err := c.api.UpdateItem(ctx, in, noRetry)
	if again && ctx.Err() == nil && broken(err) {
		out, err = c.api.UpdateItem(ctx, in, noRetry)
	}
	return out, err
}

// broken reports whether the request or its answer was lost with the connection. A timeout is not
// a broken connection.
func broken(err error) bool {
	connection, ok := errors.AsType[interface {
		error
		ConnectionError() bool
	}](err)
	if !ok || !connection.ConnectionError() {
		return false
	}
	late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return !ok || !late.Timeout()
}

// pause is the longest wait until a transaction unlocks an item.
const pause = 10 * time.Millisecond

func collided(err error) bool {
	_, ok := errors.AsType[*types.TransactionConflictException](err)
	return ok
}

var errThrottled = errors.New("ratelimit: the item is throttled")

// throttled reports whether DynamoDB refused a write because of its item, which takes about 1,000
// writes a second. A limit of the table or of the account is different: it says nothing about
// the caller.
func throttled(err error) bool {
	var reasons []types.ThrottlingReason
	if e, ok := errors.AsType[*types.ProvisionedThroughputExceededException](err); ok {
		reasons = e.ThrottlingReasons
	} else if e, ok := errors.AsType[*types.ThrottlingException](err); ok {
		reasons = e.ThrottlingReasons
	} else {
		return false
	}
	return len(reasons) == 0 || slices.ContainsFunc(reasons, func(r types.ThrottlingReason) bool {
		return strings.HasSuffix(aws.ToString(r.Reason), "KeyRangeThroughputExceeded")
	})
}

func noRetry(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

func (r rules) attribute(s slot) string { return fmt.Sprintf(slotPrefix+"%03x", s%r.ring) }

// slotOf is the slot that an attribute's name means in an item with the given base.
func (r rules) slotOf(name string, base slot) slot {
	// A name that was not made by attribute gives slot 0, which does no harm.
	s, _ := strconv.ParseInt(strings.TrimPrefix(name, slotPrefix), 16, 64)
	return base + ((slot(s)-base)%r.ring+r.ring)%r.ring
}

// input is a write as a request to DynamoDB.
func (r rules) input(w write) *dynamodb.UpdateItemInput {
	switch w := w.(type) {
	case count:
		return r.countInput(w)
	case roll:
		return r.rollInput(w)
	case giveBack:
		return r.giveBackInput(w)
	}
	panic("ratelimit: unknown kind of write")
}

func (r rules) countInput(w count) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		UpdateExpression: aws.String("SET b = if_not_exists(b, :base), #ttl = if_not_exists(keep, :ttl) ADD n :one, " + r.attribute(w.at) + " :one"),
		ConditionExpression: aws.String("attribute_not_exists(n) OR " +
			"(((attribute_not_exists(lim) AND n < :limit) OR (#until > :now AND n < lim))" +
			" AND (b BETWEEN :fresh AND :settled OR (n < :small AND b BETWEEN :oldest AND :settled)))"),
		ExpressionAttributeNames: map[string]string{"#ttl": attrTTL, "#until": attrUntil},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one":     number(1),
			":base":    number(w.at - r.window),
			":ttl":     number(w.now.Add(idle).Unix()),
			":limit":   number(w.limit),
			":now":     number(w.now.UnixMilli()),
			":fresh":   number(w.at - r.fresh),
			":settled": number(w.at - r.settled),
			":oldest":  number(w.at - r.oldest),
			":small":   number(r.small),
		},
	}
}

func (r rules) rollInput(w roll) *dynamodb.UpdateItemInput {
	names := map[string]string{"#ttl": attrTTL}
	values := map[string]types.AttributeValue{
		":from":  number(w.from),
		":below": number(w.below),
		":to":    number(w.to),
		":ttl":   number(w.now.Add(idle).Unix()),
		":delta": number(w.counted() - w.expired),
		":here":  number(w.counted() + w.pulled),
	}
	condition := "b = :from AND n < :below"
	if w.exact {
		condition, values[":below"] = "b = :from AND n = :below", number(w.seen)
	}
	set := "SET b = :to, #ttl = if_not_exists(keep, :ttl)"
	var remove []string
	here := " ADD n :delta, " + r.attribute(w.at) + " :here"
	for _, s := range slices.Sorted(maps.Keys(w.remove)) {
		if r.attribute(s) == r.attribute(w.at) {
			// After half an hour names repeat, so the new slot replaces the old one.
			here = ", " + r.attribute(w.at) + " = :here ADD n :delta"
		} else {
			remove = append(remove, r.attribute(s))
		}
		held := fmt.Sprintf(":%d", w.remove[s])
		values[held] = number(w.remove[s])
		condition += " AND " + r.attribute(s) + " = " + held
	}
	if w.override == nil {
		condition += " AND attribute_not_exists(lim)"
	} else {
		condition += " AND lim = :lim AND #until = :until"
		names["#until"], values[":lim"], values[":until"] = attrUntil, number(w.override.Limit), number(until(*w.override))
	}
	if w.endsOverride() {
		set = "SET b = :to, #ttl = :ttl"
		remove = append(remove, attrLimit, "#until", attrKeep)
	}
	update := set + here
	if len(remove) > 0 {
		update += " REMOVE " + strings.Join(remove, ", ")
	}
	return &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String(update),
		ConditionExpression:       aws.String(condition),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	}
}

func (r rules) giveBackInput(w giveBack) *dynamodb.UpdateItemInput {
	x := r.attribute(w.at)
	in := &dynamodb.UpdateItemInput{
		UpdateExpression:    aws.String("ADD n :back, " + x + " :back"),
		ConditionExpression: aws.String(x + " > :one AND b BETWEEN :oldest AND :at"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one":    number(1),
			":back":   number(-1),
			":oldest": number(w.at - r.oldest),
			":at":     number(w.at),
		},
	}
	if w.last {
		in.UpdateExpression = aws.String("ADD n :back REMOVE " + x)
		in.ConditionExpression = aws.String(x + " = :one AND b BETWEEN :oldest AND :at")
	}
	return in
}

// decode reads an item. A name means the same slot for 4,096 slots from the base on. The
// conditions of all writes keep an item's slots within 3,900 plus the difference between clocks.
func (r rules) decode(attributes map[string]types.AttributeValue) (item, error) {
	if len(attributes) == 0 {
		return item{}, nil
	}
	values, err := numbers(attributes)
	if err != nil {
		return item{}, err
	}
	it := item{total: int(values[attrTotal]), base: slot(values[attrBase]), slots: make(map[slot]int, len(values))}
	for name, v := range values {
		if strings.HasPrefix(name, slotPrefix) {
			it.slots[r.slotOf(name, it.base)] = int(v)
		}
	}
	it.override = overrideIn(values)
	return it, nil
}

// numbers are the attributes that are numbers.
func numbers(attributes map[string]types.AttributeValue) (map[string]int64, error) {
	values := make(map[string]int64, len(attributes))
	for name, a := range attributes {
		n, ok := a.(*types.AttributeValueMemberN)
		if !ok {
			continue
		}
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("ratelimit: attribute %s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}

// overrideIn is the override that an item has, or nil.
func overrideIn(values map[string]int64) *counterOverride {
	limit, ok := values[attrLimit]
	if !ok {
		return nil
	}
	o := &counterOverride{Limit: int(limit)}
	if u := values[attrUntil]; u != forever {
		o.Ends = time.UnixMilli(u)
	}
	return o
}

// until is an override's end as it is stored.
func until(o counterOverride) int64 {
	if o.Ends.IsZero() {
		return forever
	}
	return o.Ends.UnixMilli()
}

func number[N ~int | ~int64](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}
