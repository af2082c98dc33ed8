package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// organizationBoxes is a batch of boxes of an organization.
func organizationBoxes(organization string, ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf(`{"edgeId":%q,"edgeType":"gateway-x","channel":"stable","organizationId":%q}`, id, organization))
	}
	return boxes(all...)
}

// TestQuotas_AStolenInstaller_TakesSoManyIDsADay, whichever way it registers them. Others of its organization go on.
func TestQuotas_AStolenInstaller_TakesSoManyIDsADay(t *testing.T) {
	w := harness.New(t, withSettings("REGISTRATIONS_PER_DAY=3"))
	thief, admin := w.As(t, "ines", "acme", auth.FleetInstaller), w.Admin(t, "acme")
	thief.Put(t, "/api/edges/sn-1", box).Is(t, http.StatusCreated)
	path, code := enrols(t, w, thief, `"sn-2","sn-3","sn-4"`, "")
	redeem := func(id string) harness.Answer {
		_, body := redemption(id)
		return code.Post(t, redeems, body)
	}
	redeem("sn-2").Is(t, http.StatusCreated)
	_, waits := redemption("sn-9")
	code.Post(t, redeems, waits).Is(t, http.StatusAccepted)
	thief.Post(t, path+"/accept", `{"items":[`+waits+`]}`).Is(t, http.StatusNoContent)
	_, other := redemption("sn-8")
	code.Post(t, redeems, other).Is(t, http.StatusAccepted)
	for name, a := range map[string]harness.Answer{
		"a registration": thief.Put(t, "/api/edges/sn-5", box),
		"a batch":        thief.Post(t, "/api/edges", organizationBoxes("acme", "sn-6")), "a code": redeem("sn-3"),
		"an acceptance": thief.Post(t, path+"/accept", `{"items":[`+other+`]}`),
	} {
		d := a.Refused(t, problem.RateLimited)
		if strings.Join(d.Policies, " ") != "registrations" || !strings.Contains(d.Detail, "3 a day") || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	admin.Post(t, path+"/accept", `{"items":[`+other+`]}`).Is(t, http.StatusNoContent)
	admin.Put(t, "/api/edges/sn-5", box).Is(t, http.StatusCreated)
	thief.Put(t, "/api/edges/sn-1", box).Is(t, http.StatusNoContent) // nothing changes
}

// TestQuotas_AnOrganization_HasSoManyBoxes, however they arrive.
func TestQuotas_AnOrganization_HasSoManyBoxes(t *testing.T) {
	w := harness.New(t, withSettings("EDGES_PER_ORGANIZATION=4"))
	owner, admin := w.Owner(t), w.Admin(t, "acme")
	path, code := enrols(t, w, admin, `"sn-3","sn-5"`, "")
	_, waits := redemption("sn-9")
	code.Post(t, redeems, waits).Is(t, http.StatusAccepted)
	_, early := redemption("sn-5")
	code.Post(t, redeems, early).Is(t, http.StatusCreated)
	_, accepted := redemption("sn-8")
	code.Post(t, redeems, accepted).Is(t, http.StatusAccepted)
	admin.Post(t, path+"/accept", `{"items":[`+accepted+`]}`).Is(t, http.StatusNoContent)
	admin.Post(t, "/api/edges", organizationBoxes("acme", "sn-1", "sn-2")).Is(t, http.StatusOK)
	_, body := redemption("sn-3")
	owner.Put(t, "/api/edges/sn-4", strings.Replace(box, "acme", "rival", 1)).Is(t, http.StatusCreated)
	for name, a := range map[string]harness.Answer{
		"a registration": admin.Put(t, "/api/edges/sn-3", box), "a batch": admin.Post(t, "/api/edges", organizationBoxes("acme", "sn-2", "sn-3")),
		"a code": code.Post(t, redeems, body), "an acceptance": admin.Post(t, path+"/accept", `{"items":[`+waits+`]}`),
		"a move": owner.Put(t, "/api/edges/sn-4", box),
	} {
		expect.That(t, strings.Contains(a.Refused(t, problem.Conflict).Detail, "at most 4 boxes"), "%s: %s", name, a.Body)
	}
	owner.Get(t, "/api/edges/sn-4").Has(t, `{"organizationId":"rival"}`)
}

// TestTakeOver_IDThatAnotherOrganizationTook_ComesToItsBox: the refused box says what to do, and that works.
func TestTakeOver_IDThatAnotherOrganizationTook_ComesToItsBox(t *testing.T) {
	w := harness.New(t)
	owner, admin := w.Owner(t), w.Admin(t, "acme")
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	w.As(t, "rita", "rival", auth.FleetInstaller).Post(t, "/api/edges", organizationBoxes("rival", "box-1", "box-2")).Is(t, http.StatusOK)
	path, code := enrols(t, w, admin, `"box-1"`, "")
	token, body := redemption("box-1")
	if d := code.Post(t, redeems, body).Refused(t, problem.EdgeEnrolled); !strings.Contains(d.Detail,
		"ask a platform owner") || !strings.Contains(d.Detail, "takeOver") {
		t.Errorf("told %q", d.Detail)
	}
	admin.Put(t, boxPath, box).Refused(t, problem.NotFound)
	admin.Do(t, http.MethodDelete, path+"/redemptions/box-1", "").Refused(t, problem.NotFound)
	batch := `{"takeOver":true,` + strings.TrimPrefix(organizationBoxes("acme", "box-1", "box-3"), "{")
	admin.Post(t, "/api/edges", batch).Refused(t, problem.Forbidden)
	for range 2 { // a repeated key gets the first answer
		got := string(owner.Post(t, "/api/edges", batch, "Idempotency-Key", "k1").Is(t, http.StatusOK).Body)
		expect.Equal(t, got, `{"registered":1,"reassigned":0,"unchanged":0,"takenOver":1,"items":[{"edgeId":"box-1","outcome":"takenOver"},{"edgeId":"box-3","outcome":"registered"}]}`, "answered")
	}
	expect.Equal(t, strings.Join(eventNames(w, t, "edge", "box-1"), " "), "EdgeRegistered EdgeLeft EdgeTakenOver", "events")
	admin.Do(t, http.MethodDelete, path+"/redemptions/box-1", "").Is(t, http.StatusNoContent)
	code.Post(t, redeems, body).Is(t, http.StatusCreated)
	w.With("Bearer", token).Get(t, manifest).Is(t, http.StatusOK)
	owner.Get(t, "/api/edges/box-2").Has(t, `{"organizationId":"rival"}`)
}
