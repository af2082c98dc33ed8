package proof

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/lab/old"
	"wavegate/scripts/lab/proof/fault"
	"wavegate/scripts/local/service"
	"wavegate/scripts/operator/verify"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestBeside_OldAndNew_AnswersAndTablesAgree runs random calls and ticks, each by the functions of the working tree or
// by those of an old commit, as during a deploy. Then the old functions answer alone, as after a rollback.
func TestBeside_OldAndNew_AnswersAndTablesAgree(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	o := round{share: 0.01, kinds: append(slices.Clone(fault.Everything), fault.Dead), kills: 60, calls: 1000, old: oldFunctions(t)}
	play(t, o, count(t, "PROOF_BESIDE", 1000, 20_000))
}

// oldFunctions builds the functions of the commit in PROOF_OLD, or of old.Commit, and returns their directory.
func oldFunctions(t *testing.T) string {
	t.Helper()
	dir := expect.Value(old.Functions(t.Context(), cmp.Or(os.Getenv("PROOF_OLD"), old.Commit), os.Stderr))(t)
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

// verified ticks once more, compares what both versions tell each box, and compares every method with the audit trail, as
// an auditor does. Both versions answer.
func verified(t *testing.T, w *harness.World, books ledger.Books) (findings []string) {
	t.Helper()
	w.Answer(service.Both)
	if err := w.RunTask(t.Context(), operations.Tick); err != nil {
		findings = append(findings, "the last tick failed: "+err.Error())
	}
	owner := w.Owner(t)
	get := func(_ context.Context, path string) ([]byte, error) {
		a, err := patient(owner, path)
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		return a.Body, err
	}
	compared := 0
	for _, m := range books[dynamo.Methods] {
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
	boxes := late(t, owner)
	for _, box := range books[dynamo.Edges] {
		boxes = append(boxes, fmt.Sprint(box["edgeId"]))
	}
	for i, box := range boxes {
		asker := w.As(t, fmt.Sprintf("asker-%d", i), "wavegate", auth.PlatformOwner) // each has its own limit
		for _, installed := range append([]string{""}, versions...) {
			path := "/api/edges/" + box + "/update/manifest"
			if installed != "" {
				path += "?installed=" + installed
			}
			if len(findings) < 20 {
				findings = append(findings, bothTell(w, asker, path)...)
			}
		}
	}
	t.Logf("%d methods were compared with the trail, and %d boxes asked both versions", compared, len(boxes))
	return findings
}

// late registers a dozen boxes on each channel, so that its rollout reaches some, and raises each active rollout to 50
// percent. A rollout may have a policy that is against it.
func late(t *testing.T, owner *harness.Caller) (boxes []string) {
	t.Helper()
	for _, edgeType := range edgeTypes {
		for _, channel := range channels {
			var batch []string
			for i := range 12 {
				id := fmt.Sprintf("late-%s-%s-%d", edgeType, channel, i)
				boxes = append(boxes, id)
				batch = append(batch, fmt.Sprintf(`{"edgeId":%q,"edgeType":%q,"channel":%q,"organizationId":"acme"}`, id, edgeType, channel))
			}
			owner.Post(t, "/api/edges", `{"edges":[`+strings.Join(batch, ",")+`]}`)
		}
	}
	a := expect.Value(patient(owner, "/api/ota/rollouts?status=active"))(t)
	items, _ := a.Object(t)["items"].([]any)
	for _, r := range items {
		for _, percent := range []int{10, 50} {
			owner.Patch(t, "/api/ota/rollouts/"+fmt.Sprint(r.(map[string]any)["id"]), fmt.Sprintf(`{"staged_percent":%d,"overrideReason":"the end"}`, percent))
		}
	}
	t.Logf("%d rollouts are active at the end", len(items))
	return boxes
}

// bothTell compares the answers of both versions to a poll. A container may cache a channel for two seconds.
func bothTell(w *harness.World, owner *harness.Caller, path string) []string {
	said := map[service.Turn]string{}
	for begin := time.Now(); time.Since(begin) < 3*time.Second; time.Sleep(100 * time.Millisecond) {
		for _, by := range []service.Turn{service.First, service.Second} {
			w.Answer(by)
			a, err := patient(owner, path)
			if err != nil {
				return []string{err.Error()}
			}
			said[by] = fmt.Sprint(a.Status, " ", string(a.Body))
			if a.Status/100 == 4 {
				said[by] = fmt.Sprint(a.Status) // a problem has the request's id
			}
		}
		if said[service.First] == said[service.Second] {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: the working tree answers %s, and the old version %s", path, said[service.First], said[service.Second])}
}

// patient reads a path until the call is not rejected.
func patient(c *harness.Caller, path string) (a harness.Answer, err error) {
	for range 100 {
		a, err = c.Try(http.MethodGet, path, "")
		if err != nil || a.Status != http.StatusTooManyRequests {
			break
		}
		time.Sleep(time.Second)
	}
	return a, err
}
