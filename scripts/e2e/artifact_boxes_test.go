package e2e

import (
	"crypto/sha1"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// described is the wish to upload a file, with its SHA-1.
func (f file) described() string {
	return strings.Replace(f.wish(), "}", fmt.Sprintf(`,"sha1":"%x"}`, sha1.Sum([]byte(f))), 1)
}

// TestSWUpdate_ArtifactThatTheServiceKeeps_IsInstalled: the publication has nothing but the digest.
func TestSWUpdate_ArtifactThatTheServiceKeeps_IsInstalled(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		d.image(t, "1.1.0", false)
		bytes := expect.Value(os.ReadFile(filepath.Join(d.dir, "1.1.0.swu")))(t)
		image := file(bytes)
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		token := enrol(t, owner, "box-1")
		first := d.swupdate(t, w, "box-1", token, "1.0.0")
		runs(t, owner, "box-1", "1.0.0")
		keep(t, owner, image)
		owner.Put(t, channel, image.publish("1.1.0")).Is(t, http.StatusNoContent)
		expect.Until(t, "SWUpdate has installed the image", func() bool { return first.says("Update successful") && d.installed("1.1.0") })
		first.stop()
		d.swupdate(t, w, "box-1", token, "1.1.0", "-c", "2")
		reportsAs(t, owner, "box-1", "1.1.0", report.Installed)
	})
}

// TestBoxClients_ArtifactThatTheServiceKeeps_IsInstalled, by both reference clients.
func TestBoxClients_ArtifactThatTheServiceKeeps_IsInstalled(t *testing.T) {
	expect.Full(t)
	eachClient(t, 2400, func(t *testing.T, b *listeningBox) {
		owner, image := b.Owner(t), file(imageOf("1.1.0"))
		b.runs(t, "1.0.0")
		keep(t, owner, image)
		owner.Put(t, channel, image.publish("1.1.0")).Is(t, http.StatusNoContent)
		b.runs(t, "1.1.0")
	})
}
