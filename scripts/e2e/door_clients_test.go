//go:build full

package e2e

import (
	"cmp"
	"testing"

	"wavegate/scripts/e2e/harness"
)

// server is what DDI clients take for the service: the door, if there is one.
func server(w *harness.World) string { return cmp.Or(w.DoorURL, w.Target.URL) }

// TestSWUpdate_AtTheDoor_IsInstalledOnceTheBoxHasRebooted: at the URL of the door, the client sees no difference.
func TestSWUpdate_AtTheDoor_IsInstalledOnceTheBoxHasRebooted(t *testing.T) {
	if d := newDepot(t); d != nil {
		w, owner := begin(t, quick, harness.WithDoor())
		_, writes, end := calls(w)
		defer end()
		installsOnce(t, d, w, owner)
		if writes.Load() == 0 {
			t.Error("SWUpdate did not come through the door")
		}
	}
}
