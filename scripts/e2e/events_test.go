package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"wavegate/shared/fleet/census"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestEvents_TheScheduleOfTheTick_CountsTheActiveRollouts passes the tick's event to its function, twice: the second
// call finds nothing to count. The progress is that of the tick.
func TestEvents_TheScheduleOfTheTick_CountsTheActiveRollouts(t *testing.T) {
	w, owner := published(t, uncached)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	reached, _ := boxesOf("1.1.0", 1)
	owner.Put(t, "/api/edges/"+reached, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1"}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/stray", `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival","factoryId":"munich-1"}`).
		Refused(t, problem.FactoryNotInOrganization)
	rollout := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
	w.Box(t, reached).Get(t, manifestPath(reached)).Is(t, http.StatusOK)
	event := expect.Value(os.ReadFile(filepath.Join("..", "..", "events", "tick.json")))(t)
	for range 2 {
		expect.Value(w.Function(operations.Tick).Invoke(t.Context(), event))(t)
	}
	history := owner.Get(t, rollout+"/progress/history").Is(t, http.StatusOK).Object(t)
	moments, _ := history["items"].([]any)
	expect.That(t, len(moments) == 1 && moments[0].(map[string]any)["expected"] == 1.0,
		"two ticks at once left the history %v", history)
	expect.Equal(t, owner.Get(t, rollout+"/progress").Is(t, http.StatusOK).Object(t)["asOf"],
		moments[0].(map[string]any)["at"], "the progress is of")
	var by census.Progress
	owner.Get(t, rollout+"/progress?by=factory").Is(t, http.StatusOK).Into(t, &by)
	expect.That(t, len(by.Factories) == 1 && by.Factories[0].FactoryID == "munich-1" && by.Factories[0].Offered == 1 &&
		by.Silent.Of == 1 && by.Silent.Unknown == 0, "by factory: %+v", by)
}
