package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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
	"wavegate/shared/testing/dynamolocal"
)

// race makes n callers do the same at the same time, and counts their answers by status. Each process of the function
// is held at its transaction until all n have arrived, so that all have decided on the same state.
func race(t *testing.T, w *harness.World, n int, function string, call func(i int) (harness.Answer, error)) (map[int]int, []harness.Answer) {
	t.Helper()
	barrier := w.Front.Barrier(n, func(c *storefront.Call) bool {
		return c.Function == function && c.Operation == "TransactWriteItems"
	})
	answers := make([]harness.Answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			a, err := call(i)
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
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

func TestRace_50Promotions_AreOneRaiseAndOneEvent(t *testing.T) {
	w := harness.New(t, harness.WithProcesses(50))
	owner := w.Owner(t)
	path := start(t, owner, "gateway-x")
	counts, _ := race(t, w, 50, "update-rollout", func(int) (harness.Answer, error) {
		return owner.Try(http.MethodPatch, path, `{"staged_percent":10}`)
	})
	t.Logf("answers: %v", counts)
	if counts[http.StatusNoContent] == 0 || counts[http.StatusNoContent]+counts[http.StatusConflict] != 50 {
		t.Errorf("answers: %v, want 204 or 409 for each", counts)
	}
	r := owner.Get(t, path).Object(t)
	if r["staged_percent"] != 10.0 || r["revision"] != 2.0 || r["status"] != "active" {
		t.Errorf("the rollout is %v", r)
	}
	if names := eventNames(w, t, "rollout", id(path)); !slices.Equal(names, []string{"RolloutStarted", "RolloutPromoted"}) {
		t.Errorf("%d events, want a start and one promotion", len(names))
	}
}

func TestRace_50PromotionsWithIfMatch_OneIsMadeAndTheOthersHearIt(t *testing.T) {
	w := harness.New(t, harness.WithProcesses(50))
	owner := w.Owner(t)
	path := start(t, owner, "gateway-x")
	counts, _ := race(t, w, 50, "update-rollout", func(int) (harness.Answer, error) {
		return owner.Try(http.MethodPatch, path, `{"staged_percent":10}`, "If-Match", `"1"`)
	})
	if counts[http.StatusNoContent] != 1 || counts[http.StatusPreconditionFailed] != 49 {
		t.Errorf("answers: %v, want one 204 and 49 times 412", counts)
	}
}

func TestRace_50StartsOnOneChannel_LeaveOneRollout(t *testing.T) {
	w := harness.New(t, harness.WithProcesses(50))
	owner := w.Owner(t)
	owner.Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	counts, answers := race(t, w, 50, "start-rollout", func(int) (harness.Answer, error) {
		return owner.Try(http.MethodPost, "/api/ota/rollouts", plan("gateway-x", "stable", "1.1.0"))
	})
	if counts[http.StatusCreated] != 1 || counts[http.StatusConflict] != 49 {
		t.Errorf("answers: %v, want one 201 and 49 times 409", counts)
	}
	for _, a := range answers {
		if a.Status == http.StatusConflict {
			a.Refused(t, problem.RolloutActive)
		}
	}
	if items := w.Items(t, dynamo.Rollouts); len(items) != 1 {
		t.Errorf("%d rollouts are stored", len(items))
	}
	if n := len(w.Items(t, dynamo.Audit)); n != 3 {
		t.Errorf("%d audit events, want 3: two publications and a start", n)
	}
}

func TestRace_200PostsWithOneKey_MakeOneMethodWithOneLocation(t *testing.T) {
	w := harness.New(t, harness.WithProcesses(50))
	factory(t, w, "munich-1", "acme")
	engineer := w.Engineer(t, "acme")
	const n = 200
	// 50 processes meet at the barrier; the other callers come after them.
	barrier := w.Front.Barrier(50, func(c *storefront.Call) bool {
		return c.Function == "create-production-method" && c.Operation == "TransactWriteItems"
	})
	locations := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			a, err := engineer.Try(http.MethodPost, "/api/factories/munich-1/production-methods", method, "Idempotency-Key", "one")
			if err != nil || a.Status != http.StatusCreated {
				t.Errorf("caller %d: %v, %d %s", i, err, a.Status, a.Body)
				return
			}
			locations[i] = a.Header.Get("Location")
		})
	}
	if err := meet(t, barrier); err != nil {
		t.Fatalf("%d callers met: %v", barrier.Arrived(), err)
	}
	wg.Wait()
	slices.Sort(locations)
	if distinct := slices.Compact(slices.Clone(locations)); len(distinct) != 1 || distinct[0] == "" {
		t.Errorf("%d locations, such as %q", len(distinct), distinct[0])
	}
	if items := w.Items(t, dynamo.Methods); len(items) != 1 || !strings.HasSuffix(locations[0], items[0]["methodId"].(string)) {
		t.Errorf("%d methods are stored, handed out was %s", len(items), locations[0])
	}
	if n := len(eventNames(w, t, "production-method", id(locations[0]))); n != 1 {
		t.Errorf("%d audit events", n)
	}
}

