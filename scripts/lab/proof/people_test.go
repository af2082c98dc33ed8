package proof

import (
	"fmt"
	"slices"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
)

// A person is a caller: a person or a box.
type person struct {
	auth.Principal
	caller *harness.Caller
}

// readsAll reports whether the person is allowed to read everything that the operation shows.
func (p person) readsAll(op operations.Operation) bool {
	return p.Has(auth.PlatformOwner) || p.Has(auth.PlatformViewer) && slices.Contains(op.Roles, auth.PlatformViewer)
}

func (p person) nobody() bool { return p.UserID == "" }

// organizations are the tenants of a run.
var organizations = []string{"acme", "rival", "third"}

// secret is a word in everything that people of an organization write, and in nothing else. An
// answer to anyone outside of the organization must not contain it.
func secret(organization string) string { return "secret-of-" + organization }

// people are the callers of a run: platform owners, a viewer, people of each organization with
// each role and without a role, boxes, a person without an organization, and a caller without a
// token.
func people(t testing.TB, target harness.Target) []person {
	var all []person
	add := func(issuer, user, organization string, roles ...auth.Role) {
		all = append(all, person{
			Principal: auth.Principal{Issuer: issuer, UserID: user, OrganizationID: organization, Roles: roles},
			caller:    target.As(t, user, organization, roles...),
		})
	}
	add(devissuer.People, "olga", "wavegate", auth.PlatformOwner)
	add(devissuer.People, "oskar", "wavegate", auth.PlatformOwner)
	add(devissuer.People, "orla", "acme", auth.PlatformOwner, auth.OrganizationAdmin)
	for _, o := range organizations {
		add(devissuer.People, "anna-"+o, o, auth.OrganizationAdmin)
		add(devissuer.People, "eric-"+o, o, auth.ProductionEngineer)
		add(devissuer.People, "mara-"+o, o)
		add(devissuer.People, "fritz-"+o, o, auth.FleetViewer)
	}
	add(devissuer.People, "vera", "wavegate", auth.PlatformViewer)
	for i := range 4 {
		add(devissuer.Fleet, fmt.Sprintf("edge-%d", i), "", auth.Edge)
	}
	add(devissuer.People, "paul", "")
	return append(all, person{caller: target.Nobody()})
}
