package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
)

// A visit is one call of one operation.
type visit struct {
	operation string
	call      func(testing.TB)
}

// visits calls every operation of the table, each after what it builds on.
func visits(t testing.TB, target harness.Target) []visit {
	owner, engineer, admin := target.Owner(t), target.Engineer(t, "acme"), target.Admin(t, "acme")
	// Another target may hold what an earlier run left, so every run has names of its own.
	own := func(name string) string { return harness.Name(fmt.Sprintf("%s-%d", name, os.Getpid())) }
	edgeType, factory, boxID := own("gateway"), "/api/factories/"+own("plant"), own("box")
	channel, box, limit := channelPath(edgeType, "stable"), "/api/edges/"+boxID, "/api/rate-limits/organizations/"+own("guest")
	prefix := strings.TrimPrefix(target.URL, "http://"+host(target.URL))
	var rollout, method string

	// has fails unless the list holds something.
	has := func(t testing.TB, a harness.Answer) {
		t.Helper()
		if items, _ := a.Is(t, http.StatusOK).Object(t)["items"].([]any); len(items) == 0 {
			t.Errorf("the list is empty: %s", a.Body)
		}
	}
	// shows fails unless the answer has the member with the value.
	shows := func(t testing.TB, a harness.Answer, member, value string) {
		t.Helper()
		if got := a.Is(t, http.StatusOK).Object(t)[member]; got != value {
			t.Errorf("%s is %v, want %s", member, got, value)
		}
	}
	return []visit{
		{"publish-release", func(t testing.TB) {
			owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
			owner.Put(t, channelPath(edgeType, "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
		}},
		{"get-release-channel", func(t testing.TB) { shows(t, owner.Get(t, channel), "currentVersion", "1.0.0") }},
		{"list-release-channels", func(t testing.TB) { has(t, owner.Get(t, "/api/ota/release-channels")) }},
		{"put-edge", func(t testing.TB) {
			owner.Put(t, box, fmt.Sprintf(`{"edgeType":%q,"channel":"stable","organizationId":"acme"}`, edgeType)).Is(t, http.StatusCreated)
		}},
		{"get-edge", func(t testing.TB) { shows(t, owner.Get(t, box), "edgeId", boxID) }},
		{"list-edges", func(t testing.TB) { has(t, owner.Get(t, "/api/edges?organizationId=acme")) }},
		{"get-manifest", func(t testing.TB) {
			shows(t, target.Box(t, boxID).Get(t, box+"/update/manifest"), "version", "1.0.0")
		}},
		{"start-rollout", func(t testing.TB) {
			location := owner.Post(t, "/api/ota/rollouts", plan(edgeType, "stable", "1.1.0")).Is(t, http.StatusCreated).Header.Get("Location")
			rollout = strings.TrimPrefix(location, prefix)
		}},
		{"get-rollout", func(t testing.TB) { shows(t, owner.Get(t, rollout), "targetVersion", "1.1.0") }},
		{"list-rollouts", func(t testing.TB) { has(t, owner.Get(t, "/api/ota/rollouts")) }},
		{"update-rollout", func(t testing.TB) {
			owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		}},
		{"put-factory", func(t testing.TB) {
			owner.Put(t, factory, `{"organizationId":"acme","name":"Plant"}`).Is(t, http.StatusCreated)
		}},
		{"get-factory", func(t testing.TB) { shows(t, engineer.Get(t, factory), "name", "Plant") }},
		{"list-factories", func(t testing.TB) { has(t, engineer.Get(t, "/api/factories")) }},
		{"create-production-method", func(t testing.TB) {
			location := engineer.Post(t, factory+"/production-methods", `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`).
				Is(t, http.StatusCreated).Header.Get("Location")
			method = strings.TrimPrefix(location, prefix)
		}},
		{"get-production-method", func(t testing.TB) { shows(t, engineer.Get(t, method), "name", "Milling") }},
		{"list-production-methods", func(t testing.TB) { has(t, engineer.Get(t, factory+"/production-methods")) }},
		{"put-machine", func(t testing.TB) {
			engineer.Put(t, factory+"/machines/press-1", `{"name":"Press"}`).Is(t, http.StatusCreated)
		}},
		{"get-machine", func(t testing.TB) { shows(t, engineer.Get(t, factory+"/machines/press-1"), "name", "Press") }},
		{"list-machines", func(t testing.TB) { has(t, engineer.Get(t, factory+"/machines")) }},
		{"list-factory-audit-events", func(t testing.TB) { has(t, admin.Get(t, factory+"/audit-events")) }},
		{"list-audit-events", func(t testing.TB) { has(t, owner.Get(t, "/api/audit-events")) }},
		{"put-rate-limit", func(t testing.TB) { owner.Put(t, limit, `{"limit":7000}`).Is(t, http.StatusCreated) }},
		{"get-rate-limit", func(t testing.TB) { owner.Get(t, limit).Is(t, http.StatusOK) }},
		{"delete-rate-limit", func(t testing.TB) { owner.Do(t, http.MethodDelete, limit, "").Is(t, http.StatusNoContent) }},
		{"get-my-rate-limits", func(t testing.TB) { engineer.Get(t, "/api/rate-limits/me").Is(t, http.StatusOK) }},
		// No target here has an assistant to ask.
		{"copilot", func(t testing.TB) { engineer.Get(t, "/api/copilot/threads").Refused(t, problem.Unavailable) }},
	}
}

// TestOperations_EachCalledOnce is the least that a deployment must do: every operation of the table,
// through its own route and function, on every target.
func TestOperations_EachCalledOnce(t *testing.T) {
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) {
			called := map[string]bool{}
			for _, v := range visits(t, target) {
				called[v.operation] = true
				t.Run(v.operation, func(t *testing.T) { v.call(t) })
			}
			for _, op := range operations.Table {
				if !called[op.ID] {
					t.Errorf("nothing calls %s", op.ID)
				}
			}
			t.Run("without a token", func(t *testing.T) {
				target.Nobody().Get(t, "/api/factories").Is(t, http.StatusUnauthorized)
			})
		})
	}
}
