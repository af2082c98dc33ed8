package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/run"
)

const pressed = `{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[{"id":"10","name":"Press","equipment":{"class":"press"},` +
	`"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},"outputs":[{"material":"PART","quantity":1,"unit":"{piece}"}]}]}`

// by makes a person run the next commands.
func (d *desk) by(c *harness.Caller) {
	d.env["WAVEGATE_URL"], d.env["WAVEGATE_TOKEN"] = c.URL, strings.TrimPrefix(c.Bearer, "Bearer ")
}

// TestMethods_FromDraftToRecall works on a method like its author and its approver.
func TestMethods_FromDraftToRecall(t *testing.T) {
	d := newDesk(t)
	eric, anna := d.Engineer(t, "acme"), d.Admin(t, "acme")
	d.Owner(t).Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	eric.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press","classes":["press"]}`).Is(t, http.StatusCreated)
	path := eric.Post(t, "/api/factories/munich-1/production-methods", `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Pressing"}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	method := path[strings.LastIndex(path, "/")+1:]
	eric.Put(t, path+"/versions/1/content", pressed).Is(t, http.StatusCreated)
	version := []string{"munich-1", method, "1"}
	methods := func(verb string, more ...string) result {
		return d.does(append(append([]string{"methods", verb}, version...), more...)...)
	}
	says := func(r result, code int, text string) {
		t.Helper()
		if r.is(code); !strings.Contains(r.out+r.err, text) {
			t.Errorf("%q: %s%s, want %s", r.args, r.out, r.err, text)
		}
	}
	d.by(eric)
	says(methods("submit", "--reason", "ready"), run.Done, "version 1 is in_review")
	says(methods("release", "--reason", "good", "--confirm", method+":1"), run.SignIn, "SELF_APPROVAL")
	says(d.does("methods", "verify", "munich-1", method), run.SignIn, "ask a platform_owner or an organization_admin; wavegate methods show has")
	d.by(anna)
	says(methods("release", "--reason", "good"), run.Misused, "Not confirmed")
	says(methods("release", "--reason", "good", "--confirm", method+":1"), run.Done, "version 1 holds on all machines")
	says(d.does("methods", "list", "munich-1"), run.Done, "1 released")
	says(d.does("methods", "versions", "munich-1", method), run.Done, "released holds")
	says(methods("diff", "--since", "1"), run.Done, "no differences")
	says(methods("withdraw", "--reason", "danger", "--confirm", method+":1"), run.Done, "version 1 is withdrawn; orders under way stop")
	says(methods("withdraw", "--reason", "danger", "--confirm", method+":1"), run.Done, "as before")
	says(methods("withdraw", "--reason", "danger", "--orders", "finish", "--confirm", method+":1"), run.Refused, "told to stop")
	says(methods("machines", "--left"), run.Done, "press-1")
	says(d.does("methods", "verify", "munich-1", method), run.Done, "links: 4")
	says(d.does("methods", "verify", "munich-1", method, strings.Repeat("a", 64)), run.Refused, "not in the chain")
	says(d.does("methods", "verify", "munich-1", "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70"), run.Refused, "NOT_FOUND")
	file := filepath.Join(t.TempDir(), "copy.json")
	says(methods("export", file), run.Done, "written")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "ProductionMethodVersionWithdrawn") || !strings.Contains(string(text), `"form": 1`) {
		t.Errorf("%v: %s", err, text)
	}
	says(methods("export", file), run.Refused, "exists")
}
