package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestImportedBox_IsToldNothingNewUntilItSaysWhatItRuns, is asked at each poll, and is counted; then it is told, with an action above
// those of its other server.
func TestImportedBox_IsToldNothingNewUntilItSaysWhatItRuns(t *testing.T) {
	w, owner := published(t, quick, withForeignTokens)
	owner.Post(t, "/api/edges", importedWith(hawkBits, `,"imported":{"actionsAbove":2000000}`)).Is(t, http.StatusOK)
	c := w.With("TargetToken", hawkBits)
	for range 4 {
		a := base(t, c, "box-1")
		expect.That(t, a.Links.ConfigData != nil && a.Links.DeploymentBase == nil, "it is told %+v", a.Links)
		c.Post(t, ddiPath("acme", "box-1")+"/deploymentBase/1999999/feedback", feedback("closed", "success", "")).Is(t, http.StatusOK)
	}
	known := why(t, owner, "box-1")
	expect.That(t, known.Reason == "imported" && known.Version == "" && len(known.Heard) == 1 && strings.Contains(known.Sentence, "has not said what it runs. It is asked"), "known as %+v", known)
	owner.Get(t, channel+"/progress").Has(t, `{"importedUnknown":1,"unknown":1}`)
	warned := owner.Put(t, channel, described("1.1.0", digest("b"))).Is(t, http.StatusNoContent).Header.Get("Wavegate-Warning")
	expect.That(t, strings.Contains(warned, "1 that come from another server and have not said what they run"), "warned %q", warned)
	w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest").Refused(t, problem.NotFound)

	c.Put(t, ddiPath("acme", "box-1")+"/configData", `{"data":{"installed":"1.0.0"}}`).Is(t, http.StatusOK)
	a := base(t, c, "box-1")
	expect.Must(t, a.Links.DeploymentBase != nil, "it is told %+v", a.Links)
	_, action, _ := strings.Cut(linked(t, w, a.Links.DeploymentBase), "/deploymentBase/")
	n, err := strconv.Atoi(action)
	expect.That(t, err == nil && n > 2000000 && n < 2001000, "the action is %s", action)
	knows(t, owner, "box-1", "1.1.0", report.Offered)
}

// TestImportedBox_OfWhichSomebodySaysWhatItRuns_IsNotToldThatAgain, but the next release.
func TestImportedBox_OfWhichSomebodySaysWhatItRuns_IsNotToldThatAgain(t *testing.T) {
	w, owner := published(t, quick, withForeignTokens)
	owner.Post(t, "/api/edges", importedWith(hawkBits, `,"imported":{}`)).Is(t, http.StatusOK)
	c := w.With("TargetToken", hawkBits)
	base(t, c, "box-1")
	owner.Put(t, boxPath, strings.Replace(box, "}", `,"imported":{"version":"1.0.0"}}`, 1)).Is(t, http.StatusNoContent)
	owner.Get(t, boxPath).Has(t, `{"running":"1.0.0"}`)
	const assumed = "It counts as running 1.0.0 because somebody said so; the box has not."
	known := why(t, owner, "box-1")
	expect.That(t, strings.Contains(known.Sentence, assumed), "why says %s", known.Sentence)
	for range 3 {
		a := base(t, c, "box-1")
		expect.That(t, a.Links.DeploymentBase == nil, "it is told %+v", a.Links)
	}
	owner.Put(t, channel, described("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	a := base(t, c, "box-1")
	expect.That(t, a.Links.DeploymentBase != nil, "it is told %+v", a.Links)
	c.Put(t, ddiPath("acme", "box-1")+"/configData", `{"data":{"installed":"1.0.0"}}`).Is(t, http.StatusOK)
	expect.That(t, !strings.Contains(why(t, owner, "box-1").Sentence, "somebody said so"), "the box has said it")
	refused := owner.Put(t, boxPath, strings.Replace(box, "}", `,"imported":{"version":"0.9.0"}}`, 1)).Refused(t, problem.Conflict)
	expect.That(t, strings.Contains(refused.Detail, "has itself said that it runs 1.0.0"), "refused with %s", refused.Detail)
	owner.Put(t, boxPath, strings.Replace(box, "}", `,"imported":{"actionsAbove":-1,"version":"../1","note":1}}`, 1)).Refused(t, problem.ValidationFailed)
}

// TestSWUpdate_OfAnotherServer_ComesWithItsConfiguration: its tenant, its token and a path without /api/ddi. It installs nothing that it
// has, and then the next release.
func TestSWUpdate_OfAnotherServer_ComesWithItsConfiguration(t *testing.T) {
	expect.Full(t)
	d := newDepot(t)
	w, owner := published(t, atRoot, withForeignTokens, withSettings("DDI_TENANTS=acme=DEFAULT"))
	owner.Post(t, "/api/edges", importedWith(hawkBits, `,"imported":{"actionsAbove":517}`)).Is(t, http.StatusOK)
	asThere := []string{"-t", "DEFAULT", "-u", server(w)}
	first := d.swupdate(t, w, "box-1", hawkBits, "1.0.0", asThere...)
	runs(t, owner, "box-1", "1.0.0")
	expect.That(t, why(t, owner, "box-1").Report == nil, "it was told something before")
	owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusNoContent)
	expect.Until(t, "SWUpdate has installed the image", func() bool { return first.says("Update successful") && d.installed("1.1.0") })
	first.stop()
	d.swupdate(t, w, "box-1", hawkBits, "1.1.0", append(asThere, "-c", "2")...)
	reportsAs(t, owner, "box-1", "1.1.0", report.Installed)
}
