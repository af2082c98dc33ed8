package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
)

// TestIdempotencyKey_DigestOfEachBody_IsOfWhatItSays: a call may be repeated after a deploy, and then gets the first
// answer. So the digest is that of what the body says, without fields that it does not have. Each input here is the
// canonical form of its body.
func TestIdempotencyKey_DigestOfEachBody_IsOfWhatItSays(t *testing.T) {
	w, owner := begin(t)
	factory(t, w, "munich-1", "acme")
	for _, name := range []string{"stable", "canary", "pilot"} {
		owner.Put(t, channelPath("gateway-x", name), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	}
	expires := time.Now().UTC().Add(time.Hour).Truncate(time.Millisecond).Format(time.RFC3339Nano)
	const hash = "6f1b3a4c5d2e7f80918273645546372819a0b1c2d3e4f5061728394a5b6c7d8e"
	covered := map[string]bool{}
	for i, c := range []struct{ operation, path, body, input string }{
		{"create-production-method", methods,
			`{ "productId": "7B0F2C52-6E0B-4F53-9F51-0C5D6A3C1E11", "name": " Milling" }`,
			`{"name":"Milling","productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"}`},
		{"register-edges", "/api/edges",
			`{"edges":[{"edgeId":"d-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":null}]}`,
			`{"edges":[{"channel":"stable","edgeId":"d-1","edgeType":"gateway-x","factoryId":null,"organizationId":"acme"}]}`},
		{"register-edges", "/api/edges",
			`{"edges":[{"edgeId":"d-2","edgeType":"gateway-x","channel":"stable","organizationId":"acme","tokenSha256":"` + strings.ToUpper(hash) + `"}]}`,
			`{"edges":[{"channel":"stable","edgeId":"d-2","edgeType":"gateway-x","organizationId":"acme","tokenSha256":"` + hash + `"}]}`},
		{"start-rollout", rollouts,
			`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.0.0"}`,
			`{"channel":"stable","edgeType":"gateway-x","targetVersion":"1.0.0"}`},
		{"start-rollout", rollouts,
			`{"edgeType":"gateway-x","channel":"canary","targetVersion":"1.0.0","policy":null,"reason":"A reason"}`,
			`{"channel":"canary","edgeType":"gateway-x","policy":null,"reason":"A reason","targetVersion":"1.0.0"}`},
		{"start-rollout", rollouts,
			`{"edgeType":"gateway-x","channel":"pilot","targetVersion":"1.0.0","policy":{"mode":"advise","guard":{"acceptable":1.0e-2},"promote":{"soak":{"10":"P2D"}}}}`,
			`{"channel":"pilot","edgeType":"gateway-x","policy":{"guard":{"acceptable":0.01},"mode":"advise","promote":{"soak":{"10":"P2D"}}},"targetVersion":"1.0.0"}`},
		{"create-edge-enrolment", "/api/edge-enrolments",
			`{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1","edgeIds":["d-3"],"expiresAt":"` + expires + `"}`,
			`{"channel":"stable","edgeIds":["d-3"],"edgeType":"gateway-x","expiresAt":"` + expires + `","factoryId":"munich-1","organizationId":"acme"}`},
	} {
		t.Run(fmt.Sprintf("%s %d", c.operation, i), func(t *testing.T) {
			by := owner
			if c.operation == "create-production-method" {
				by = w.Engineer(t, "acme")
			}
			known := w.Items(t, dynamo.Idempotency)
			by.Post(t, c.path, c.body, "Idempotency-Key", harness.Name("digest"))
			sum := sha256.Sum256([]byte(c.input))
			fresh := slices.DeleteFunc(w.Items(t, dynamo.Idempotency), func(r map[string]any) bool {
				return slices.ContainsFunc(known, func(k map[string]any) bool { return k["key"] == r["key"] })
			})
			if len(fresh) != 1 || fresh[0]["digest"] != hex.EncodeToString(sum[:]) {
				t.Errorf("the digest is not that of %s: %v", c.input, fresh)
			}
			covered[c.operation] = true
		})
	}
	for _, op := range table.All {
		if op.Takes.IdempotencyKey && !covered[op.ID] {
			t.Errorf("%s takes a key, and has no digest here", op.ID)
		}
	}
}
