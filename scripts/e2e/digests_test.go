package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
)

// TestIdempotencyKey_DigestOfEachBody_StaysTheSame: a call may be repeated after a deploy, and then gets the first answer.
// So a body that the first release took has the same digest in every later one: a new field is omitted if it is absent.
// Each digest is that of the text here, which is what the first release made of the body.
func TestIdempotencyKey_DigestOfEachBody_StaysTheSame(t *testing.T) {
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
			method,
			`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`},
		{"register-edges", "/api/edges",
			`{"edges":[{"edgeId":"d-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme"}]}`,
			`[{"EdgeID":"d-1","EdgeType":"gateway-x","Channel":"stable","OrganizationID":"acme","FactoryID":null,"Issuer":null,"TokenSHA256":"","EnrolmentID":""}]`},
		{"register-edges", "/api/edges",
			`{"edges":[{"edgeId":"d-2","edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1","tokenSha256":"` + hash + `"}]}`,
			`[{"EdgeID":"d-2","EdgeType":"gateway-x","Channel":"stable","OrganizationID":"acme","FactoryID":"munich-1","Issuer":null,"TokenSHA256":"` + hash + `","EnrolmentID":""}]`},
		{"start-rollout", rollouts,
			plan("gateway-x", "stable", "1.0.0"),
			`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.0.0","policy":{"mode":"act","guard":{"acceptable":0.01,"intolerable":0.05,"silentAfter":"PT30M","decideWithin":"PT1H","taken":0.8,"smallFleet":"allDecided"},"promote":{"auto":false,"soak":{"1":"P1D","10":"P1D","50":"P1D","100":"P1D"}},"approvals":{}}}`},
		{"start-rollout", rollouts,
			`{"edgeType":"gateway-x","channel":"canary","targetVersion":"1.0.0","policy":null}`,
			`{"edgeType":"gateway-x","channel":"canary","targetVersion":"1.0.0"}`},
		{"start-rollout", rollouts,
			`{"edgeType":"gateway-x","channel":"pilot","targetVersion":"1.0.0","policy":{"mode":"advise","promote":{"auto":true,"soak":{"10":"P2D"}}}}`,
			`{"edgeType":"gateway-x","channel":"pilot","targetVersion":"1.0.0","policy":{"mode":"advise","guard":{"acceptable":0.01,"intolerable":0.05,"silentAfter":"PT30M","decideWithin":"PT1H","taken":0.8,"smallFleet":"allDecided"},"promote":{"auto":true,"soak":{"1":"P1D","10":"P2D","50":"P1D","100":"P1D"}},"approvals":{}}}`},
		{"create-edge-enrolment", "/api/edge-enrolments",
			`{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","edgeIds":["d-4"],"expiresAt":"` + expires + `"}`,
			`{"EdgeType":"gateway-x","Channel":"stable","OrganizationID":"acme","FactoryID":"","EdgeIDs":["d-4"],"ExpiresAt":"` + expires + `"}`},
		{"create-edge-enrolment", "/api/edge-enrolments",
			`{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1","edgeIds":["d-3"],"expiresAt":"` + expires + `"}`,
			`{"EdgeType":"gateway-x","Channel":"stable","OrganizationID":"acme","FactoryID":"munich-1","EdgeIDs":["d-3"],"ExpiresAt":"` + expires + `"}`},
	} {
		t.Run(fmt.Sprintf("%s %d", c.operation, i), func(t *testing.T) {
			by := owner
			if c.operation == "create-production-method" {
				by = w.Engineer(t, "acme")
			}
			known := w.Items(t, dynamo.Idempotency)
			by.Post(t, c.path, c.body, "Idempotency-Key", harness.Name("digest"))
			sum := sha256.Sum256([]byte("[" + c.input + "]"))
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
