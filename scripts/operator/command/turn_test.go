package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wavegate/scripts/local/service"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// serveBoxes answers the polls of boxes that have nothing to do, like hawkBit's DDI.
func (h *hawkbit) serveBoxes(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/DEFAULT/controller/v1/")
	for _, t := range h.targets {
		if t["controllerId"] == id && r.Header.Get("Authorization") == fmt.Sprint("TargetToken ", t["securityToken"]) {
			fmt.Fprint(w, `{"config":{"polling":{"sleep":"00:05:00"}}}`)
			return
		}
	}
	w.WriteHeader(http.StatusUnauthorized)
}

// A client is a box with a DDI client. Its configuration never changes: only where the server's name points to.
type client struct {
	id, token, runs                  string
	polls, refused, asked, installed int
}

// call makes a call of the client, which a server must not refuse.
func (c *client) call(t *testing.T, method, url, body string) (answer ddi.BaseAnswer) {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "TargetToken "+c.token)
	r.Header.Set("Content-Type", "application/json")
	a := expect.Value(http.DefaultClient.Do(r))(t)
	defer a.Body.Close()
	var text bytes.Buffer
	_ = expect.Value(text.ReadFrom(a.Body))(t)
	if a.StatusCode != http.StatusOK {
		c.refused++
		t.Errorf("%s: %s %s is answered %d %s", c.id, method, url, a.StatusCode, text.String())
		return answer
	}
	if method == http.MethodGet && text.Len() > 0 {
		expect.OK(t, json.Unmarshal(text.Bytes(), &answer))
	}
	return answer
}

// poll polls, and does what the server says. next is what the box runs after it has installed something.
func (c *client) poll(t *testing.T, server, next string) {
	t.Helper()
	place := server + "/DEFAULT/controller/v1/" + c.id
	links := c.call(t, http.MethodGet, place, "").Links
	c.polls++
	if links.ConfigData != nil {
		c.asked++
		c.call(t, http.MethodPut, links.ConfigData.Href, `{"mode":"merge","data":{"installed":"`+c.runs+`"}}`)
	}
	if links.DeploymentBase != nil {
		c.call(t, http.MethodGet, links.DeploymentBase.Href, "")
		action, _, _ := strings.Cut(links.DeploymentBase.Href, "?")
		c.call(t, http.MethodPost, action+"/feedback", `{"status":{"execution":"closed","result":{"finished":"success"},"details":[]}}`)
		c.installed++
		c.runs = next
	}
}

// TestImport_AFleetComesOverByDNS_AndGoesBack: nothing is installed again, no call is refused, all are seen within two polls, and a rollout
// reaches them. The boxes keep their server's name, their tenant, their tokens and their paths.
func TestImport_AFleetComesOverByDNS_AndGoesBack(t *testing.T) {
	const boxes = 50
	h := fleetOf(boxes)
	d, management := h.at(t, func(o *service.Options) {
		o.DDIRoot = true
		o.Environment = func(string) []string {
			return []string{string(setting.DDITenants) + "=acme=DEFAULT", setting.PollIntervalSeconds.Assign(1), setting.IdlePollIntervalSeconds.Assign(1), setting.ChannelCacheSeconds.Assign(0)}
		}
	})
	old := httptest.NewServer(http.HandlerFunc(h.serveBoxes))
	t.Cleanup(old.Close)
	var fleet []*client
	for _, target := range h.targets {
		fleet = append(fleet, &client{id: target["controllerId"].(string), token: target["securityToken"].(string), runs: "1.0.0"})
	}
	polls := func(server, next string) {
		t.Helper()
		for _, c := range fleet {
			c.poll(t, server, next)
		}
	}
	polls(old.URL, "")
	owner := d.Owner(t)
	published := func(name, version, digest string) {
		t.Helper()
		owner.Put(t, "/api/ota/release-channels/gateway-x/"+name, fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%s","sha256":%q,"sizeBytes":10,"sha1":%q}`,
			version, version, strings.Repeat(digest, 64), strings.Repeat(digest, 40))).Is(t, http.StatusCreated)
	}
	published("stable", "1.0.0", "a")
	d.does("import", "hawkbit", management, "--channel", "gateway-x/stable", "--organization", "acme", "--yes").is(run.Done).says("50 boxes registered")

	server := d.Target.URL // DNS turns
	// These were in the middle of something: of a download, before the reboot, before they closed the action.
	for i, status := range []string{`"execution":"download"`, `"execution":"proceeding"`, `"execution":"closed"`} {
		fleet[i].call(t, http.MethodPost, server+"/DEFAULT/controller/v1/"+fleet[i].id+"/deploymentBase/1499999/feedback",
			`{"status":{`+status+`,"result":{"finished":"success"},"details":["at the old server"]}}`)
	}
	polls(server, "")
	polls(server, "")
	d.does("boxes", "gateway-x/stable", "--runs", "1.0.0", "--limit", "0", "--csv").is(run.Done).counts("line-", boxes)

	published("canary", "1.1.0", "b")
	rollout := owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`).Made(t)
	for _, percent := range []string{"10", "50", "100"} {
		owner.Patch(t, rollout, `{"staged_percent":`+percent+`}`).Is(t, http.StatusNoContent)
	}
	for range 3 {
		polls(server, "1.1.0")
	}
	d.does("boxes", "gateway-x/stable", "--runs", "1.1.0", "--limit", "0", "--csv").is(run.Done).counts("line-", boxes)
	polls(old.URL, "") // and back
	for _, c := range fleet {
		if c.refused != 0 || c.installed != 1 || c.runs != "1.1.0" {
			t.Errorf("%s: %d calls were refused, it installed %d times, and runs %s", c.id, c.refused, c.installed, c.runs)
		}
	}
}

// counts counts a text in what was said.
func (r result) counts(text string, n int) {
	r.Helper()
	expect.Equal(r.T, strings.Count(r.out, text), n, "%q is in the output", text)
}
