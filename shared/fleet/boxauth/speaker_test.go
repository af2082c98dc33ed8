package boxauth_test

import (
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/testing/expect"
)

func TestPrincipal_OfAGateway_IsTheBoxThatTheCallNames(t *testing.T) {
	_, own := boxtoken.New(boxtoken.Box, "box-1")
	_, gateway := boxtoken.New(boxtoken.Gateway, "acme")
	_, rival := boxtoken.New(boxtoken.Gateway, "rival")
	box, acme := boxtoken.CallerFor(own.Principal("acme", fleetA), "box-2"), boxtoken.CallerFor(gateway.Principal("acme", ""), "box-2")
	if box.UserID != "box-1" || acme.UserID != "box-2" || !box.Has(auth.Edge) || box.Has(auth.Member) || acme.Has(auth.Member) {
		t.Errorf("the callers are %+v and %+v", box, acme)
	}
	expect.That(t, boxtoken.CallerFor(gateway.Principal("acme", ""), "../1").UserID == "acme",
		"a gateway called with an invalid box id")
	other := boxtoken.CallerFor(rival.Principal("rival", ""), "box-2")
	expect.That(t, other.User() != acme.User(), "two organizations share a caller")
	jwt := auth.Principal{Issuer: "https://fleet.example", UserID: "box-1"}
	if boxtoken.KindOf(box) != boxtoken.Box || boxtoken.KindOf(acme) != boxtoken.Gateway || boxtoken.KindOf(jwt) != "" {
		t.Error("the kinds are wrong")
	}
}

func TestNamed_ABoxKnowsOfNoOther_AndSomeRolesMayLook(t *testing.T) {
	box := auth.Principal{UserID: "box-1", Roles: []auth.Role{auth.Edge}}
	owner := auth.Principal{UserID: "olga", Roles: []auth.Role{auth.PlatformOwner}}
	for name, c := range map[string]struct {
		caller auth.Principal
		look   []auth.Role
		may    bool
	}{
		"the box":            {box, nil, true},
		"another box":        {auth.Principal{UserID: "box-2", Roles: box.Roles}, []auth.Role{auth.PlatformOwner}, false},
		"a person":           {owner, nil, false},
		"a person who looks": {owner, []auth.Role{auth.PlatformOwner}, true},
	} {
		expect.Equal(t, boxauth.Named(c.caller, "box-1", c.look...) == nil, c.may, "%s:", name)
	}
}
