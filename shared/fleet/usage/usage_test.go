package usage

import (
	"fmt"
	"strings"
	"testing"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestRunning_BoxesThatClaimManyVersions_HideNoUse: 240 boxes of one organization claim 120 made-up versions, and the box of
// another one that runs 1.0.0 is among the listed versions, since that was published. If they claim 120 published ones, the list
// is cut, and may hide it.
func TestRunning_BoxesThatClaimManyVersions_HideNoUse(t *testing.T) {
	counted := func(claims int, published bool) census.ChannelVersions {
		all, known := &census.Versions{}, map[string]bool{"1.0.0": true, "2.0.0": true}
		all.Add(report.IndexEntry{EdgeID: "victim", Running: "1.0.0"})
		for n := range claims {
			all.Add(report.IndexEntry{EdgeID: fmt.Sprint("box-", n), Running: fmt.Sprint("made-up-", n/2)})
			known[fmt.Sprint("made-up-", n/2)] = published
		}
		return all.Among(known)
	}
	for _, c := range []struct {
		claims    int
		published bool
		want      string
	}{
		{0, false, "boxes of channel stable run 1.0.0: 1"},
		{198, true, "boxes of channel stable run 1.0.0: 1"}, // 99 versions, and this one
		{240, false, "boxes of channel stable run 1.0.0: 1"},
		{240, true, "boxes of channel stable may run it: 41 run versions beyond the 100 that most run"},
	} {
		expect.Equal(t, strings.Join(running("stable", counted(c.claims, c.published), []string{"1.0.0"}), "; "), c.want, "with %d claims, published %t", c.claims, c.published)
	}
	expect.Equal(t, len(running("stable", counted(240, false), []string{"2.0.0"})), 0, "uses of what nobody runs")
}
