package proof

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/scripts/samples"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// TestKilled_DuringAChange_IsAppliedInFullOrNotAtAll kills a function's process during its
// transaction, before the store gets it and after the store applied it. The caller gets 502 in
// both cases. After a retry with the same key, the change exists exactly once.
func TestKilled_DuringAChange_IsAppliedInFullOrNotAtAll(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	for _, applied := range []bool{false, true} {
		t.Run(fmt.Sprintf("applied=%t", applied), func(t *testing.T) {
			w := harness.New(t)
			for _, op := range table.All {
				if !samples.Audited(op) || op.Method == http.MethodDelete { // the second DELETE gives 404
					continue
				}
				operation := op.ID
				change := w.Session(t, samples.Fresh(harness.Name)).Call(t, operation)
				caller := w.By(t, change)
				before := w.State(t)
				a := killed(t, w, operation, applied, func() (harness.Answer, error) {
					return caller.Try(change.Method, change.Path, change.Body, "Idempotency-Key", operation)
				})
				a.Refused(t, problem.BadGateway)
				after := w.State(t)
				expect.That(t, (after != before) == applied, "%s: before %s\nafter %s", operation, before, after)
				again := caller.Do(t, change.Method, change.Path, change.Body, "Idempotency-Key", operation)
				expect.That(t, again.Status/100 == 2, "%s: tried again: %d %s", operation, again.Status, again.Body)
				once := w.State(t)
				caller.Do(t, change.Method, change.Path, change.Body, "Idempotency-Key", operation)
				// Each publication is a change, also of the same version: it ends the holds of boxes.
				if twice := w.State(t); twice != once && operation != "publish-release" || applied && once == before {
					t.Errorf("%s: once %s\ntwice %s", operation, once, twice)
				}
				books := expect.Value(ledger.Read(t.Context(), w.DB, dynamolocal.TableName))(t)
				for _, wrong := range books.Audit() {
					t.Errorf("%s: %s", operation, wrong)
				}
			}
		})
	}
}

// killed makes a call and kills the function's processes while its transaction is held, either
// before it reaches the store or before the answer returns.
func killed(t *testing.T, w *harness.World, operation string, applied bool, call func() (harness.Answer, error)) harness.Answer {
	t.Helper()
	held := make(chan struct{})
	never := make(chan struct{})
	var once sync.Once
	before := w.State(t)
	remove := w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		var effect storefront.Effect
		if c.Operation == "TransactWriteItems" && c.Function == operation {
			once.Do(func() {
				close(held)
				if effect.Hold = never; applied {
					effect = storefront.Effect{HoldAnswer: never}
				}
			})
		}
		return effect
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
		expect.Must(t, !time.Now().After(deadline), "the change was never applied")
	}
	for _, pid := range w.Function(operation).PIDs() {
		kill(pid)
	}
	a, ok := <-answer
	expect.Must(t, ok, "%s: the caller had no answer", operation)
	return a
}