func TestRace_PublishingAVersionWithTwoDigests_OneWinsForEver(t *testing.T) {
	w := harness.New(t, harness.WithProcesses(20))
	owner := w.Owner(t)
	counts, _ := race(t, w, 20, "publish-release", func(i int) (harness.Answer, error) {
		// Twenty channels, two digests, one version.
		return owner.Try(http.MethodPut, channelPath("gateway-x", fmt.Sprintf("c%d", i)), release("1.0.0", digest([]string{"a", "b"}[i%2])))
	})
	if counts[http.StatusCreated] == 0 || counts[http.StatusCreated]+counts[http.StatusConflict] != 20 {
		t.Fatalf("answers: %v", counts)
	}
	releases := w.Items(t, dynamo.Releases)
	if len(releases) != 1 {
		t.Fatalf("releases: %v", releases)
	}
	for _, c := range w.Items(t, dynamo.Channels) {
		if c["sha256"] != releases[0]["sha256"] {
			t.Errorf("channel %v has other bytes than the release %v", c, releases[0])
		}
	}
	if n := len(w.Items(t, dynamo.Channels)); n != counts[http.StatusCreated] {
		t.Errorf("%d channels after %v", n, counts)
	}
}

func TestRace_PublishAgainstHalt_LeavesNoTornState(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	path := start(t, owner, "gateway-x")
	barrier := w.Front.Barrier(2, func(c *storefront.Call) bool { return c.Writes(dynamolocal.TableName(dynamo.Channels)) })
	var wg sync.WaitGroup
	var published, halted harness.Answer
	wg.Go(func() {
		published, _ = owner.Try(http.MethodPut, channelPath("gateway-x", "stable"), release("1.0.1", digest("c")))
	})
	wg.Go(func() { halted, _ = owner.Try(http.MethodPatch, path, `{"status":"halted"}`) })
	if err := meet(t, barrier); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	published.Is(t, http.StatusNoContent)
	halted.Is(t, http.StatusNoContent)
	if r := owner.Get(t, path).Object(t); r["status"] != "halted" || r["revision"] != 2.0 {
		t.Errorf("the rollout is %v, want it halted once", r)
	}
	row := w.Items(t, dynamo.Channels)
	i := slices.IndexFunc(row, func(m map[string]any) bool { return m["channel"] == "stable" })
	if row[i]["currentVersion"] != "1.0.1" {
		t.Errorf("the channel is %v", row[i])
	}
	if carried, ok := row[i]["rollout"].(map[string]any); ok && carried["active"] != false {
		t.Errorf("the channel still carries the rollout as active: %v", carried)
	}
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
		t.Run(op.ID, func(t *testing.T) {
			w := harness.New(t)
			put := w.Session(t, samples.Fixed()).Call(t, op.ID)
			caller := w.By(t, put)
			counts, _ := race(t, w, 2, op.ID, func(int) (harness.Answer, error) {
				return caller.Try(put.Method, put.Path, put.Body)
			})
			if counts[http.StatusCreated] != 1 || counts[http.StatusNoContent] != 1 {
				t.Errorf("answers: %v, want one 201 and one 204", counts)
			}
		})
	}
}
