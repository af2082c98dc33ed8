package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/problem"
)

// A Condition is a condition on a part of a transaction. In Expr, #name is the attribute with
// that name, and :value is Values[":value"].
type Condition struct {
	Expr   string
	Values map[string]any
}

// Absent is the condition that no item has the key. attribute is one of the key's attributes.
func Absent(attribute string) Condition {
	return Condition{Expr: "attribute_not_exists(#" + attribute + ")"}
}

// AtRevision is the condition that the item still has the revision that was read. Revision 0
// means that there is no item.
func AtRevision(key string, revision int64) Condition {
	if revision == 0 {
		return Absent(key)
	}
	return Condition{Expr: "#revision = :revision", Values: map[string]any{":revision": revision}}
}

// And is the condition that both hold.
func (c Condition) And(other Condition) Condition {
	values := maps.Clone(c.Values)
	if values == nil {
		values = map[string]any{}
	}
	maps.Copy(values, other.Values)
	return Condition{Expr: "(" + c.Expr + ") AND (" + other.Expr + ")", Values: values}
}

// A TransactItem is one item of a transaction.
type TransactItem struct {
	name string
	item types.TransactWriteItem
	err  error
}

// TransactPut writes an item: every attribute that its type declares. It keeps attributes that the type does not declare,
// which a newer version of the service may have written. So that it also keeps those of structs inside the item, was is the
// item as it was read; nil if it was not read or has no structs inside. A Refusal uses the name.
func TransactPut(name string, table TableID, was, item any, when Condition) TransactItem {
	e, err := put(table, was, item, when)
	return e.part(name, table, err)
}

// TransactNew writes an item and keeps nothing of an item with the same key. It is for an item that is never changed
// afterwards, and for one that is made again after its removal.
func TransactNew(name string, table TableID, item any, when Condition) TransactItem {
	encoded, err := Encode(item)
	values, err2 := when.values(nil)
	return TransactItem{name: name, err: errors.Join(err, err2), item: types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(table.Name()), Item: encoded,
		ConditionExpression:      optional(when.Expr),
		ExpressionAttributeNames: names(when.Expr), ExpressionAttributeValues: values,
	}}}
}

// TransactUpdate changes some attributes of an item. set is an update expression with #name and
// :value.
func TransactUpdate(name string, table TableID, key Key, set string, values map[string]any, when Condition) TransactItem {
	encoded, err := when.values(values)
	return TransactItem{name: name, err: err, item: types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table.Name()), Key: key.item(), UpdateExpression: aws.String(set),
		ConditionExpression:      optional(when.Expr),
		ExpressionAttributeNames: names(set, when.Expr), ExpressionAttributeValues: encoded,
	}}}
}

// TransactCheck changes nothing. It is the condition on an item that a decision depends on.
func TransactCheck(name string, table TableID, key Key, when Condition) TransactItem {
	values, err := when.values(nil)
	return TransactItem{name: name, err: err, item: types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(table.Name()), Key: key.item(), ConditionExpression: aws.String(when.Expr),
		ExpressionAttributeNames: names(when.Expr), ExpressionAttributeValues: values,
	}}}
}

// TransactDelete removes an item, if there is one or the condition requires it. It is for items that nobody needs to know
// about later.
func TransactDelete(name string, table TableID, key Key, when Condition) TransactItem {
	values, err := when.values(nil)
	return TransactItem{name: name, err: err, item: types.TransactWriteItem{Delete: &types.Delete{
		TableName: aws.String(table.Name()), Key: key.item(), ConditionExpression: optional(when.Expr),
		ExpressionAttributeNames: names(when.Expr), ExpressionAttributeValues: values,
	}}}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c Condition) values(more map[string]any) (map[string]types.AttributeValue, error) {
	var m map[string]types.AttributeValue
	for _, values := range []map[string]any{c.Values, more} {
		for k, v := range values {
			encoded, err := attributevalue.MarshalWithOptions(v, encoding)
			if err != nil {
				return nil, fmt.Errorf("dynamo: encode %s: %w", k, err)
			}
			if m == nil {
				m = map[string]types.AttributeValue{}
			}
			m[k] = encoded
		}
	}
	return m, nil
}

// A ConditionError lists the parts of a transaction whose conditions failed. Nothing was written.
type ConditionError struct {
	Parts []string
	// Collided is set if another transaction was writing items of this one at that moment. The
	// conditions of those items were not checked.
	Collided bool
}

func (r *ConditionError) Error() string { return fmt.Sprintf("dynamo: conditions failed: %v", r.Parts) }

// Refused reports whether the named part's condition failed.
func Refused(err error, part string) bool {
	r, ok := errors.AsType[*ConditionError](err)
	return ok && slices.Contains(r.Parts, part)
}

// Collided reports whether a refused transaction has parts whose conditions were not checked, because
// another transaction was writing their items.
func Collided(err error) bool {
	r, ok := errors.AsType[*ConditionError](err)
	return ok && r.Collided
}

