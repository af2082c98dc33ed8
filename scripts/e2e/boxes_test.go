package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// quick makes boxes poll every second.
func quick(o *service.Options) {
	withSettings(setting.PollIntervalSeconds.Assign(1), setting.IdlePollIntervalSeconds.Assign(1), setting.ChannelCacheSeconds.Assign(0))(o)
}

// enrol registers a box and returns a token for it.
func enrol(t *testing.T, owner *harness.Caller, id string) string {
	t.Helper()
	owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
	return owner.SetToken(t, "/api/edges/"+id+"/token")
}

// why returns what the service knows about a box.
func why(t *testing.T, owner *harness.Caller, id string) census.Why {
	t.Helper()
	var known census.Why
	owner.Get(t, "/api/edges/"+id+"/update/why").Is(t, http.StatusOK).Into(t, &known)
	return known
}

// knows checks the version and the state of a box's last report, and returns what the service knows about the box.
func knows(t *testing.T, owner *harness.Caller, id, version string, state report.State) census.Why {
	t.Helper()
	known := why(t, owner, id)
	expect.Must(t, at(known, version, state), "%s is known as %+v, its report as %+v", id, known, known.Report)
	return known
}

// reportsAs waits for a box's report of a version and a state.
func reportsAs(t *testing.T, owner *harness.Caller, id, version string, state report.State) {
	t.Helper()
	expect.Until(t, id+" reports "+version+" as "+string(state), func() bool { return at(why(t, owner, id), version, state) })
}

// runs waits until a box reports that it runs a version.
func runs(t *testing.T, owner *harness.Caller, id, version string) {
	t.Helper()
	expect.Until(t, id+" runs "+version, func() bool { return why(t, owner, id).Running == version })
}

func at(known census.Why, version string, state report.State) bool {
	return known.Report != nil && known.Report.Version == version && known.Report.State == state
}

// TestPins_Refused_AloneAndInABatch: below what the box runs, of a box that never said what it runs, and to a version that was
// never published.
func TestPins_Refused_AloneAndInABatch(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	for order, version := range []string{"1.0.0", "2.0.0"} {
		body := strings.TrimSuffix(release(version, digest(string("ab"[order]))), "}") + fmt.Sprintf(`,"order":%d}`, order+1)
		owner.Put(t, channelPath("gateway-x", "stable"), body).Is(t, map[string]int{"1.0.0": http.StatusCreated, "2.0.0": http.StatusNoContent}[version])
	}
	const place = `"edgeType":"gateway-x","channel":"stable","organizationId":"acme"`
	for _, box := range []string{"box-1", "box-2"} {
		owner.Put(t, "/api/edges/"+box, "{"+place+"}").Is(t, http.StatusCreated)
	}
	w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest?installed=2.0.0").Is(t, http.StatusOK)
	for name, c := range map[string]struct {
		box, pin string
		code     problem.Code
	}{
		"down":                  {"box-1", `{"version":"1.0.0","reason":"a test"}`, problem.DowngradeRefused},
		"what it never said":    {"box-2", `{"installed":true,"reason":"a test"}`, problem.EdgeNotReported},
		"to what is no release": {"box-1", `{"version":"9.9.9","reason":"a test"}`, problem.ReleaseNotPublished},
	} {
		t.Run(name, func(t *testing.T) {
			owner.Put(t, "/api/edges/"+c.box, "{"+place+`,"pin":`+c.pin+"}").Refused(t, c.code)
			owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"`+c.box+`",`+place+`,"pin":`+c.pin+"}]}").Refused(t, c.code)
			if shown := owner.Get(t, "/api/edges/"+c.box).Object(t); shown["pin"] != nil {
				t.Errorf("it is pinned: %v", shown["pin"])
			}
		})
	}
}
