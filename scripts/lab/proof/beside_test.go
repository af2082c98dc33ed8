package proof

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/lab/old"
	"wavegate/scripts/lab/proof/fault"
	"wavegate/scripts/lab/proof/ledger"
	"wavegate/scripts/local/service"
	"wavegate/scripts/operator/verify"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// TestBeside_OldAndNew_AnswersAndTablesAgree runs random calls and ticks, each by the functions of the working tree or
// by those of an old commit, as during a deploy. Then the old functions answer alone, as after a rollback.
func TestBeside_OldAndNew_AnswersAndTablesAgree(t *testing.T) {
	t.Parallel()
	o := round{share: 0.01, kinds: append(slices.Clone(fault.Everything), fault.Dead), kills: 60, calls: 1000, old: oldFunctions(t)}
	play(t, o, count(t, "PROOF_BESIDE", 2000, 20_000))
}

// oldFunctions builds the functions of the commit in PROOF_OLD, or of old.Commit, and returns their directory.
func oldFunctions(t *testing.T) string {
	t.Helper()
	dir, err := old.Functions(t.Context(), cmp.Or(os.Getenv("PROOF_OLD"), old.Commit), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// beside makes two thirds of a round's calls while both versions answer, and the others after the rollback.
func (o round) beside(t *testing.T, w *harness.World, c *callers) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var ticks sync.WaitGroup
	ticks.Go(func() {
		for ctx.Err() == nil {
			_ = w.RunTask(ctx, operations.Tick) // a fault may end it
			time.Sleep(100 * time.Millisecond)
		}
	})
	before, after := o, o
	before.calls = o.calls * 2 / 3
	after.calls, after.seed, after.alone = o.calls-before.calls, o.seed+1<<32, true
	c.call(before)
	w.Answer(service.Second)
	c.call(after)
	end()
	ticks.Wait()
}

// oldHas reports whether the old version has an operation.
func (o round) oldHas(operation string) bool {
	_, err := os.Stat(filepath.Join(o.old, operation))
	return err == nil
}

// verified compares every method with the audit trail, as an auditor does, and ticks once more. Both versions answer.
func verified(t *testing.T, w *harness.World, books ledger.Books) (findings []string) {
	t.Helper()
	w.Answer(service.Both)
	if err := w.RunTask(t.Context(), operations.Tick); err != nil {
		findings = append(findings, "the last tick failed: "+err.Error())
	}
	owner := w.Owner(t)
	get := func(_ context.Context, path string) ([]byte, error) {
		for {
			a, err := owner.Try(http.MethodGet, path, "")
			switch {
			case err != nil:
				return nil, err
			case a.Status == http.StatusTooManyRequests:
				time.Sleep(time.Second)
			case a.Status != http.StatusOK:
				return nil, fmt.Errorf("%s: %d %s", path, a.Status, a.Body)
			default:
				return a.Body, nil
			}
		}
	}
	compared := 0
	for _, m := range books[dynamo.Recipes] {
		if m["latest"] == nil {
			continue // it has no version, so there is nothing to compare
		}
		compared++
		c, err := verify.Method(t.Context(), get, fmt.Sprint(m["factoryId"]), fmt.Sprint(m["methodId"]), nil)
		if err != nil {
			c.Findings = append(c.Findings, err.Error())
		}
		for _, f := range c.Findings {
			findings = append(findings, fmt.Sprintf("the method %s: %s", m["methodId"], f))
		}
	}
	guards := 0
	for _, e := range books[dynamo.Audit] {
		if actor, ok := e["actor"].(ledger.Item); ok && actor["userId"] == "guard" {
			guards++
		}
	}
	t.Logf("%d methods agree with the trail, or are named; the guard made %d changes", compared, guards)
	return findings
}
