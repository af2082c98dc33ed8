package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// hawkBits is a token of hawkBit's.
const hawkBits = "0123456789abcdef0123456789abcdef"

func withForeignTokens(o *service.Options) { o.ForeignTokens = true }

// importedWith is the body that registers box-1 with a token of another form.
func importedWith(text, more string) string {
	sum := sha256.Sum256([]byte(text))
	return `{"edges":[{"edgeId":"box-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme","tokenSha256":"` + hex.EncodeToString(sum[:]) + `"` + more + `}]}`
}

// TestForeignToken_WorksOnBothRootsAndAtTheDoor, for its box and nothing but DDI.
func TestForeignToken_WorksOnBothRootsAndAtTheDoor(t *testing.T) {
	w, owner := published(t, quick, atRoot, withForeignTokens, harness.WithDoor())
	owner.Post(t, "/api/edges", importedWith(hawkBits, "")).Is(t, http.StatusOK)
	owner.Put(t, "/api/edges/box-10", box).Is(t, http.StatusCreated)
	root := "/acme/controller/v1/box-1"
	for name, c := range map[string]*harness.Caller{"the API": w.With("TargetToken", hawkBits), "the door": atDoor(w, "TargetToken", hawkBits)} {
		for _, path := range []string{root, "/api/ddi" + root} {
			call := func(method, more, body string, status int) {
				t.Helper()
				ask(t, method, c.URL+path+more, body, "Authorization", c.Bearer).Is(t, status)
			}
			call(http.MethodGet, "", "", http.StatusOK)
			call(http.MethodPut, "/configData", `{"data":{"installed":"1.0.0"}}`, http.StatusOK)
			call(http.MethodGet, "/deploymentBase/1", "", http.StatusNotFound)
			call(http.MethodPost, "/deploymentBase/1/feedback", feedback("closed", "success", ""), http.StatusOK)
			call(http.MethodGet, "0", "", http.StatusUnauthorized)
		}
		got := c.Get(t, manifest).Status
		expect.That(t, got == http.StatusForbidden || got == http.StatusUnauthorized, "%s answers a manifest with %d", name, got)
	}
	expect.Equal(t, why(t, owner, "box-1").Running, "1.0.0", "it runs")
	owner.Do(t, http.MethodDelete, boxPath+"/token", "").Is(t, http.StatusNoContent)
	w.With("TargetToken", hawkBits).Get(t, "/api/ddi"+root).Refused(t, problem.Unauthenticated)
	atDoor(w, "TargetToken", hawkBits).Get(t, "/api/ddi"+root).Refused(t, problem.Unauthenticated)
}

// TestForeignToken_ThatIsWeak_NeedsAMark, which everybody sees until the token is replaced.
func TestForeignToken_ThatIsWeak_NeedsAMark(t *testing.T) {
	w, owner := published(t, quick, withForeignTokens)
	owner.Post(t, "/api/edges", importedWith("secret", "")).Is(t, http.StatusOK)
	c := w.With("TargetToken", "secret")
	c.Get(t, ddiPath("acme", "box-1")).Refused(t, problem.Unauthenticated)
	owner.Post(t, "/api/edges", importedWith("secret", `,"tokenWeak":true`)).Is(t, http.StatusOK)
	c.Get(t, ddiPath("acme", "box-1")).Is(t, http.StatusOK)
	owner.Get(t, boxPath).Has(t, `{"tokenWeak":true}`)
	owner.SetToken(t, boxPath+"/token")
	expect.That(t, !strings.Contains(string(owner.Get(t, boxPath).Body), "tokenWeak"), "the mark stays")
	c.Get(t, ddiPath("acme", "box-1")).Is(t, http.StatusOK) // until the box has the new one
	owner.Post(t, "/api/edges", strings.Replace(importedWith("secret", `,"tokenWeak":true`), `"tokenSha256"`, `"note"`, 1)).Refused(t, problem.ValidationFailed)
}

// TestForeignToken_GuessedTenTimes_IsAnEvent, at the API and at the door.
func TestForeignToken_GuessedTenTimes_IsAnEvent(t *testing.T) {
	w, owner := published(t, quick, withForeignTokens, harness.WithDoor(), harness.WithProcesses(1))
	for i, c := range []*harness.Caller{w.With("TargetToken", strings.Repeat("0", 32)), atDoor(w, "TargetToken", strings.Repeat("0", 32))} {
		id := harness.Name("box")
		owner.Post(t, "/api/edges", strings.Replace(importedWith(hawkBits, ""), "box-1", id, 1)).Is(t, http.StatusOK)
		for range 12 {
			c.Get(t, ddiPath("acme", id)).Refused(t, problem.Unauthenticated)
		}
		expect.Equal(t, strings.Join(eventNames(w, t, "edge", id), " "), "EdgeRegistered EdgeTokenGuessed", "events of %d", i)
		good := harness.Caller{URL: c.URL, Bearer: "TargetToken " + hawkBits}
		good.Get(t, ddiPath("acme", id)).Is(t, http.StatusOK)
	}
}

// TestTenants_OfAnOrganization_AreRightInThePathsOfItsBoxesAlone, also at the door, and links keep them.
func TestTenants_OfAnOrganization_AreRightInThePathsOfItsBoxesAlone(t *testing.T) {
	w, owner := published(t, atRoot, harness.WithDoor(), withSettings("DDI_TENANTS=acme=DEFAULT initech=OLD"))
	box1 := enrol(t, owner, "box-1")
	owner.Put(t, "/api/edges/box-2", strings.Replace(box, "acme", "initech", 1)).Is(t, http.StatusCreated)
	box2 := owner.SetToken(t, "/api/edges/box-2/token")
	for _, c := range []struct {
		tenant, id, token string
		status            int
	}{
		{"acme", "box-1", box1, http.StatusOK}, {"DEFAULT", "box-1", box1, http.StatusOK}, {"OLD", "box-1", box1, http.StatusNotFound},
		{"default", "box-1", box1, http.StatusNotFound}, {"initech", "box-1", box1, http.StatusNotFound},
		{"OLD", "box-2", box2, http.StatusOK}, {"initech", "box-2", box2, http.StatusOK}, {"DEFAULT", "box-2", box2, http.StatusNotFound},
	} {
		for _, by := range []*harness.Caller{w.With("TargetToken", c.token), atDoor(w, "TargetToken", c.token)} {
			a := by.Get(t, ddiPath(c.tenant, c.id)).Is(t, c.status)
			expect.That(t, c.status != http.StatusOK || strings.Contains(string(a.Body), "/"+c.tenant+"/controller/v1/"+c.id), "%s is answered %s", c.tenant, a.Body)
			by.Put(t, ddiPath(c.tenant, c.id)+"/configData", `{"data":{"hw":"1"}}`).Is(t, c.status)
		}
	}
	gateway := client(t, w, "GatewayToken", gatewayToken)
	owner.Put(t, "/api/edges/box-3", box).Is(t, http.StatusCreated)
	gateway.Get(t, ddiPath("DEFAULT", "box-3")).Is(t, http.StatusOK)
	gateway.Get(t, ddiPath("OLD", "box-2")).Refused(t, problem.NotFound)
}
