package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// TestSupport_ThatEnded_IsTroubleWhereverItIsLookedFor: for the manufacturer, and for the organization whose box runs the version.
func TestSupport_ThatEnded_IsTroubleWhereverItIsLookedFor(t *testing.T) {
	t.Parallel()
	w, owner := published(t, uncached)
	owner.Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	w.Box(t, "box-1").Get(t, manifestPath("box-1")+"?installed=1.0.0").Is(t, http.StatusOK)
	ended := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	owner.Put(t, "/api/ota/releases/gateway-x/1.0.0", `{"supportedUntil":"`+ended+`"}`).Is(t, http.StatusCreated)
	for range 2 {
		expect.OK(t, w.RunTask(t.Context(), operations.Tick))
	}
	anna := w.As(t, "anna", "acme", auth.OrganizationAdmin)
	for path, by := range map[string]*harness.Caller{"/api/ota/overview": owner, "/api/organizations/acme/fleet": anna} {
		text := string(by.Get(t, path).Is(t, http.StatusOK).Body)
		expect.That(t, strings.Contains(text, `"support":[{"organizationId":"acme","edgeType":"gateway-x","version":"1.0.0","supportedUntil":"`) && strings.Contains(text, `"boxes":1}]`),
			"%s is %s", path, text)
	}
	why := string(anna.Get(t, "/api/edges/box-1/update/why").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(why, "The support of 1.0.0, which it runs, ended at "), "why is %s", why)
	events := w.Events(t, census.SupportType, "acme/gateway-x/1.0.0")
	expect.That(t, len(events) == 1 && events[0]["eventName"] == census.SupportEnded && events[0]["organizationId"] == "acme", "the events are %v", events)
}
