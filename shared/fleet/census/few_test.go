package census

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestFew_OneOrganizationsBoxesFail_AndSomeOfTheOthersAreOff: three boxes of acme are bad, all that it has. The others have 24.
func TestFew_OneOrganizationsBoxesFail_AndSomeOfTheOthersAreOff(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for off, want := range []string{"acme", "acme", "acme", ""} {
		f := NewCensus(onEveryBox(now), now).Groups.newFew()
		f.untold["lyon"] = guard.Group{Boxes: 11}
		harm := func(organization string, i int, silent bool) {
			f.harm(report.IndexEntry{OrganizationID: organization, FactoryID: fmt.Sprint(organization, i)}, silent)
		}
		for i := range 3 {
			harm("acme", i, false)
		}
		for i := range off {
			harm("other", i, true)
		}
		f.told["other"] += 24 - off
		expect.Equal(t, *f.look(), guard.Few{At: now, Told: 27, Bad: 3, Harmed: 3 + off, Factories: 3 + off, Untold: 11, Only: want}, "with %d off, it sees", off)
	}
}
