package e2e

import (
	"net/http"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// registration is the body that registers a box of acme: its factory, and further fields. An empty slug omits the
// factory.
func registration(slug, more string) string {
	if slug != "" {
		more += `,"factoryId":"` + slug + `"`
	}
	return `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"` + more + `}`
}

// A second fleet issuer speaks only for its own boxes: its box with the same id is a different one.
func TestMethods_BoxOfAnotherFleet_IsAnother(t *testing.T) {
	const first = "https://first-fleet.example"
	b := benchIn(t, harness.New(t, withSettings(string(setting.FleetIssuers)+"="+first+" "+devissuer.Fleet)))
	owner := b.w.Owner(t)
	b.release(1, smallContent)
	for box, issuer := range map[string]string{"box-1": "", "box-2": `,"issuer":"` + devissuer.Fleet + `"`, "box-3": `,"issuer":"` + first + `"`} {
		owner.Put(t, "/api/edges/"+box, registration("munich-1", issuer)).Is(t, http.StatusCreated)
	}
	poll := "/api/factories/munich-1/machines/press-1/methods?methodId=" + id(b.path)
	for box, may := range map[string]bool{"box-1": false, "box-2": true, "box-3": false} {
		for _, path := range []string{poll, b.version(1) + "/content"} {
			a := b.w.Box(t, box).Get(t, path)
			if may {
				a.Is(t, http.StatusOK)
			} else {
				a.Refused(t, problem.NotFound)
			}
		}
	}
}

// A box reads the production methods of its factory, and nothing else.
func TestMethods_Box_ReadsWhatMayBeProducedBy_WhereItStands(t *testing.T) {
	b := newBench(t)
	owner := b.w.Owner(t)
	factory(t, b.w, "munich-2", "acme")
	for box, slug := range map[string]string{"box-1": "munich-1", "box-2": "munich-2", "box-3": ""} {
		owner.Put(t, "/api/edges/"+box, registration(slug, "")).Is(t, http.StatusCreated)
	}
	here, content, poll := b.w.Box(t, "box-1"), b.version(1)+"/content", "/api/factories/munich-1/machines/press-1/methods?methodId="+id(b.path)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	here.Get(t, content).Refused(t, problem.NotFound)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	here.Get(t, content).Refused(t, problem.NotFound)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK)
	here.Get(t, content).Is(t, http.StatusOK)
	here.Get(t, poll).Is(t, http.StatusOK)
	for _, box := range []string{"box-2", "box-3", "box-4"} {
		there := b.w.Box(t, box)
		there.Get(t, content).Refused(t, problem.NotFound)
		there.Get(t, poll).Refused(t, problem.NotFound)
	}
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	here.Get(t, content).Refused(t, problem.NotFound)
	here.Patch(t, b.version(1), `{"status":"released","reason":"r"}`).Refused(t, problem.Forbidden)
	here.Get(t, b.version(1)).Refused(t, problem.Forbidden)
}

// Withdrawals are allowed when the limit refuses everything else.
func TestMethods_Withdrawal_PassesTheLimit(t *testing.T) {
	b := benchIn(t, harness.New(t, withSettings("LIMIT_USER=12", "LIMIT_COPILOT_USER=5")))
	b.release(1, smallContent)
	limited := false
	for range 12 {
		limited = limited || b.author.Get(t, b.path).Status == http.StatusTooManyRequests
	}
	expect.Must(t, limited, "the caller is not at their limit")
	b.author.Patch(t, b.version(1), `{"status":"withdrawn","reason":"stop"}`).Is(t, http.StatusOK)
}

// A version with the maximum number of signatures says so, and can still be released and withdrawn.
func TestMethods_ManySignatures_LeaveReleaseAndWithdrawalFree(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	refused := 0
	for i := range 20 {
		on := []string{`,"machines":["press-1"]`, `,"machines":["press-1","press-2"]`}[i%2]
		if a := b.move(b.approver, 1, "trial", on); a.Status != http.StatusOK {
			a.Refused(t, problem.EffectivityFull)
			refused++
		}
	}
	if refused != 3 { // two of the last five changed nothing
		t.Errorf("%d of 20 trials were refused", refused)
	}
	b.move(b.approver, 1, "released", `,"firstArticle":{"reference":"F"}`).Is(t, http.StatusOK)
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	got := b.holds("press-1", time.Time{})
	expect.That(t, got == 0, "version %d holds", got)
}