// errCollision means that another transaction was writing the same items. Nothing was written.
var errCollision = errors.New("dynamo: collided with another transaction")

// These limit how often a transaction is tried when it collides with others, and the pauses
// between. The pauses are random, so that the same transactions do not collide again.
const (
	commitAttempts = 8
	pauseFirst     = 10 * time.Millisecond
	pauseMost      = 250 * time.Millisecond
)

// Commit writes all parts or none. It waits until the call in the context is admitted; see
// package admission. It returns a *ConditionError if a condition failed. It returns UNAVAILABLE, with
// Retry-After, if the transaction kept colliding with others or the store failed.
//
// All tries have the same ClientRequestToken. So a retry after a lost answer finds the commit,
// and does not mistake it for a failed condition.
func (db *DB) Commit(ctx context.Context, parts ...TransactItem) error {
	in, err := transaction(parts)
	if err != nil {
		return err
	}
	pause := pauseFirst
	for attempt := 1; ; attempt++ {
		err := db.try(ctx, in, parts)
		if !errors.Is(err, errCollision) {
			return err
		}
		if attempt == commitAttempts {
			return problem.Wrap(err, problem.Unavailable, "The change kept colliding with others and was not made; try again after the given time.").
				After(time.Second)
		}
		if !wait(ctx, pause) {
			return unavailable(ctx, true, err)
		}
		pause = min(2*pause, pauseMost)
	}
}

// CommitOnce is Commit with one try. A transaction that collides with others is not sent again. It
// is for Retry, which then decides again.
func (db *DB) CommitOnce(ctx context.Context, parts ...TransactItem) error {
	in, err := transaction(parts)
	if err != nil {
		return err
	}
	return db.try(ctx, in, parts)
}

func transaction(parts []TransactItem) (*dynamodb.TransactWriteItemsInput, error) {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}
	for _, p := range parts {
		if p.err != nil {
			return nil, p.err
		}
		in.TransactItems = append(in.TransactItems, p.item)
	}
	return in, nil
}

// try sends a transaction once. It returns a *ConditionError, or errCollision if it failed only because of collisions.
func (db *DB) try(ctx context.Context, in *dynamodb.TransactWriteItemsInput, parts []TransactItem) error {
	if err := admission.Wait(ctx); err != nil {
		return err
	}
	_, err := db.api.TransactWriteItems(ctx, in)
	if err == nil {
		return nil
	}
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return unavailable(ctx, true, fmt.Errorf("dynamo: commit: %w", err))
	}
	refusal := &ConditionError{}
	for i, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "", "None":
		case "ConditionalCheckFailed":
			if i < len(parts) {
				refusal.Parts = append(refusal.Parts, parts[i].name)
			}
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
			refusal.Collided = true
		default:
			return fmt.Errorf("dynamo: commit: part %d: %s: %w", i, aws.ToString(reason.Code), err)
		}
	}
	switch {
	case len(refusal.Parts) > 0:
		return refusal
	case refusal.Collided:
		return errCollision
	}
	return fmt.Errorf("dynamo: commit was cancelled without a reason: %w", err)
}

// decisions is how often a change is decided in total if the state keeps changing. stepBack is the
// longest pause after the first time; later ones are longer. The pauses leave room for a change
// that insists.
const (
	decisions = 3
	stepBack  = 40 * time.Millisecond
)

// Decide runs a function that reads, decides and commits. It runs the function again if the
// state changed in the meantime: three times at most, then it returns CONFLICT. The function
// returns the error of Commit, or its own.
func Decide(ctx context.Context, once func() error) error {
	pause := stepBack
	for attempt := 1; ; attempt++ {
		err := once()
		if _, refused := errors.AsType[*ConditionError](err); !refused {
			return err
		}
		if attempt == decisions || !wait(ctx, pause) {
			return problem.Wrap(err, problem.Conflict, "The resource kept changing while the request was decided; read it and try again.")
		}
		pause *= 4
	}
}

// insistPause is the longest pause of a change that insists.
const insistPause = 4 * time.Millisecond

// Retry is Decide for a change that must not lose a race, such as a halt. It runs the function again
// until the context ends, which is a TIMEOUT. The function returns the error of CommitOnce, or its
// own. Retry pauses only after a collision, and for a shorter time than Decide and Commit do. So it
// is likely to be next.
func Retry(ctx context.Context, once func() error) error {
	for {
		err := once()
		_, refused := errors.AsType[*ConditionError](err)
		collided := errors.Is(err, errCollision)
		if !refused && !collided {
			return err
		}
		if ctx.Err() != nil || collided && !wait(ctx, insistPause) {
			return problem.Wrap(errors.New(err.Error()), problem.Timeout, "The resource kept changing until the request timed out. Nothing was changed; try again.")
		}
	}
}

// wait pauses for a random time up to a longest one. It reports whether the context still lasts.
func wait(ctx context.Context, most time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rand.N(most) + time.Millisecond):
		return true
	}
}
