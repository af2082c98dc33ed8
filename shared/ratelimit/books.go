package ratelimit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/ratelimit/lease"
)

// A page is an organization's book with the override of its limit.
type page struct {
	lease.Book
	override *counterOverride
}

// books hold what containers lease.
type books interface {
	// lease applies a write if the override is still the one that was seen. It returns the page afterwards, and whether the
	// write was applied.
	lease(ctx context.Context, key string, w lease.Write, seen *counterOverride, now time.Time) (page, bool, error)
	// boxes is what the quota has counted of an organization's boxes.
	boxes(ctx context.Context, organization string, now time.Time) (tally, error)
}

// A tally is how many boxes an organization has, if they were counted, and the override of their limit.
type tally struct {
	n        int
	counted  bool
	override *counterOverride
}

const (
	// attrCounted is when the boxes of a tally were counted; see package edge.
	attrCounted = "countedAt"
	// keptFor is how long a tally is kept after it was looked at, and renewed is how long before its end a look renews it.
	keptFor, renewed = 35 * 24 * time.Hour, 30 * 24 * time.Hour
)

// boxes reads with a write, because functions may not read counters. The write keeps the tally of an organization whose boxes
// call. Otherwise it would end some time after the last registration.
func (c counters) boxes(ctx context.Context, organization string, now time.Time) (tally, error) {
	attributes, _, err := c.update(ctx, dynamo.BoxTally(organization), &dynamodb.UpdateItemInput{
		UpdateExpression:         aws.String("SET #ttl = if_not_exists(keep, :ttl)"),
		ConditionExpression:      aws.String("attribute_exists(countedAt) AND #ttl < :soon"),
		ExpressionAttributeNames: map[string]string{"#ttl": attrTTL},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":ttl": number(now.Add(keptFor).Unix()), ":soon": number(now.Add(renewed).Unix())},
	}, true)
	if err != nil {
		return tally{}, err
	}
	values, err := numbers(attributes)
	_, counted := values[attrCounted]
	return tally{int(values[attrTotal]), counted, overrideIn(values)}, err
}

// lease does not send a write again that gives something back: it might be given back twice.
func (c counters) lease(ctx context.Context, key string, w lease.Write, seen *counterOverride, now time.Time) (page, bool, error) {
	attributes, applied, err := c.update(ctx, key, leaseInput(w, seen, now), w.Back == 0)
	if err != nil {
		return page{}, false, err
	}
	p, err := pageOf(attributes)
	return p, applied, err
}

// endAttribute has the calls of the leases that end in a second.
func endAttribute(end int64) string { return slotPrefix + strconv.FormatInt(end, 16) }

func leaseInput(w lease.Write, seen *counterOverride, now time.Time) *dynamodb.UpdateItemInput {
	names := map[string]string{"#ttl": attrTTL}
	values := map[string]types.AttributeValue{
		":most": number(w.Most), ":added": number(w.Added()), ":ttl": number(now.Add(idle).Unix()), ":calls": number(w.Calls)}
	condition := "(attribute_not_exists(n) OR n <= :most)"
	add := " ADD n :added, " + endAttribute(w.End) + " :calls"
	if w.Back > 0 {
		of := endAttribute(w.BackEnd)
		condition += " AND " + of + " >= :back"
		values[":back"] = number(w.Back)
		if w.BackEnd == w.End {
			values[":calls"] = number(w.Calls - w.Back)
		} else {
			add += ", " + of + " :returned"
			values[":returned"] = number(-w.Back)
		}
	}
	var remove []string
	for _, end := range slices.Sorted(maps.Keys(w.Expired)) {
		held := fmt.Sprintf(":%d", w.Expired[end])
		values[held] = number(w.Expired[end])
		condition += " AND " + endAttribute(end) + " = " + held
		remove = append(remove, endAttribute(end))
	}
	if seen == nil {
		condition += " AND attribute_not_exists(lim)"
	} else {
		condition += " AND lim = :lim AND #until = :until"
		names["#until"], values[":lim"], values[":until"] = attrUntil, number(seen.Limit), number(until(*seen))
	}
	update := "SET #ttl = if_not_exists(keep, :ttl)" + add
	if len(remove) > 0 {
		update += " REMOVE " + strings.Join(remove, ", ")
	}
	return &dynamodb.UpdateItemInput{UpdateExpression: aws.String(update), ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values}
}

func pageOf(attributes map[string]types.AttributeValue) (page, error) {
	values, err := numbers(attributes)
	if err != nil {
		return page{}, err
	}
	p := page{lease.Book{Total: int(values[attrTotal]), Ends: map[int64]int{}}, overrideIn(values)}
	for name, n := range values {
		if text, is := strings.CutPrefix(name, slotPrefix); is {
			if end, err := strconv.ParseInt(text, 16, 64); err == nil {
				p.Ends[end] = int(n)
			}
		}
	}
	return p, nil
}
