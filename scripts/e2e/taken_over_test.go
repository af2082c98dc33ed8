package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestTakeOver_NewOrganization_SeesNothingOfTheFormerOne: a box of rival failed, and is given to acme. Nobody of acme sees what
// it was there, wherever it is shown, and rival's trail says that it left.
func TestTakeOver_NewOrganization_SeesNothingOfTheFormerOne(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	owner.Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	factory(t, w, "rivalplant", "rival")
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival","factoryId":"rivalplant",
		"attributes":{"board":"RIVALBOARD"}}`).Is(t, http.StatusCreated)
	box := w.Box(t, "box-1")
	box.Get(t, "/api/edges/box-1/update/manifest?installed=RIVALVER").Is(t, http.StatusOK)
	box.Put(t, "/api/edges/box-1/update/report", `{"version":"1.0.0","attempt":1,"outcome":"failed","code":"boot","detail":"RIVALDETAIL"}`).Is(t, http.StatusOK)
	expect.Equal(t, len(itemsOf(t, w, "/api/edges?organizationId=rival&state=failed")), 1, "failed boxes of rival")
	owner.Post(t, "/api/edges", `{"takeOver":true,"edges":[{"edgeId":"box-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme"}]}`).Is(t, http.StatusOK)

	for _, role := range []auth.Role{auth.OrganizationAdmin, auth.FleetViewer} {
		acme, rival := w.As(t, "u-"+string(role), "acme", role), w.As(t, "r-"+string(role), "rival", role)
		paths := []string{"/api/edges/box-1", "/api/edges/box-1/update/why", "/api/edges", "/api/edges?state=failed", "/api/edges?edgeType=gateway-x&channel=stable",
			"/api/organizations/acme/fleet"}
		if role == auth.OrganizationAdmin {
			paths = append(paths, "/api/audit-events?resourceType=edge", "/api/audit-events?resourceType=edge&resourceId=box-1", "/api/organizations/acme/export")
		}
		for _, path := range paths {
			a := acme.Get(t, path)
			a.Is(t, http.StatusOK)
			expect.That(t, !strings.Contains(strings.ToLower(string(a.Body)), "rival"), "%s at %s: %s", role, path, a.Body)
		}
		rival.Get(t, "/api/edges/box-1").Refused(t, problem.NotFound)
		rival.Get(t, "/api/edges/box-1/update/why").Refused(t, problem.NotFound)
		expect.Equal(t, len(rival.Get(t, "/api/edges").Is(t, http.StatusOK).Object(t)["items"].([]any)), 0, "boxes of rival")
	}
	shown := func(organization, other string) (events string) {
		a := w.Admin(t, organization).Get(t, "/api/audit-events?resourceType=edge").Is(t, http.StatusOK)
		expect.That(t, !strings.Contains(string(a.Body), other), "the trail of %s shows %s", organization, a.Body)
		for _, item := range a.Object(t)["items"].([]any) {
			event := item.(map[string]any)
			events += fmt.Sprint(event["eventName"], " ", event["before"] != nil, " ", event["after"] != nil, "; ")
		}
		return events
	}
	expect.Equal(t, shown("rival", "acme"), "EdgeLeft true false; EdgeRegistered false true; ", "rival's events")
	expect.Equal(t, shown("acme", "rival"), "EdgeTakenOver false true; ", "acme's events")
}
