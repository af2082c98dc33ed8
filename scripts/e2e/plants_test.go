package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/zones"
	"wavegate/shared/testing/expect"
)

const plantPath = "/api/factories/munich-1"

// updating is the body of a factory with updates.
func updating(updates string) string {
	return `{"organizationId":"acme","name":"Munich 1","updates":` + updates + `}`
}

// farAway are windows of two days, neither of which is today, nor in any time zone.
func farAway() string {
	on := func(days int) string { return calendar.Days[time.Now().UTC().AddDate(0, 0, days).Weekday()] }
	return fmt.Sprintf(`{"timeZone":"Europe/Berlin","windows":[{"days":[%q],"from":"04:00","to":"08:00"},{"days":[%q],"from":"22:00","to":"24:00"}]}`, on(2), on(4))
}

// inPlant registers boxes of acme in munich-1, and lets them say that they run 1.0.0.
func inPlant(t *testing.T, w *harness.World, more string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		w.Owner(t).Put(t, "/api/edges/"+id, strings.Replace(box, "}", `,"factoryId":"munich-1"`+more+"}", 1)).Is(t, http.StatusCreated)
		w.Box(t, id).Get(t, manifestPath(id)+"?installed=1.0.0").Is(t, http.StatusOK)
	}
}

// toldFrom polls as a box that runs 1.0.0, and returns what it is told and why.
func toldFrom(t *testing.T, w *harness.World, id string) string {
	t.Helper()
	var m struct{ Version, Source string }
	w.Box(t, id).Get(t, manifestPath(id)+"?installed=1.0.0").Is(t, http.StatusOK).Into(t, &m)
	return m.Version + " " + m.Source
}

func TestPlant_WhoMayChangeItsUpdates(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	owner.Put(t, plantPath, `{"organizationId":"acme","name":"Munich 1"}`).Is(t, http.StatusCreated)
	admin := w.As(t, "anna", "acme", auth.OrganizationAdmin)
	admin.Put(t, plantPath, updating(farAway())).Is(t, http.StatusNoContent)
	admin.Put(t, plantPath, updating(farAway())).Is(t, http.StatusNoContent)
	admin.Put(t, plantPath, strings.Replace(updating(`{}`), "Munich 1", "Munich 2", 1)).Refused(t, problem.Forbidden)
	admin.Put(t, plantPath, strings.Replace(updating(`{}`), `"updates"`, `"methodApproval":"single","updates"`, 1)).Refused(t, problem.Forbidden)
	admin.Put(t, "/api/factories/munich-2", updating(`{}`)).Refused(t, problem.NotFound)
	w.As(t, "rita", "rival", auth.OrganizationAdmin).Put(t, plantPath, updating(`{}`)).Refused(t, problem.NotFound)
	w.As(t, "nemo", "", auth.OrganizationAdmin).Put(t, plantPath, updating(`{}`)).Refused(t, problem.NotFound)
	pause := fmt.Sprintf(`{"pausedUntil":%q,"reason":"stocktaking"}`, time.Now().Add(72*time.Hour).UTC().Format(time.RFC3339))
	admin.Put(t, plantPath, updating(pause)).Is(t, http.StatusNoContent)
	text := string(admin.Get(t, plantPath).Is(t, http.StatusOK).Body)
	for _, want := range []string{`"timeZone":"Europe/Berlin"`, `"reason":"stocktaking"`, `"pauses":[{`, `"revision":3`} {
		expect.That(t, strings.Contains(text, want), "the factory has no %s: %s", want, text)
	}
	admin.Put(t, plantPath, updating(`{"pausedUntil":"2020-01-01T00:00:00Z","reason":"late"}`)).Refused(t, problem.ValidationFailed)
	last := w.Events(t, "factory", "munich-1")
	expect.Equal(t, last[len(last)-1]["eventName"], any("FactoryUpdatesChanged"), "the last event")
}

