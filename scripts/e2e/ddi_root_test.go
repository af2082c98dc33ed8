package e2e

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/report"
)

// TestDDI_AtTheRoot_IsTheSame, for all six operations: for clients that cannot have a path in the server's URL. Links stay
// where the client polls.
func TestDDI_AtTheRoot_IsTheSame(t *testing.T) {
	w := harness.New(t, atRoot)
	owner := w.Owner(t)
	owner.Put(t, channel, described("1.1.0", digest("a"))).Is(t, http.StatusCreated)
	c := plain{"TargetToken " + enrol(t, owner, "box-1"), w.Target.URL}
	root := w.Target.URL + "/acme/controller/v1/box-1"
	if got := c.call(t, http.MethodGet, root+"/", ""); !strings.Contains(got, `"configData":{"href":"`+root+`/configData"}`) {
		t.Fatalf("the first poll is answered with %s", got)
	}
	c.call(t, http.MethodPut, root+"/configData", `{"data":{"installed":"1.0.0"}}`)
	action := between(t, c.call(t, http.MethodGet, root, ""), `"deploymentBase":{"href":"`, `"`)
	if got := c.call(t, http.MethodGet, action+"&actionHistory=-1", ""); !strings.HasPrefix(action, root+"/deploymentBase/") || !strings.Contains(got, `"version":"1.1.0"`) {
		t.Fatalf("%s is answered with %s", action, got)
	}
	action, _, _ = strings.Cut(action, "?")
	c.call(t, http.MethodPost, action+"/feedback", feedback("proceeding", "none", "Downloading"))
	owner.Put(t, channel, described("1.0.0", digest("b"))).Is(t, http.StatusNoContent)
	cancel := between(t, c.call(t, http.MethodGet, root, ""), `"cancelAction":{"href":"`, `"`)
	if got := c.call(t, http.MethodGet, cancel, ""); !strings.HasPrefix(cancel, root) || !strings.Contains(got, `"stopId"`) {
		t.Fatalf("%s is answered with %s", cancel, got)
	}
	c.call(t, http.MethodPost, cancel+"/feedback", feedback("closed", "success", "cancellation acknowledged."))
	if known := why(t, owner, "box-1"); !at(known, "1.1.0", report.Working) || !known.Report.Cancelled || known.Running != "1.0.0" {
		t.Errorf("known as %+v, its report as %+v", known, known.Report)
	}
}

// TestDDI_AtTheRoot_IsServedOnRequestAlone.
func TestDDI_AtTheRoot_IsServedOnRequestAlone(t *testing.T) {
	w := harness.New(t, quick)
	w.Box(t, "box-1").Get(t, "/acme/controller/v1/box-1").Is(t, http.StatusNotFound)
}
