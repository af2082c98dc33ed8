// Package idempotency makes a retried POST safe: the same key and input within a day give the first
// answer again. The record is written in the transaction of what it protects, so there is either
// both or none, and no state in between.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// Lifetime is how long a key is remembered. Age is judged by the stored time: DynamoDB removes an
// item some time, hours even, after its TTL.
const Lifetime = 24 * time.Hour

// PartName is the name of the record's part in a transaction. When it is refused, another call with
// the same key was first; reading again finds its result.
const PartName = "idempotency"

// A Claim is one call's use of a key. The zero Claim is of a call without one.
type Claim struct {
	key    string // hash of who, what and the caller's key
	digest string // hash of the input
}

// Of makes the claim of a caller for an operation on a path. No two callers, operations or paths meet
// in one record, whatever key they send. The input is what the operation understood, so that the
// same request written in another way is the same request.
func Of(caller auth.Principal, operation, path, key string, input any) (Claim, error) {
	if key == "" {
		return Claim{}, nil
	}
	who, err := hash(caller.Issuer, caller.OrganizationID, caller.UserID, operation, path, key)
	if err != nil {
		return Claim{}, err
	}
	digest, err := hash(input)
	return Claim{key: who, digest: digest}, err
}

// hash is over JSON, which keeps the parts apart.
func hash(parts ...any) (string, error) {
	b, err := json.Marshal(parts)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

type record struct {
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	Result  string `json:"result"`
	Created int64  `json:"created"` // milliseconds since the epoch
	Expires int64  `json:"expires"` // seconds since the epoch, for the TTL
}

// First returns the result of the first call with the claim's key, and whether there was one. A key
// that was used for another input is IDEMPOTENCY_KEY_REUSED.
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

// Parts is the write of the record with the result of this, the first call: one part, or none without
// a key.
func (c Claim) Parts(result string, now time.Time) []dynamo.Part {
	if c.key == "" {
		return nil
	}
	r := record{Key: c.key, Digest: c.digest, Result: result, Created: now.UnixMilli(), Expires: now.Add(Lifetime).Unix()}
	return []dynamo.Part{dynamo.PutPart(PartName, dynamo.Idempotency, r, dynamo.Condition{
		Expr: "attribute_not_exists(#key) OR #created < :cutoff", Values: map[string]any{":cutoff": cutoff(now)}})}
}

func cutoff(now time.Time) int64 { return now.Add(-Lifetime).UnixMilli() }
