package e2e

import (
	"cmp"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/testing/expect"
)

// server is what DDI clients take for the service: the door, if there is one.
func server(w *harness.World) string { return cmp.Or(w.DoorURL, w.Target.URL) }

// TestSWUpdate_AtTheDoor_IsInstalledOnceTheBoxHasRebooted: at the URL of the door, the client sees no difference.
func TestSWUpdate_AtTheDoor_IsInstalledOnceTheBoxHasRebooted(t *testing.T) {
	expect.Full(t)
	d := newDepot(t)
	w, owner := begin(t, quick, harness.WithDoor())
	_, writes, end := calls(w)
	defer end()
	installsOnce(t, d, w, owner)
	expect.That(t, writes.Load() > 0, "SWUpdate did not come through the door")
}
