package e2e

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/testing/expect"
)

// A harm is what a thief tries with a stolen token. {org}, {plant} and {box} are those of the organization that is tried, and
// {new} is a new name.
type harm struct{ says, method, path, body string }

const (
	boxOf   = `{"edgeType":"gateway-x","channel":"stable","organizationId":"{org}","factoryId":"{plant}"}`
	plantOf = `{"organizationId":"{org}","name":"Munich"`
)

// harms are the worst of what single calls do.
var harms = []harm{
	{"reads what boxes run", http.MethodGet, "/api/edges/{box}/update/why", ""},
	{"reads production methods", http.MethodGet, "/api/factories/{plant}/production-methods", ""},
	{"reads all that is stored", http.MethodGet, "/api/organizations/{org}/export", ""},
	{"says what a box runs, and that it failed", http.MethodGet, "/api/ddi/{org}/controller/v1/{box}", ""},
	{"registers more boxes", http.MethodPut, "/api/edges/{new}", boxOf},
	{"pins a box to an old version", http.MethodPut, "/api/edges/{box}", strings.Replace(boxOf, "}\"}", "}\",\"pin\":{\"version\":\"1.0.0\",\"reason\":\"stolen\",\"allowDowngrade\":true}}", 1)},
	{"retires a box", http.MethodDelete, "/api/edges/{box}", ""},
	{"gives a box that runs another token", http.MethodPut, "/api/edges/{box}/token", `{"tokenSha256":"{hash}"}`},
	{"keeps updates from a plant for two weeks", http.MethodPut, "/api/factories/{plant}", plantOf + `,"updates":{"pausedUntil":"{soon}","reason":"stolen"}}`},
	{"lets a plant take updates at any time", http.MethodPut, "/api/factories/{plant}", plantOf + `,"updates":{"windows":[]}}`},
	{"adds a production method, which holds nowhere yet", http.MethodPost, "/api/factories/{plant}/production-methods", `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e12","name":"{new}"}`},
	{"publishes on a channel that the settings name", http.MethodPut, "/api/ota/release-channels/gateway-x/canary", `{"currentVersion":"1.0.0"}`},
	{"publishes on another channel", http.MethodPut, "/api/ota/release-channels/gateway-x/stable", `{"currentVersion":"1.0.0"}`},
	{"freezes all releases", http.MethodPut, "/api/ota/freeze", `{"until":"{soon}","reason":"stolen"}`},
	{"raises the limits", http.MethodPut, "/api/rate-limits/organizations/{org}", `{"limit":30000,"reason":"stolen"}`},
}

// thieves are the kinds of tokens, and how a caller of acme gets one, given the box that it is of.
var thieves = []struct {
	kind  string
	token func(t *testing.T, w *harness.World, box string) *harness.Caller
}{
	{"a box's", func(t *testing.T, w *harness.World, box string) *harness.Caller { return w.Box(t, box) }},
	{"a gateway's", func(t *testing.T, w *harness.World, _ string) *harness.Caller {
		return client(t, w, "GatewayToken", gatewayToken)
	}},
	{"`program`", func(t *testing.T, w *harness.World, _ string) *harness.Caller {
		return w.As(t, harness.Program, "", auth.Program)
	}},
	{"`fleet_installer`", thiefAs(auth.FleetInstaller)},
	{"`fleet_viewer`", thiefAs(auth.FleetViewer)},
	{"`production_engineer`", thiefAs(auth.ProductionEngineer)},
	{"`organization_admin`", thiefAs(auth.OrganizationAdmin)},
	{"`platform_viewer`", func(t *testing.T, w *harness.World, _ string) *harness.Caller {
		return w.As(t, "thief", "wavegate", auth.PlatformViewer)
	}},
	{"`platform_owner`", func(t *testing.T, w *harness.World, _ string) *harness.Caller { return w.Owner(t) }},
}

func thiefAs(role auth.Role) func(*testing.T, *harness.World, string) *harness.Caller {
	return func(t *testing.T, w *harness.World, _ string) *harness.Caller { return w.As(t, "thief", "acme", role) }
}

// TestStolenTokens_DoWhatThePageSays makes each call with a token of each kind: against the box of the token, the organization of
// the token, and another one. The page has the results.
func TestStolenTokens_DoWhatThePageSays(t *testing.T) {
	t.Parallel()
	w := harness.New(t, uncached, withSettings(setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	owner := w.Owner(t)
	for _, on := range []string{"stable", "canary"} {
		owner.Put(t, channelPath("gateway-x", on), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	}
	rows := []string{"| | " + strings.Join(kinds(), " | ") + " |", "|---|" + strings.Repeat("---|", len(thieves))}
	for _, h := range harms {
		cells := []string{h.says}
		for _, thief := range thieves {
			cells = append(cells, h.reach(t, w, thief.token))
		}
		rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
	}
	page := expect.Value(os.ReadFile("../../.github/SECURITY.md"))(t)
	table := strings.Join(rows, "\n") + "\n"
	expect.Must(t, strings.Contains(string(page), table), "the page has another table than:\n%s", table)
}

func kinds() (all []string) {
	for _, thief := range thieves {
		all = append(all, thief.kind)
	}
	return all
}

// reach says against whom a call succeeds with a token.
func (h harm) reach(t *testing.T, w *harness.World, token func(*testing.T, *harness.World, string) *harness.Caller) string {
	own, others := h.against(t, w, "acme"), h.against(t, w, "rival")
	by := token(t, w, harness.Name("box"))
	switch {
	case h.succeeds(t, w, by, others):
		if h.path == others.path { // it is about no organization
			return "yes"
		}
		return "of everybody"
	case h.succeeds(t, w, by, own):
		return "of its organization"
	case h.succeeds(t, w, token(t, w, own.box), own):
		return "of itself"
	}
	return "–"
}

// A trial is a call against an organization, whose box has polled.
type trial struct{ box, path, body string }

func (h harm) against(t *testing.T, w *harness.World, organization string) trial {
	t.Helper()
	owner, is := w.Owner(t), trial{box: harness.Name("box")}
	filled := strings.NewReplacer("{org}", organization, "{plant}", harness.Name("munich"), "{box}", is.box, "{new}", harness.Name("new"), "{hash}", digest("b"),
		"{soon}", timestamp.Text(time.Now().Add(24*time.Hour)))
	owner.Put(t, filled.Replace("/api/factories/{plant}"), filled.Replace(plantOf+"}")).Is(t, http.StatusCreated)
	owner.Put(t, filled.Replace("/api/edges/{box}"), filled.Replace(boxOf)).Is(t, http.StatusCreated)
	w.Box(t, is.box).Get(t, filled.Replace("/api/edges/{box}/update/manifest?installed=1.0.0")).Is(t, http.StatusOK)
	is.path, is.body = filled.Replace(h.path), filled.Replace(h.body)
	return is
}

// succeeds makes a call, and reports whether the service did what it asks for.
func (h harm) succeeds(t *testing.T, w *harness.World, by *harness.Caller, at trial) bool {
	t.Helper()
	answer := by.Do(t, h.method, at.path, at.body)
	expect.Must(t, answer.Status/100 == 2 || answer.Status/100 == 4 && answer.Status != http.StatusBadRequest, "%s %s is answered with %d %s", h.method, at.path, answer.Status, answer.Body)
	if answer.Status/100 == 2 && h.path == "/api/ota/freeze" { // or no later call is made as before
		w.Owner(t).Do(t, http.MethodDelete, h.path, "").Is(t, http.StatusNoContent)
	}
	return answer.Status/100 == 2
}
