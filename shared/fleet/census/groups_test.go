package census

import (
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestAdd_BadBoxes_AreAmongTheDecided: otherwise one of no boxes is bad, and its factory stops the rollout for all.
func TestAdd_BadBoxes_AreAmongTheDecided(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state        report.State
		code         report.FailureCode
		decided, bad int
	}{
		"it fell back": {report.Reverted, report.CodeReverted, 1, 1},
		"it fell back from a stone, and is told it again": {report.Offered, report.CodeReverted, 1, 1},
		"it fell back, and tries again":                   {report.Working, report.CodeReverted, 1, 1},
		"it has no space":                                 {report.Failed, report.CodeSpace, 1, 0},
		"it was told":                                     {report.Offered, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			census := NewCensus(onEveryBox(now), now)
			e := boxAt("a", c.state, c.code, now)
			e.FactoryID = "munich"
			census.Add(e)
			whole := guard.Share{Told: 1, Decided: c.decided, Bad: c.bad}
			expect.Equal(t, census.Groups.by[[2]string{guard.OfFactory, "munich"}][together], whole, "its factory has")
			expect.Equal(t, census.Groups.by[[2]string{guard.OfOrganization, "acme"}][together], whole, "its organization has")
		})
	}
}
