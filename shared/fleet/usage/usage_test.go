package usage

import (
	"fmt"
	"strings"
	"testing"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestRunning_BoxesThatClaimManyVersions_HideNoUse: 240 boxes of one organization claim 120 made-up versions, so the box of
// another one that runs 1.0.0 is not among the listed versions.
func TestRunning_BoxesThatClaimManyVersions_HideNoUse(t *testing.T) {
	counted := func(claims int) census.ChannelVersions {
		all := &census.Versions{}
		all.Add(report.IndexEntry{EdgeID: "victim", Running: "1.0.0"})
		for n := range claims {
			all.Add(report.IndexEntry{EdgeID: fmt.Sprint("box-", n), Running: fmt.Sprint("made-up-", n/2)})
		}
		list, others := all.List()
		return census.ChannelVersions{Versions: list, OtherVersions: others}
	}
	for claims, want := range map[int]string{
		0:   "boxes of channel stable run 1.0.0: 1",
		198: "boxes of channel stable run 1.0.0: 1", // 99 versions, and this one
		240: "boxes of channel stable may run it: 41 run versions beyond the 100 that most run",
	} {
		expect.Equal(t, strings.Join(running("stable", counted(claims), []string{"1.0.0"}), "; "), want, "with %d claims", claims)
	}
	expect.Equal(t, len(running("stable", counted(10), []string{"2.0.0"})), 0, "uses of what nobody runs")
}