func TestPlant_ItsBoxesWait_UnlessTheReleaseIsUrgentOrTheyArePinned(t *testing.T) {
	t.Parallel()
	w, owner := published(t, lookEachSecond)
	owner.Put(t, plantPath, updating(farAway())).Is(t, http.StatusCreated)
	inPlant(t, w, "", "press-1", "press-2", "press-3")
	inPlant(t, w, "", "press-4")
	owner.Put(t, "/api/edges/press-4", strings.Replace(box, "}", `,"factoryId":null}`, 1)).Is(t, http.StatusNoContent)
	rollout := ddiRollout(t, w, quickly)
	expect.Equal(t, toldFrom(t, w, "press-1")+", "+toldFrom(t, w, "press-4"), "1.0.0 waits, 1.1.0 rollout", "in the plant, and elsewhere")
	manifest := string(w.Box(t, "press-1").Get(t, manifestPath("press-1")+"?installed=1.0.0").Is(t, http.StatusOK).Body)
	why := string(owner.Get(t, "/api/edges/press-1/update/why").Is(t, http.StatusOK).Body)
	for _, want := range []string{`"reason":"window"`, `"source":"waits"`, `"opensAt":"`, `"timeZones":"` + zones.Release()} {
		expect.That(t, strings.Contains(why, want), "why has no %s: %s", want, why)
	}
	var waiting struct {
		Items []struct {
			EdgeID, Waits string
			OpensAt       time.Time
		}
	}
	w.As(t, "anna", "acme", auth.OrganizationAdmin).Get(t, "/api/edges?state=waiting").Is(t, http.StatusOK).Into(t, &waiting)
	for i, want := range []string{"press-1", "press-2", "press-3"} {
		if got := waiting.Items; len(got) != 3 || got[i].EdgeID != want || got[i].Waits != calendar.ForWindow || got[i].OpensAt.Before(time.Now()) {
			t.Fatalf("the list of waiting boxes is %+v", got)
		}
	}
	expect.That(t, strings.Contains(manifest, `"opensAt":"`) && strings.Contains(manifest, `"artifactUrl":"`),
		"the manifest is %s", manifest)
	expect.OK(t, w.RunTask(t.Context(), operations.Tick))
	own := "/api/organizations/acme/rollouts/" + id(rollout) + "?fresh=true"
	if text := string(w.As(t, "anna", "acme", auth.OrganizationAdmin).Get(t, own).Is(t, http.StatusOK).Body); !strings.Contains(text, `"waiting":{"window":3`) {
		t.Errorf("the organization's view is %s", text)
	}
	text := string(owner.Get(t, rollout+"/progress?fresh=true").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(text, `"waiting":{"window":3,"pause":0,"plants":1`), "the progress is %s", text)
	owner.Put(t, "/api/edges/press-3", strings.Replace(box, "}", `,"pin":{"version":"1.1.0","reason":"a test"}}`, 1)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-3"), "1.1.0 pin", "a pinned box")
	owner.Patch(t, rollout, `{"urgent":true}`).Refused(t, problem.ValidationFailed)
	owner.Patch(t, rollout, `{"urgent":true,"reason":"a hole"}`).Is(t, http.StatusNoContent)
	owner.Patch(t, rollout, `{"urgent":true,"reason":"a hole"}`).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.1.0 rollout", "once it is urgent")
	owner.Patch(t, rollout, `{"status":"halted","return":true}`).Is(t, http.StatusNoContent)
	owner.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.InvalidStateTransition)
	owner.Put(t, channel, release("1.2.0", digest("c"))).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-2"), "1.0.0 waits", "after a publication")
	owner.Put(t, channel, strings.Replace(release("1.2.0", digest("c")), "}", `,"urgent":true,"reason":"a hole"}`, 1)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-2"), "1.2.0 channel", "after an urgent publication")
	events := w.Events(t, "release-channel", "gateway-x/stable")
	last := events[len(events)-1]
	expect.Equal(t, last["after"].(map[string]any)["urgent"], any(true), "the event of the publication says that it is urgent")
	expect.Equal(t, last["before"].(map[string]any)["urgent"], nil, "so was the one before")
}

// TestPlant_OptsOut_OnlySecurityPasses_AsFarAsTheManufacturerAllows, and a pin.
func TestPlant_OptsOut_OnlySecurityPasses_AsFarAsTheManufacturerAllows(t *testing.T) {
	t.Parallel()
	w, owner := published(t, lookEachSecond)
	owner.Put(t, plantPath, updating(`{}`)).Is(t, http.StatusCreated)
	anna := w.As(t, "anna", "acme", auth.OrganizationAdmin)
	ordinary := updating(`{"optOut":{"of":"ordinary","reason":"certified line"}}`)
	w.As(t, "eric", "acme", auth.ProductionEngineer).Put(t, plantPath, ordinary).Refused(t, problem.Forbidden)
	w.As(t, "rita", "rival", auth.OrganizationAdmin).Put(t, plantPath, ordinary).Refused(t, problem.NotFound)
	anna.Put(t, plantPath, updating(`{"optOut":{"of":"some","reason":"certified line"}}`)).Refused(t, problem.ValidationFailed)
	anna.Put(t, plantPath, updating(`{"optOut":{"of":"all","reason":"late","until":"2020-01-01T00:00:00Z"}}`)).Refused(t, problem.ValidationFailed)
	expect.That(t, !strings.Contains(string(owner.Get(t, plantPath).Is(t, http.StatusOK).Body), "optOut"), "a refused call was written")
	anna.Put(t, plantPath, ordinary).Is(t, http.StatusNoContent)
	inPlant(t, w, "", "press-1", "press-2")
	owner.Put(t, "/api/factories/rome-1", `{"organizationId":"rival","name":"Rome","updates":{"optOut":{"of":"all","reason":"a test"}}}`).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/oven", `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival","factoryId":"rome-1"}`).Is(t, http.StatusCreated)
	w.Box(t, "oven").Get(t, manifestPath("oven")+"?installed=1.0.0").Is(t, http.StatusOK)
	rollout := ddiRollout(t, w, quickly)
	owner.Patch(t, rollout, `{"urgent":true,"reason":"a hole"}`).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.0.0 waits", "what is urgent and ordinary")
	why := string(anna.Get(t, "/api/edges/press-1/update/why").Is(t, http.StatusOK).Body)
	for _, want := range []string{`"reason":"opt-out"`, "takes no updates but those for security until somebody ends that, as anna said at ", "certified line"} {
		expect.That(t, strings.Contains(why, want), "why has no %s: %s", want, why)
	}
	waiting := string(anna.Get(t, "/api/edges?state=waiting").Is(t, http.StatusOK).Body)
	expect.Equal(t, strings.Count(waiting, `"waits":"opt-out"`), 2, "boxes that wait")
	waits := func(boxes, plants int) string {
		return fmt.Sprintf(`"waiting":{"window":0,"pause":0,"optedOut":%d,"plants":%d`, boxes, plants)
	}
	for path, want := range map[string]string{
		"/api/organizations/rival/fleet?fresh=true": waits(1, 1), "/api/organizations/acme/rollouts/" + id(rollout) + "?fresh=true": waits(2, 1),
		rollout + "/progress?fresh=true": waits(3, 2) + `,"closed":[{"factoryId":"munich-1","organizationId":"acme","boxes":2,"for":"opt-out"},{"factoryId":"rome-1","organizationId":"rival","boxes":1,"for":"opt-out"}]}`,
		channel + "/progress?fresh=true": `"optedOut":[{"organizationId":"acme","of":"ordinary","boxes":2},{"organizationId":"rival","of":"all","boxes":1}]`,
	} {
		text := string(owner.Get(t, path).Is(t, http.StatusOK).Body)
		expect.That(t, strings.Contains(text, want), "%s has no %s: %s", path, want, text)
	}
	owner.Put(t, "/api/edges/press-2", strings.Replace(box, "}", `,"factoryId":"munich-1","pin":{"version":"1.1.0","reason":"a test"}}`, 1)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-2"), "1.1.0 pin", "a pinned box")
	security := strings.Replace(release("1.2.0", digest("c")), "}", `,"kind":"security"}`, 1)
	owner.Put(t, channel, security).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.2.0 channel", "a security release")
	anna.Put(t, plantPath, updating(`{"optOut":{"of":"all","reason":"certified line"}}`)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.0.0 waits", "a security release, without any")
	allows := func(of string) { owner.Put(t, "/api/ota/edge-types/gateway-x", `{"optOut":"`+of+`"}`) }
	allows("ordinary")
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.2.0 channel", "a security release, where only ordinary ones may be refused")
	owner.Put(t, channel, release("1.3.0", digest("d"))).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.0.0 waits", "an ordinary one there")
	allows("none")
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.3.0 channel", "an ordinary one where nothing may be refused")
	allows("all")
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.0.0 waits", "an ordinary one where all may be refused")
	anna.Put(t, plantPath, updating(`{"optOut":null}`)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.3.0 channel", "once the plant takes all again")
}

// TestPlants_InTwoZones_FollowTheirOwnClocks: one is open, and the other one, which is 16 or 17 hours behind, has the same hours.
func TestPlants_InTwoZones_FollowTheirOwnClocks(t *testing.T) {
	t.Parallel()
	w, owner := published(t, lookEachSecond)
	tokyo := expect.Value(zones.Load("Asia/Tokyo"))(t)
	now := time.Now().In(tokyo)
	hours := fmt.Sprintf(`,"windows":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":%q,"to":%q}]`,
		now.Add(-2*time.Hour).Format("15:04"), now.Add(2*time.Hour).Format("15:04"))
	kyoto := `{"timeZone":"Asia/Tokyo"` + hours
	owner.Put(t, plantPath, updating(kyoto+"}")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/factories/seattle-1", updating(`{"timeZone":"America/Los_Angeles"`+hours+"}")).Is(t, http.StatusCreated)
	inPlant(t, w, `,"group":"press"`, "press-a", "press-b")
	inPlant(t, w, "", "oven")
	owner.Put(t, "/api/edges/oven", strings.Replace(box, "}", `,"factoryId":"seattle-1"}`, 1)).Is(t, http.StatusNoContent)
	rollout := ddiRollout(t, w, quickly)
	told := func() string {
		return toldFrom(t, w, "press-a") + ", " + toldFrom(t, w, "press-b") + ", " + toldFrom(t, w, "oven")
	}
	expect.Equal(t, told(), "1.1.0 rollout, 1.0.0 waits, 1.0.0 waits", "of a pair in the open plant, and in the closed one, are told")
	byFactory := string(owner.Get(t, rollout+"/progress?by=factory&fresh=true").Is(t, http.StatusOK).Body)
	for _, want := range []string{`"timeZone":"Asia/Tokyo"`, `"timeZone":"America/Los_Angeles","waits":"window","opensAt":"`} {
		expect.That(t, strings.Contains(byFactory, want), "the rollout's plants have no %s: %s", want, byFactory)
	}
	w.Box(t, "press-a").Get(t, manifestPath("press-a")+"?installed=1.1.0").Is(t, http.StatusOK)
	owner.Patch(t, rollout, `{"status":"halted","return":true}`).Is(t, http.StatusNoContent)
	back := string(w.Box(t, "press-a").Get(t, manifestPath("press-a")+"?installed=1.1.0").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(back, `"version":"1.0.0"`),
		"after the return, a box of the open plant is told %s", back)
	pause := fmt.Sprintf(`,"pausedUntil":%q,"reason":"stocktaking"}`, time.Now().Add(72*time.Hour).UTC().Format(time.RFC3339))
	owner.Put(t, plantPath, updating(kyoto+pause)).Is(t, http.StatusNoContent)
	security := strings.Replace(release("1.2.0", digest("c")), "}", `,"kind":"security","deadline":"P1D"}`, 1)
	owner.Put(t, channel, security).Is(t, http.StatusNoContent)
	expect.Equal(t, told(), "1.0.0 waits, 1.0.0 waits, 1.0.0 waits", "while one plant pauses, they are told")
	owner.Put(t, channel, strings.Replace(security, "}", `,"urgent":true,"reason":"a hole"}`, 1)).Is(t, http.StatusNoContent)
	expect.Equal(t, told(), "1.2.0 channel, 1.2.0 channel, 1.2.0 channel", "once it is urgent, they are told")
}

