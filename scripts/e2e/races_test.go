package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/scripts/samples"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// race makes n callers do the same at the same time, and counts their answers by status. Each process of the function
// is held at its transaction until all n have arrived, so that all have decided on the same state.
func race(t *testing.T, w *harness.World, n int, function string,
	call func(i int) (harness.Answer, error)) (map[int]int, []harness.Answer) {
	t.Helper()
	barrier := w.Front.Barrier(n, func(c *storefront.Call) bool {
		return c.Function == function && c.Operation == "TransactWriteItems"
	})
	answers := make([]harness.Answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			a, err := call(i)
			expect.That(t, err == nil, "caller %d: %v", i, err)
			answers[i] = a
		})
	}
	if err := meet(t, barrier); err != nil {
		t.Fatalf("the callers did not meet at the barrier: %d of %d: %v", barrier.Arrived(), n, err)
	}
	wg.Wait()
	counts := map[int]int{}
	for _, a := range answers {
		counts[a.Status]++
	}
	return counts, answers
}

// meet waits until the callers of a race are at the barrier; a minute is enough for a slow machine.
func meet(t *testing.T, b *storefront.Barrier) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return b.Wait(ctx)
}

// TestRace_AHaltBeside40Promotions_IsMadeWithThem: all are in flight at once, as a reservation of 41 executions lets them be.
func TestRace_AHaltBeside40Promotions_IsMadeWithThem(t *testing.T) {
	w, owner := begin(t, harness.WithProcesses(41))
	paths := make([]string, 41)
	for i := range paths {
		paths[i] = start(t, owner, fmt.Sprint("gateway-", i))
	}
	counts, _ := race(t, w, 41, "update-rollout", func(i int) (harness.Answer, error) {
		return owner.Try(http.MethodPatch, paths[i], []string{`{"staged_percent":10}`, `{"status":"halted"}`}[i/40])
	})
	expect.Equal(t, counts, map[int]int{http.StatusNoContent: 41}, "answers")
	owner.Get(t, paths[40]).Has(t, `{"status":"halted"}`)
}

func TestRace_50StartsOnOneChannel_LeaveOneRollout(t *testing.T) {
	w, owner := published(t, harness.WithProcesses(50))
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	counts, answers := race(t, w, 50, "start-rollout", func(int) (harness.Answer, error) {
		return owner.Try(http.MethodPost, "/api/ota/rollouts", plan("gateway-x", "stable", "1.1.0"))
	})
	expect.Equal(t, counts, map[int]int{http.StatusCreated: 1, http.StatusConflict: 49}, "answers")
	for _, a := range answers {
		if a.Status == http.StatusConflict {
			a.Refused(t, problem.RolloutActive)
		}
	}
	expect.Equal(t, len(w.Items(t, dynamo.Rollouts)), 1, "rollouts that are stored:")
	expect.Equal(t, len(w.Items(t, dynamo.Audit)), 3, "audit events:")
}

func TestRace_PublishingAVersionWithTwoDigests_OneWinsForEver(t *testing.T) {
	w, owner := begin(t, harness.WithProcesses(20))
	counts, _ := race(t, w, 20, "publish-release", func(i int) (harness.Answer, error) {
		// Twenty channels, two digests, one version.
		return owner.Try(http.MethodPut, channelPath("gateway-x", fmt.Sprintf("c%d", i)), release("1.0.0", digest([]string{"a", "b"}[i%2])))
	})
	expect.Must(t, counts[http.StatusCreated] != 0 && counts[http.StatusCreated]+counts[http.StatusConflict] == 20,
		"answers: %v", counts)
	releases := w.Items(t, dynamo.Releases)
	expect.Must(t, len(releases) == 1, "releases: %v", releases)
	for _, c := range w.Items(t, dynamo.Channels) {
		expect.Equal(t, c["sha256"], releases[0]["sha256"], "channel %v has other bytes than the release %v", c, releases[0])
	}
	expect.Equal(t, len(w.Items(t, dynamo.Channels)), counts[http.StatusCreated], "channels after %v:", counts)
}

const method = `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`

// factory registers a factory of an organization.
func factory(t testing.TB, w *harness.World, slug, organization string) {
	t.Helper()
	w.Owner(t).Put(t, "/api/factories/"+slug, fmt.Sprintf(`{"organizationId":%q,"name":"A factory"}`, organization)).Is(t, http.StatusCreated)
}

// id returns the last segment of a path.
func id(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func eventNames(w *harness.World, t testing.TB, resourceType, id string) []string {
	t.Helper()
	var names []string
	for _, e := range w.Events(t, resourceType, id) {
		names = append(names, e["eventName"].(string))
	}
	return names
}

// TestRace_PutsOfOneNewThing_OneMadeIt makes two callers put the same new thing: both succeed, and only the one who
// made it learns that it is new.
func TestRace_PutsOfOneNewThing_OneMadeIt(t *testing.T) {
	for _, op := range table.All {
		if op.Method != http.MethodPut || !samples.Audited(op) || samples.Of(op.ID).Status != http.StatusCreated {
			continue // it makes nothing
		}
		if op.ID == "put-artifact" {
			continue // both learn where to upload; see TestRace_UploadsOfOneDigest_KeepOneObject
		}
		t.Run(op.ID, func(t *testing.T) {
			w := harness.New(t)
			put := w.Session(t, samples.Fixed()).Call(t, op.ID)
			caller := w.By(t, put)
			counts, _ := race(t, w, 2, op.ID, func(int) (harness.Answer, error) {
				return caller.Try(put.Method, put.Path, put.Body)
			})
			expect.Equal(t, counts, map[int]int{http.StatusCreated: 1, http.StatusNoContent: 1}, "answers")
		})
	}
}
