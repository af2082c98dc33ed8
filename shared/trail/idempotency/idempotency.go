// Package idempotency makes it safe to retry a POST: the same key and input within a day give
// the first result again. The record is written in the same transaction as the change. So either
// both exist or neither does.
package idempotency

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// Lifetime is how long a key is remembered. It is checked against the stored time, because
// DynamoDB may remove an item hours after its TTL.
const Lifetime = 24 * time.Hour

// PartName is the name of the record's part in a transaction. If this part fails, another call
// with the same key came first, and a new read finds its result.
const PartName = "idempotency"

// A Claim is the use of a key by one call. The zero Claim is for a call without a key.
type Claim struct {
	key    string // hash of the caller, the operation, the path and the caller's key
	digest string // hash of the input
}

// Of makes the claim of a caller for an operation on a path. Different callers, operations or
// paths never share a record, even with the same key. The input is what the request says; the
// same request in another spelling has the same canonical form.
func Of(caller auth.Principal, operation, path, key string, input any) (Claim, error) {
	if key == "" {
		return Claim{}, nil
	}
	who, err := canonical.Encode([]string{caller.Issuer, caller.OrganizationID, caller.UserID, operation, path, key})
	if err != nil {
		return Claim{}, err
	}
	what, err := canonical.Encode(input)
	return Claim{key: canonical.SHA256(who), digest: canonical.SHA256(what)}, err
}

type record struct {
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	Result  string `json:"result"`
	Created int64  `json:"created"` // milliseconds since the epoch
	Expires int64  `json:"expires"` // seconds since the epoch, for the TTL
}

// First returns the result of the first call with the claim's key, and whether there was one. It
// returns IDEMPOTENCY_KEY_REUSED if the key was used with another input.
func (c Claim) First(ctx context.Context, db *dynamo.DB) (result string, found bool, err error) {
	if c.key == "" {
		return "", false, nil
	}
	var r record
	found, err = db.Get(ctx, dynamo.Idempotency, dynamo.Key{"key": c.key}, &r)
	if err != nil || !found || r.Created < cutoff(db.Now()) {
		return "", false, err
	}
	if r.Digest != c.digest {
		return "", false, problem.New(problem.IdempotencyKeyReused, "The Idempotency-Key was used for another request within the last 24 hours.")
	}
	return r.Result, true, nil
}

// Parts returns the write that records the result of this call, the first with the key: one
// part, or none without a key.
func (c Claim) Parts(result string, now time.Time) []dynamo.TransactItem {
	if c.key == "" {
		return nil
	}
	r := record{Key: c.key, Digest: c.digest, Result: result, Created: now.UnixMilli(), Expires: now.Add(Lifetime).Unix()}
	return []dynamo.TransactItem{dynamo.TransactNew(PartName, dynamo.Idempotency, r, dynamo.Condition{
		Expr: "attribute_not_exists(#key) OR #created < :cutoff", Values: map[string]any{":cutoff": cutoff(now)}})}
}

func cutoff(now time.Time) int64 { return now.Add(-Lifetime).UnixMilli() }
