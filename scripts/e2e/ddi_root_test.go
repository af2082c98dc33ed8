package e2e

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestDDI_AtTheRoot_IsTheSame, for all six operations: for clients that cannot have a path in the server's URL. Links stay
// where the client polls.
func TestDDI_AtTheRoot_IsTheSame(t *testing.T) {
	w, owner := begin(t, atRoot)
	owner.Put(t, channel, described("1.1.0", digest("a"))).Is(t, http.StatusCreated)
	token := "TargetToken " + enrol(t, owner, "box-1")
	call := func(method, url, body string) string {
		t.Helper()
		return string(ask(t, method, url, body, "Authorization", token).Is(t, http.StatusOK).Body)
	}
	root := w.Target.URL + "/acme/controller/v1/box-1"
	if got := call(http.MethodGet, root+"/", ""); !strings.Contains(got, `"configData":{"href":"`+root+`/configData"}`) {
		t.Fatalf("the first poll is answered with %s", got)
	}
	call(http.MethodPut, root+"/configData", `{"data":{"installed":"1.0.0"}}`)
	action := between(t, call(http.MethodGet, root, ""), `"deploymentBase":{"href":"`, `"`)
	told := call(http.MethodGet, action+"&actionHistory=-1", "")
	if !strings.HasPrefix(action, root+"/deploymentBase/") || !strings.Contains(told, `"version":"1.1.0"`) {
		t.Fatalf("%s is answered with %s", action, told)
	}
	action, _, _ = strings.Cut(action, "?")
	call(http.MethodPost, action+"/feedback", feedback("proceeding", "none", "Downloading"))
	owner.Put(t, channel, described("1.0.0", digest("b"))).Is(t, http.StatusNoContent)
	cancel := between(t, call(http.MethodGet, root, ""), `"cancelAction":{"href":"`, `"`)
	if got := call(http.MethodGet, cancel, ""); !strings.HasPrefix(cancel, root) || !strings.Contains(got, `"stopId"`) {
		t.Fatalf("%s is answered with %s", cancel, got)
	}
	call(http.MethodPost, cancel+"/feedback", feedback("closed", "success", "cancellation acknowledged."))
	known := knows(t, owner, "box-1", "1.1.0", report.Working)
	expect.Equal(t, known.Report.Cancelled, true, "it is cancelled:")
	expect.Equal(t, known.Running, "1.0.0", "it runs")
}

// TestDDI_AtTheRoot_IsServedOnRequestAlone.
func TestDDI_AtTheRoot_IsServedOnRequestAlone(t *testing.T) {
	w := harness.New(t, quick)
	w.Box(t, "box-1").Get(t, "/acme/controller/v1/box-1").Is(t, http.StatusNotFound)
}
