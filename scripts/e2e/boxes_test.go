package e2e

import (
	"net/http"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
)

// quick makes boxes poll every second.
func quick(o *service.Options) {
	o.Environment = func(string) []string {
		return []string{setting.PollIntervalSeconds.Assign(1), setting.IdlePollIntervalSeconds.Assign(1), setting.ChannelCacheSeconds.Assign(0)}
	}
}

// eventually waits until a condition holds, for two minutes at most.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened: %s", what)
		}
	}
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

func at(known census.Why, version string, state report.State) bool {
	return known.Report != nil && known.Report.Version == version && known.Report.State == state
}