func TestPlant_APause_HoldsAndEnds(t *testing.T) {
	t.Parallel()
	w, owner := published(t, uncached)
	pause := fmt.Sprintf(`{"pausedUntil":%q,"reason":"stocktaking"}`, time.Now().Add(72*time.Hour).UTC().Format(time.RFC3339))
	owner.Put(t, plantPath, updating(pause)).Is(t, http.StatusCreated)
	inPlant(t, w, "", "press-1")
	owner.Put(t, channel, strings.Replace(release("1.1.0", digest("b")), "}", `,"kind":"security","deadline":"P1D"}`, 1)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.0.0 waits", "in the pause")
	owner.Put(t, channel, strings.Replace(release("1.1.0", digest("b")), "}", `,"deadline":"P2D"}`, 1)).Refused(t, problem.ReleaseImmutable)
	owner.Put(t, plantPath, updating(`{"pausedUntil":null}`)).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-1"), "1.1.0 channel", "after the pause")
}

// TestPlant_DDI_ToldBeforeTheClosing_MustNotInstall, and a box that was not told is told nothing.
func TestPlant_DDI_ToldBeforeTheClosing_MustNotInstall(t *testing.T) {
	t.Parallel()
	w, owner := published(t, uncached)
	owner.Put(t, plantPath, updating(`{}`)).Is(t, http.StatusCreated)
	clients := ddiFleet(t, w, 2)
	for _, c := range clients {
		owner.Put(t, "/api/edges/"+c.id, strings.Replace(box, "}", `,"factoryId":"munich-1"}`, 1)).Is(t, http.StatusNoContent)
	}
	owner.Put(t, channel, described("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	told := base(t, clients[0].Caller, clients[0].id).Links.DeploymentBase
	owner.Put(t, plantPath, updating(farAway())).Is(t, http.StatusNoContent)
	again := base(t, clients[0].Caller, clients[0].id).Links
	if told == nil || again.DeploymentBase == nil || again.DeploymentBase.Href != told.Href || again.CancelAction != nil {
		t.Fatalf("told %v, and then %v", told, again)
	}
	if text := string(clients[0].Get(t, linked(t, w, told)).Is(t, http.StatusOK).Body); !strings.Contains(text, `"update":"skip","maintenanceWindow":"unavailable"`) {
		t.Errorf("the deployment is %s", text)
	}
	owner.Put(t, plantPath, updating(`{"windows":[{"from":"00:00","to":"24:00"}]}`)).Is(t, http.StatusNoContent)
	if text := string(clients[0].Get(t, linked(t, w, told)).Is(t, http.StatusOK).Body); !strings.Contains(text, `"update":"attempt","maintenanceWindow":"available"`) {
		t.Errorf("in a window, the deployment is %s", text)
	}
	owner.Put(t, plantPath, updating(farAway())).Is(t, http.StatusNoContent)
	links := base(t, clients[1].Caller, clients[1].id).Links
	expect.That(t, links.DeploymentBase == nil && links.CancelAction == nil, "the other box is told %v", links)
}

// TestPlant_APair_IsToldOneAfterTheOther: the second box waits, and why names the first.
func TestPlant_APair_IsToldOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w, owner := published(t, uncached)
	owner.Put(t, plantPath, updating(`{}`)).Is(t, http.StatusCreated)
	inPlant(t, w, `,"group":"press 4"`, "press-4a", "press-4b")
	owner.Put(t, channel, release("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	expect.Equal(t, toldFrom(t, w, "press-4a")+", "+toldFrom(t, w, "press-4b")+", "+toldFrom(t, w, "press-4a"), "1.1.0 channel, 1.0.0 waits, 1.1.0 channel", "told")
	why := string(owner.Get(t, "/api/edges/press-4b/update/why").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(why, `"reason":"group"`) && strings.Contains(why, "press-4a"), "why: %s", why)
	owner.Put(t, "/api/edges/press-4a", strings.Replace(box, "}", `,"factoryId":"munich-1","pin":{"version":"1.1.0","reason":"measured"}}`, 1)).Is(t, http.StatusNoContent)
	var waiting struct {
		Items []struct{ EdgeID, Waits string }
	}
	owner.Get(t, "/api/edges?edgeType=gateway-x&channel=stable&state=waiting").Is(t, http.StatusOK).Into(t, &waiting)
	expect.Equal(t, fmt.Sprint(waiting.Items), "[{press-4b group}]", "the list of waiting boxes:")
	for i := range 6 {
		id := fmt.Sprintf("/api/edges/press-%d", i)
		owner.Put(t, id, strings.Replace(box, "}", `,"factoryId":"munich-1","group":"press 4"}`, 1)).Is(t, http.StatusCreated)
	}
	ninth := strings.Replace(box, "}", `,"factoryId":"munich-1","group":"press 4"}`, 1)
	owner.Put(t, "/api/edges/press-9", ninth).Refused(t, problem.ValidationFailed)
	owner.Put(t, "/api/edges/press-9", strings.Replace(box, "}", `,"group":"press 4"}`, 1)).Refused(t, problem.ValidationFailed)
	owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"press-9",`+ninth[1:]+`]}`).Refused(t, problem.ValidationFailed)
	leaves := `{"edgeId":"press-4a",` + strings.Replace(box, "}", `,"factoryId":null}`, 1)[1:]
	owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"press-9",`+ninth[1:]+`,`+leaves+`]}`).Is(t, http.StatusOK)
}

// TestPlant_ADDIPair_IsToldOneAfterTheOther, also at the door. Their organization sees for what they wait.
func TestPlant_ADDIPair_IsToldOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w, owner := published(t, lookEachSecond)
	owner.Put(t, plantPath, updating(`{}`)).Is(t, http.StatusCreated)
	clients := ddiFleet(t, w, 2)
	for _, c := range clients {
		owner.Put(t, "/api/edges/"+c.id, strings.Replace(box, "}", `,"factoryId":"munich-1","group":"press 4"}`, 1)).Is(t, http.StatusNoContent)
	}
	ddiRollout(t, w, quickly)
	told := base(t, clients[0].Caller, clients[0].id).Links.DeploymentBase
	other := base(t, clients[1].Caller, clients[1].id).Links.DeploymentBase
	expect.Must(t, told != nil && other == nil, "told %v, and %v", told, other)
	clients[0].Get(t, linked(t, w, told)).Is(t, http.StatusOK)
	if text := string(w.As(t, "anna", "acme", auth.OrganizationAdmin).Get(t, "/api/organizations/acme/fleet?fresh=true").Is(t, http.StatusOK).Body); !strings.Contains(text, `"boxes":2`) {
		t.Errorf("the fleet is %s", text)
	}
}

