package proof

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/scripts/proof/ledger"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// changes are one of each kind that a furnished world does not hold yet.
func changes(rollout string) map[string]struct{ method, path, body string } {
	digest := strings.Repeat("a", 64)
	return map[string]struct{ method, path, body string }{
		"publish-release": {http.MethodPut, "/api/ota/release-channels/gateway-x/canary",
			fmt.Sprintf(`{"currentVersion":"1.0.0","artifactUrl":"https://artifacts.example/1.0.0","sha256":%q}`, digest)},
		"start-rollout":  {http.MethodPost, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"spare","targetVersion":"1.0.0"}`},
		"update-rollout": {http.MethodPatch, "/api/ota/rollouts/" + rollout, `{"staged_percent":10}`},
		"put-factory":    {http.MethodPut, "/api/factories/munich-2", `{"organizationId":"acme","name":"Munich 2"}`},
		"create-production-method": {http.MethodPost, "/api/factories/munich-1/production-methods",
			`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Turning"}`},
		"put-machine":    {http.MethodPut, "/api/factories/munich-1/machines/press-2", `{"name":"Press 2"}`},
		"put-edge":       {http.MethodPut, "/api/edges/box-0002", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`},
		"put-rate-limit": {http.MethodPut, "/api/rate-limits/users/emma", `{"limit":700}`},
	}
}

// TestKilled_InTheMiddleOfAChange_AllOfItIsThereOrNone kills a function's process while its transaction
// is on the way, before the store has seen it and after the store has applied it. The caller hears 502
// either way; tried again with the same key, the change is there once.
func TestKilled_InTheMiddleOfAChange_AllOfItIsThereOrNone(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{false, true} {
		t.Run(fmt.Sprintf("applied=%t", applied), func(t *testing.T) {
			w := harness.New(t, patient)
			ids := furnish(t, w)
			caller := w.As(t, "olga", "acme", auth.PlatformOwner, auth.OrganizationAdmin)
			caller.Put(t, "/api/ota/release-channels/gateway-x/spare",
				fmt.Sprintf(`{"currentVersion":"1.0.0","artifactUrl":"https://artifacts.example/1.0.0","sha256":%q}`, strings.Repeat("a", 64))).
				Is(t, http.StatusCreated)
			for operation, change := range changes(ids.Replace(sampleRollout)) {
				before := w.State(t)
				a := killed(t, w, operation, applied, func() (harness.Answer, error) {
					return caller.Try(change.method, change.path, change.body, "Idempotency-Key", operation)
				})
				a.Refused(t, problem.BadGateway)
				if after := w.State(t); (after != before) != applied {
					t.Errorf("%s: before %s\nafter %s", operation, before, after)
				}
				again := caller.Do(t, change.method, change.path, change.body, "Idempotency-Key", operation)
				if again.Status/100 != 2 {
					t.Errorf("%s: tried again: %d %s", operation, again.Status, again.Body)
				}
				once := w.State(t)
				caller.Do(t, change.method, change.path, change.body, "Idempotency-Key", operation)
				if twice := w.State(t); twice != once || applied && once == before {
					t.Errorf("%s: once %s\ntwice %s", operation, once, twice)
				}
				books, err := ledger.Read(t.Context(), w.DB)
				if err != nil {
					t.Fatal(err)
				}
				for _, wrong := range books.Audit() {
					t.Errorf("%s: %s", operation, wrong)
				}
			}
		})
	}
}

// killed makes a call and kills the function's processes while the call's transaction is held: on its
// way to the store, or with the store's answer on its way back.
func killed(t *testing.T, w *harness.World, operation string, applied bool, call func() (harness.Answer, error)) harness.Answer {
	t.Helper()
	held := make(chan struct{})
	never := make(chan struct{})
	var once sync.Once
	before := w.State(t)
	remove := w.Front.Intercept(func(c *storefront.Call) storefront.Fate {
		var fate storefront.Fate
		if c.Operation == "TransactWriteItems" && c.Function == operation {
			once.Do(func() {
				close(held)
				if fate.Hold = never; applied {
					fate = storefront.Fate{HoldAnswer: never}
				}
			})
		}
		return fate
	})
	defer remove()
	answer := make(chan harness.Answer)
	go func() {
		defer close(answer)
		if a, err := call(); err == nil {
			answer <- a
		}
	}()
	<-held
	for deadline := time.Now().Add(time.Minute); applied && w.State(t) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the change was never applied")
		}
	}
	for _, pid := range w.Function(operation).PIDs() {
		kill(pid)
	}
	a, ok := <-answer
	if !ok {
		t.Fatalf("%s: the caller had no answer", operation)
	}
	return a
}
