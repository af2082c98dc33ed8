package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/testing/expect"
)

// TestSWUpdate_ItsPlantIsClosed_InstallsOnceItOpens: a client that knows nothing of windows.
func TestSWUpdate_ItsPlantIsClosed_InstallsOnceItOpens(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		owner.Put(t, plantPath, updating(farAway())).Is(t, http.StatusCreated)
		token := enrol(t, owner, "box-1")
		owner.Put(t, "/api/edges/box-1", strings.Replace(box, "}", `,"factoryId":"munich-1"}`, 1)).Is(t, http.StatusNoContent)
		b := d.swupdate(t, w, "box-1", token, "1.0.0")
		runs(t, owner, "box-1", "1.0.0")
		owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusNoContent)
		time.Sleep(5 * time.Second) // it polls every second
		if known := why(t, owner, "box-1"); known.Source != decide.FromWaits || d.installed("1.1.0") {
			t.Errorf("known as %+v, installed: %t", known, d.installed("1.1.0"))
		}
		owner.Put(t, plantPath, updating(`{"windows":[]}`)).Is(t, http.StatusNoContent)
		expect.Until(t, "SWUpdate has installed the image", func() bool { return b.says("Update successful") && d.installed("1.1.0") })
	})
}