// TestPlant_ADDIBoxThatJoinsAGroup_IsAnswered: the group's other box is read, too. One of them waits, and may not install.
func TestPlant_ADDIBoxThatJoinsAGroup_IsAnswered(t *testing.T) {
	t.Parallel()
	w, owner := published(t, lookEachSecond, harness.WithDoor())
	owner.Put(t, plantPath, updating(`{}`)).Is(t, http.StatusCreated)
	clients := ddiFleet(t, w, 2)
	ddiRollout(t, w, quickly)
	action := func(c ddiBox, path string) {
		t.Helper()
		answer := c.Get(t, path)
		expect.That(t, answer.Status == http.StatusOK || answer.Status == http.StatusNotFound, "%s: %d %s", path, answer.Status, answer.Body)
	}
	var told []string
	for _, c := range clients {
		told = append(told, linked(t, w, base(t, c.Caller, c.id).Links.DeploymentBase))
	}
	for _, more := range []string{`,"group":"press 4"`, `,"pin":{"version":"1.1.0","reason":"a test"}`, `,"pin":null`} {
		for i, c := range clients {
			owner.Put(t, "/api/edges/"+c.id, strings.Replace(box, "}", `,"factoryId":"munich-1"`+more+"}", 1)).Is(t, http.StatusNoContent)
			action(c, told[i])
			base(t, c.Caller, c.id)
			c.Get(t, manifestPath(c.id)+"?installed=1.0.0").Is(t, http.StatusOK)
			owner.Get(t, "/api/edges/"+c.id+"/update/why").Is(t, http.StatusOK)
		}
	}
	clients[0].says(t, told[0], "closed", "failure", "no space left")
	base(t, clients[0].Caller, clients[0].id)
	action(clients[1], told[1])
}

// TestDoor_APair_IsToldOneAfterTheOther: both boxes poll at the door.
func TestDoor_APair_IsToldOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w, owner := published(t, quick, harness.WithDoor())
	owner.Put(t, plantPath, updating(`{}`)).Is(t, http.StatusCreated)
	var told []string
	for _, id := range []string{"press-4a", "press-4b"} {
		token := enrol(t, owner, id)
		owner.Put(t, "/api/edges/"+id, strings.Replace(box, "}", `,"factoryId":"munich-1","group":"press 4"}`, 1)).Is(t, http.StatusNoContent)
		door := atDoor(w, "Bearer", token)
		door.Get(t, manifestPath(id)+"?installed=0.9.0").Is(t, http.StatusOK)
		var m struct{ Version, Source string }
		door.Get(t, manifestPath(id)+"?installed=0.9.0").Is(t, http.StatusOK).Into(t, &m)
		told = append(told, m.Version+" "+m.Source)
	}
	expect.Equal(t, strings.Join(told, ", "), "1.0.0 channel, 0.9.0 waits", "told")
}
