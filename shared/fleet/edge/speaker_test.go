package edge_test

import (
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
)

func TestPrincipal_OfAGateway_IsTheBoxThatTheCallNames(t *testing.T) {
	_, own := boxtoken.New(boxtoken.Box, "box-1")
	_, gateway := boxtoken.New(boxtoken.Gateway, "acme")
	_, rival := boxtoken.New(boxtoken.Gateway, "rival")
	box, acme := edge.CallerFor(own.Principal("acme"), "box-2"), edge.CallerFor(gateway.Principal("acme"), "box-2")
	if box.UserID != "box-1" || acme.UserID != "box-2" || !box.Has(auth.Edge) || box.Has(auth.Member) || acme.Has(auth.Member) {
		t.Errorf("the callers are %+v and %+v", box, acme)
	}
	if edge.CallerFor(gateway.Principal("acme"), "../1").UserID != "acme" {
		t.Error("a gateway called as what is no box")
	}
	if other := edge.CallerFor(rival.Principal("rival"), "box-2"); other.User() == acme.User() {
		t.Error("two organizations share a caller")
	}
	jwt := auth.Principal{Issuer: "https://fleet.example", UserID: "box-1"}
	if boxtoken.KindOf(box) != boxtoken.Box || boxtoken.KindOf(acme) != boxtoken.Gateway || boxtoken.KindOf(jwt) != "" {
		t.Error("the kinds are wrong")
	}
}
