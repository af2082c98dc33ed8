package edge

import (
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
)

// TestInstaller_GivesNoTokenToABoxThatHasPolled: it may have polled without a token of its own, through another issuer
// or a gateway.
func TestInstaller_GivesNoTokenToABoxThatHasPolled(t *testing.T) {
	installer, admin := auth.Principal{Roles: []auth.Role{auth.FleetInstaller}}, auth.Principal{Roles: []auth.Role{auth.OrganizationAdmin}}
	for name, row := range map[string]report.Row{
		"it was told a version": {Told: "1.0.0"}, "it said what it runs": {Running: "1.0.0"}, "it was counted": {Subject: "x"}, "it was offered a version": {Offer: &report.Offer{}},
	} {
		if err := mayReplace(installer, row); !problem.Has(err, problem.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
		if err := mayReplace(admin, row); err != nil {
			t.Errorf("%s: an admin: %v", name, err)
		}
	}
	if err := mayReplace(installer, report.Row{}); err != nil {
		t.Error(err)
	}
}
