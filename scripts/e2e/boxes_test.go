package e2e

import (
	"net/http"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
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
	if !at(known, version, state) {
		t.Fatalf("%s is known as %+v, its report as %+v", id, known, known.Report)
	}
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
