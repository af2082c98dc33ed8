package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// An approver read one content; meanwhile the version was returned, saved again and released by someone else. The
// release, a trial or a submission of the content that they read is refused.
func TestMethods_MoveThatWasMade_OfAnotherContent_IsRefused(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	submitted := fmt.Sprintf(`{"status":"in_review","reason":"r","contentSha256":%q}`, b.hash(1))
	released := b.body(1, "released", "")
	tried := b.body(1, "trial", `,"machines":["press-1"]`)
	b.move(b.author, 1, "draft", "").Is(t, http.StatusOK)
	b.save(1, another("Press twice")).Is(t, http.StatusNoContent)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	b.author.Patch(t, b.version(1), submitted).Refused(t, problem.ContentChanged)
	b.move(b.approver, 1, "trial", `,"machines":["press-1"]`).Is(t, http.StatusOK)
	b.approver.Patch(t, b.version(1), tried).Refused(t, problem.ContentChanged)
	b.move(b.approver, 1, "released", `,"firstArticle":{"reference":"F"}`).Is(t, http.StatusOK)
	b.approver.Patch(t, b.version(1), released).Refused(t, problem.ContentChanged)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK) // of the released content
	b.author.Patch(t, b.version(1), `{"status":"withdrawn","reason":"r","contentSha256":"`+digest("a")+`"}`).Is(t, http.StatusOK)
}

// A content is stored exactly as sent, or refused: nothing is replaced silently, so a hash always belongs to the
// author's bytes.
func TestMethods_TextsThatJSONLibrariesReadDifferently_AreRefused(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{
		"half of a surrogate pair": another(`\ud800`),
		"bytes that are no UTF-8":  another("\xff"),
		"a field twice":            strings.Replace(smallContent, `"form":1`, `"form":1,"form":1`, 1),
		"a field in another case":  strings.Replace(smallContent, `"form":1`, `"Form":1`, 1),
		"two values":               smallContent + smallContent,
		"a number beyond float64":  strings.Replace(smallContent, `"quantity":1`, `"quantity":1e400`, 1),
		"more than 15 digits":      strings.Replace(smallContent, `"quantity":1`, `"quantity":0.12345678901234567`, 1),
		"a line separator":         another("Press\\u2028twice"),
		"a list that never ends":   strings.Replace(smallContent, `"form":1`, `"form":`+strings.Repeat("[", 30000), 1),
	} {
		a := b.save(1, text)
		expect.That(t, a.Status == http.StatusBadRequest, "%s: %d %s", name, a.Status, a.Body)
	}
	b.author.Get(t, b.version(1)).Refused(t, problem.NotFound)
}

// Two spellings of a content are the same content, and saving the second one changes nothing.
func TestMethods_SpellingsOfOneContent_HaveOneHash(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	before := b.author.Get(t, b.version(1))
	b.save(1, " "+strings.NewReplacer(`"quantity":1`, `"quantity":10e-1`, "Press", `\u0050ress`, ",", " ,\n").Replace(smallContent)).Is(t, http.StatusNoContent)
	after := b.author.Get(t, b.version(1))
	expect.That(t, string(after.Body) == string(before.Body), "%s became %s", before.Body, after.Body)
}

// Whoever wrote a version cannot approve it by having someone else submit it, return it or save the same again; and a
// person of the same name from another issuer is a different person only with that issuer's token.
func TestMethods_Author_CannotApproveByDetour(t *testing.T) {
	b := newBench(t)
	otto := b.w.As(t, "otto", "acme", auth.OrganizationAdmin)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	otto.Put(t, b.version(1)+"/content", smallContent).Is(t, http.StatusNoContent)
	b.move(otto, 1, "in_review", "").Is(t, http.StatusOK)
	b.move(b.author, 1, "released", "").Refused(t, problem.SelfApproval)
	b.move(otto, 1, "released", "").Refused(t, problem.SelfApproval)
	b.move(b.approver, 1, "draft", "").Is(t, http.StatusOK)
	b.move(otto, 1, "in_review", "").Is(t, http.StatusOK)
	b.move(b.author, 1, "released", "").Refused(t, problem.SelfApproval)
	b.move(b.author, 1, "trial", `,"machines":["press-1"]`).Refused(t, problem.SelfApproval)
	// An additional role does not make them another person.
	promoted := b.w.As(t, "eric", "acme", auth.OrganizationAdmin, auth.ProductionEngineer)
	b.move(promoted, 1, "released", "").Refused(t, problem.SelfApproval)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK)
}

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

