package census

import (
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestIncludes_TheBoxesOfTheRolloutTheStateAndTheOrganization(t *testing.T) {
	row := report.Row{Offer: &report.Offer{RolloutID: "r", State: report.Failed}}
	row.OrganizationID = "acme"
	for name, c := range map[string]struct {
		rollout, organization string
		state                 report.State
		want                  bool
	}{
		"of all":               {"r", "", report.Failed, true},
		"of its organization":  {"r", "acme", report.Failed, true},
		"of another state":     {"r", "acme", report.Installed, false},
		"of another":           {"r", "rival", report.Failed, false},
		"of another rollout's": {"s", "acme", report.Failed, false},
	} {
		list := RolloutBoxes{of: report.Search{RolloutID: c.rollout, State: c.state}, organization: c.organization}
		expect.Equal(t, list.includes(row, time.Time{}), c.want, "a list %s includes the box:", name)
	}
}
