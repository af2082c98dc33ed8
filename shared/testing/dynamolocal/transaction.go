package dynamolocal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DynamoDB's maximums.
const (
	manyParts  = 100 // parts of a transaction
	manyWrites = 25  // of a batch
	longToken  = 36  // characters
)

type transaction struct {
	TransactItems      []map[action]*write // one entry each
	ClientRequestToken string
}

// A reason says why a part of a transaction failed; "None" if it did not fail.
type reason struct {
	Code    string
	Message string `json:",omitempty"`
	Item    item   `json:",omitempty"`
}

// transactWriteItems makes all changes or none. It tries every part, to report every reason.
func (e *engine) transactWriteItems(ctx context.Context, in *transaction) (*struct{}, error) {
	writes, err := e.writesOf(in)
	if err != nil {
		return nil, err
	}
	token := in.ClientRequestToken
	if token != "" {
		if done, err := e.tokens.known(token, in.TransactItems); done || err != nil {
			return &struct{}{}, err
		}
	}
	changes := make([]change, len(writes))
	reasons := make([]reason, len(writes))
	cancelled, all := false, 0
	for i, w := range writes {
		c, err := e.try(ctx, w)
		changes[i], reasons[i] = c, reasonOf(err)
		cancelled = cancelled || err != nil
		all += size(c.is)
	}
	if all > largestTransaction {
		return nil, invalid("Transaction size cannot exceed 4 MB")
	}
	if cancelled {
		return nil, cancellation(reasons)
	}
	for i, c := range changes {
		if writes[i].action == check {
			continue
		}
		if err := e.apply(ctx, c); err != nil {
			return nil, err
		}
	}
	if token != "" {
		e.tokens.remember(token, in.TransactItems)
	}
	return &struct{}{}, nil
}

func reasonOf(err error) reason {
	if err == nil {
		return reason{Code: "None"}
	}
	f := failureOf(err)
	if f.Type == conditionFailed {
		return reason{Code: "ConditionalCheckFailed", Message: f.Message, Item: f.Item}
	}
	return reason{Code: "ValidationError", Message: f.Message}
}

func cancellation(reasons []reason) error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.Code
	}
	return &failure{
		Type: "TransactionCanceledException",
		Message: fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]",
			strings.Join(codes, ", ")),
		CancellationReasons: reasons,
	}
}

// writesOf returns a transaction's parts. It refuses an invalid transaction before it reads any
// item.
func (e *engine) writesOf(in *transaction) ([]write, error) {
	const constraint = "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must have length %s"
	token := in.ClientRequestToken
	switch n := len(in.TransactItems); {
	case n == 0:
		return nil, invalid(constraint, "[]", "transactItems", "greater than or equal to 1")
	case n > manyParts:
		return nil, invalid(constraint, "[...]", "transactItems", "less than or equal to 100")
	case len(token) > longToken:
		return nil, invalid(constraint, token, "clientRequestToken", "less than or equal to 36")
	}
	var writes []write
	targets := map[string]bool{}
	for i, t := range in.TransactItems {
		maps.DeleteFunc(t, func(a action, w *write) bool { return w == nil || !slices.Contains(actions, a) })
		if len(t) != 1 {
			return nil, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		var w write
		for a, part := range t {
			w = *part
			w.action = a
		}
		if w.action == update && w.UpdateExpression == nil || w.action == check && w.ConditionExpression == nil {
			return nil, invalid("1 validation error detected: Value null at 'transactItems.%d.member' failed to satisfy constraint: Member must not be null", i+1)
		}
		if err := e.wellFormed(w); err != nil {
			return nil, err
		}
		if key, err := e.keyOf(w); err == nil {
			target, err := json.Marshal([]any{*w.TableName, key})
			if err != nil {
				return nil, err
			}
			if targets[string(target)] {
				return nil, invalid("Transaction request cannot include multiple operations on one item")
			}
			targets[string(target)] = true
		}
		writes = append(writes, w)
	}
	return writes, nil
}