// The history of a machine or method does not begin before it existed, and the times at its edges are exact.
func TestMethods_TimesAtTheEdges(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	var method struct{ Effectivity []struct{ From time.Time } }
	b.author.Get(t, b.path).Into(t, &method)
	from := method.Effectivity[0].From
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	for _, c := range []struct {
		at   time.Time
		want int
	}{{from.Add(-time.Millisecond), 0}, {from, 1}, {from.Add(time.Millisecond), 1}, {from.AddDate(-20, 0, 0), 0}, {from.AddDate(1000, 0, 0), 0}} {
		expect.Equal(t, b.holds("press-1", c.at), c.want, "at %s: version", c.at)
	}
	poll := "/api/factories/munich-1/machines/press-1/methods?methodId=" + id(b.path) + "&at="
	for _, at := range []string{"now", "2026-13-01T00:00:00Z", "", "2026-01-01", "2026-01-01T00:00:00%2B25:00"} {
		b.author.Get(t, poll+at).Refused(t, problem.ValidationFailed)
	}
	for _, at := range []string{"0001-01-01T00:00:00Z", "0000-01-01T00:00:00%2B14:00", "1969-12-31T23:59:59Z", "2026-01-01T00:00:00%2B14:00"} {
		items := b.author.Get(t, poll+at).Is(t, http.StatusOK).Object(t)["items"].([]any)
		expect.That(t, len(items) == 0, "at %s: %v", at, items)
	}
	for _, at := range []string{"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-14:00"} {
		b.author.Get(t, poll+at).Is(t, http.StatusOK)
	}
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

// For an old client, requests and answers are as they were before methods had versions.
func TestMethods_OldClient_NoticesNothing(t *testing.T) {
	b := newBench(t)
	a := b.author.Post(t, methods, `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`).Is(t, http.StatusCreated)
	expect.That(t, len(a.Body) == 0 && a.Header.Get("Location") != "" && a.Header.Get("ETag") == "",
		"%v %s", a.Header, a.Body)
	made := b.author.Get(t, a.Header.Get("Location")).Is(t, http.StatusOK).Object(t)
	for _, field := range []string{"methodId", "factoryId", "productId", "name", "createdAt", "revision"} {
		expect.That(t, made[field] != nil, "it lacks %s", field)
		delete(made, field)
	}
	expect.That(t, len(made) == 0, "a method without a version shows %v", made)
	for body, want := range map[string]problem.Code{
		`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"}`:                                              problem.ValidationFailed,
		`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"x","steps":[]}`:                        problem.ValidationFailed,
		`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"` + strings.Repeat("x", 20<<10) + `"}`: problem.BodyTooLarge,
		`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"x"`:                                    problem.InvalidJSON,
	} {
		b.author.Post(t, methods, body).Refused(t, want)
	}
}

// A trial of a machine twice in one list, or of more machines than can be named, is refused; so is a field
// that is null.
func TestMethods_MovesThatMakeNoSense_AreRefused(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	many := strings.TrimSuffix(strings.Repeat(`"press-1",`, 21), ",")
	for _, more := range []string{`,"machines":["press-1","press-1"]`, `,"machines":[` + many + `]`, `,"machines":[]`, `,"machines":null`,
		`,"machines":["press-1"],"effectiveFrom":"2020-01-01T00:00:00Z"`, `,"machines":["press-1"],"effectiveFrom":null`} {
		b.move(b.approver, 1, "trial", more).Refused(t, problem.ValidationFailed)
	}
	for _, from := range []string{"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00+14:00"} {
		b.move(b.approver, 1, "released", `,"effectiveFrom":"`+from+`"`).Refused(t, problem.ValidationFailed)
	}
	status := b.author.Get(t, b.version(1)).Object(t)["status"]
	expect.That(t, status == "in_review", "it is %v", status)
}
