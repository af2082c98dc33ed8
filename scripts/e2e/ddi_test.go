package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// ddiPath is where a box's DDI client polls.
func ddiPath(tenant, id string) string { return "/api/ddi/" + tenant + "/controller/v1/" + id }

// described is the body of a publication for DDI clients.
func described(version, sha256 string) string {
	return strings.Replace(release(version, sha256), "}", `,"sizeBytes":10,"sha1":"`+strings.Repeat("1", 40)+`"}`, 1)
}

// client is a DDI client with its own token.
func client(t *testing.T, w *harness.World, scheme, place string) *harness.Caller {
	t.Helper()
	return w.With(scheme, w.Owner(t).SetToken(t, place))
}

const gatewayToken = "/api/organizations/acme/gateway-token"

// base is the answer to a poll.
func base(t *testing.T, c *harness.Caller, id string) ddi.BaseAnswer {
	t.Helper()
	var a ddi.BaseAnswer
	c.Get(t, ddiPath("acme", id)).Is(t, http.StatusOK).Into(t, &a)
	return a
}

// linked is the path of a link.
func linked(t *testing.T, w *harness.World, l *ddi.Hyperlink) string {
	t.Helper()
	expect.Must(t, l != nil && strings.HasPrefix(l.Href, w.Target.URL+"/"), "the link is %v", l)
	path, _, _ := strings.Cut(strings.TrimPrefix(l.Href, w.Target.URL), "?") // only the read of the action accepts a query
	return path
}

// feedback is a client's report about an action.
func feedback(execution, finished, words string) string {
	return fmt.Sprintf(`{"status":{"execution":%q,"result":{"finished":%q},"details":[%q]}}`, execution, finished, words)
}

// TestDDI_Gateway_SpeaksForEachBoxOfItsOrganization, from the first poll to the reboot, and through a halt.
func TestDDI_Gateway_SpeaksForEachBoxOfItsOrganization(t *testing.T) {
	w, owner := published(t, quick)
	gateway := client(t, w, "GatewayToken", gatewayToken)
	for _, id := range []string{"box-1", "box-2"} {
		owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
		gateway.Put(t, linked(t, w, base(t, gateway, id).Links.ConfigData), `{"data":{"installed":"0.9.0"}}`).Is(t, http.StatusOK)
		action := linked(t, w, base(t, gateway, id).Links.DeploymentBase)
		gateway.Get(t, action).Is(t, http.StatusOK)
		gateway.Post(t, action+"/feedback", feedback("proceeding", "none", "Downloading")).Is(t, http.StatusOK)
	}
	action := linked(t, w, base(t, gateway, "box-1").Links.DeploymentBase)
	gateway.Post(t, action+"/feedback", feedback("closed", "success", "Installed")).Is(t, http.StatusOK)
	gateway.Put(t, ddiPath("acme", "box-1")+"/configData", `{"data":{"installed":"1.0.0"}}`).Is(t, http.StatusOK)
	knows(t, owner, "box-1", "1.0.0", report.Installed)
	// The other has not finished when the version is withdrawn.
	owner.Put(t, channel, described("0.9.0", digest("b"))).Is(t, http.StatusNoContent)
	cancel := linked(t, w, base(t, gateway, "box-2").Links.CancelAction)
	gateway.Get(t, cancel).Is(t, http.StatusOK)
	gateway.Post(t, cancel+"/feedback", feedback("closed", "success", "cancellation acknowledged.")).Is(t, http.StatusOK)
	if links := base(t, gateway, "box-2").Links; links.CancelAction != nil || links.DeploymentBase != nil {
		t.Errorf("box-2 is told %+v after it has given up", links)
	}
}

// TestDDI_TokenThatWasEnded_IsGoodForNoFurtherCall, including one that was replaced and is still valid: API Gateway
// caches the authorizer's answer, so each operation checks the token again.
func TestDDI_TokenThatWasEnded_IsGoodForNoFurtherCall(t *testing.T) {
	w, owner := served(t, quick)
	for scheme, place := range map[string]string{"TargetToken": "/api/edges/box-1/token", "GatewayToken": gatewayToken} {
		t.Run(scheme, func(t *testing.T) {
			first := client(t, w, scheme, place)
			base(t, first, "box-1")
			second := client(t, w, scheme, place)
			base(t, first, "box-1")
			base(t, second, "box-1")
			owner.Do(t, http.MethodDelete, place, "").Is(t, http.StatusNoContent)
			for _, c := range []struct{ method, path, body string }{
				{http.MethodGet, "", ""}, {http.MethodGet, "/deploymentBase/1", ""}, {http.MethodGet, "/cancelAction/1", ""},
				{http.MethodPut, "/configData", `{"data":{}}`}, {http.MethodPost, "/deploymentBase/1/feedback", feedback("closed", "failure", "")},
				{http.MethodPost, "/cancelAction/1/feedback", feedback("closed", "success", "")},
			} {
				first.Do(t, c.method, ddiPath("acme", "box-1")+c.path, c.body).Refused(t, problem.Unauthenticated)
				second.Do(t, c.method, ddiPath("acme", "box-1")+c.path, c.body).Refused(t, problem.Unauthenticated)
			}
			owner.Do(t, http.MethodDelete, place, "").Refused(t, problem.NotFound)
			third := client(t, w, scheme, place)
			base(t, third, "box-1")
			owner.Do(t, http.MethodDelete, place, "").Is(t, http.StatusNoContent)
		})
	}
	if state := w.State(t); strings.Contains(state, "wavegate-edge:") || strings.Contains(state, "wavegate-gateway:") {
		t.Error("a token is stored")
	}
}

// TestDDI_WhatIsForeign_IsTheSameNotFound, byte for byte: a box of another organization, a missing one, and one under
// another organization's name.
func TestDDI_WhatIsForeign_IsTheSameNotFound(t *testing.T) {
	w, owner := served(t, quick)
	owner.Put(t, "/api/edges/box-9", strings.Replace(box, "acme", "rival", 1)).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-8", strings.Replace(box, "acme", "rival", 1)).Is(t, http.StatusCreated)
	owner.SetToken(t, "/api/edges/box-8/token")
	owner.Put(t, "/api/edges/box-2", box).Is(t, http.StatusCreated)
	for name, c := range map[string]struct {
		*harness.Caller
		own string
	}{
		"the gateway":           {client(t, w, "GatewayToken", gatewayToken), "box-2"},
		"the box":               {client(t, w, "TargetToken", "/api/edges/box-1/token"), "box-1"},
		"the box by its issuer": {w.Box(t, "box-1"), "box-1"},
	} {
		base(t, c.Caller, c.own)
		var seen []string
		for _, place := range []struct{ tenant, id string }{{"acme", "box-9"}, {"rival", "box-9"}, {"acme", "box-8"},
			{"rival", "box-8"}, {"acme", "nobody"}, {"rival", "box-1"}} {
			a := c.Get(t, ddiPath(place.tenant, place.id))
			a.Refused(t, problem.NotFound)
			seen = append(seen, bare(a, ddiPath(place.tenant, place.id)))
		}
		expect.Equal(t, len(slices.Compact(seen)), 1, "%s is answered in different ways:\n%s", name, strings.Join(seen, "\n"))
	}
}

// bare is an answer without the parts that always differ: request ids, the date, the rest of the limit, and the path.
func bare(a harness.Answer, path string) string {
	header := a.Header.Clone()
	id := header.Get("X-Amzn-Requestid")
	for _, name := range []string{"Date", "X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id", "RateLimit", "Content-Length"} {
		header.Del(name)
	}
	return fmt.Sprint(a.Status, header, strings.NewReplacer(id, "", path, "").Replace(string(a.Body)))
}

// TestDDI_WordsThatAreNoJSON_AreAFailureAllTheSame: SWUpdate puts its message between quotes without escaping.
func TestDDI_WordsThatAreNoJSON_AreAFailureAllTheSame(t *testing.T) {
	w, owner := served(t, quick)
	c := client(t, w, "TargetToken", "/api/edges/box-1/token")
	base(t, c, "box-1")
	action := linked(t, w, base(t, c, "box-1").Links.DeploymentBase)
	body := `{"id": 7, "status": {"result": {"finished": "failure"}, "execution": "closed", ` +
		`"details": ["cannot open "/dev/mmcblk0p3" for writing"]}}`
	ask(t, http.MethodPost, w.Target.URL+action+"/feedback", body, "Authorization", c.Bearer).Is(t, http.StatusOK)
	known := knows(t, owner, "box-1", "1.0.0", report.Failed)
	expect.Equal(t, known.Report.Detail, `cannot open "/dev/mmcblk0p3" for writing`, "the report's detail is")
}

// TestRestless_ABoxBehindABusyGateway_IsNot: the calls of all boxes behind it are no sign of one.
func TestRestless_ABoxBehindABusyGateway_IsNot(t *testing.T) {
	w, owner := published(t, harness.WithProcesses(1), withSettings(setting.PollIntervalSeconds.Assign(60), setting.IdlePollIntervalSeconds.Assign(60)))
	gateway := client(t, w, "GatewayToken", gatewayToken)
	owner.Put(t, boxPath, box).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-2", box).Is(t, http.StatusCreated)
	base(t, gateway, "box-1")
	gateway.Put(t, ddiPath("acme", "box-1")+"/configData", `{"data":{"installed":"0.9.0"}}`).Is(t, http.StatusOK)
	for range 70 {
		base(t, gateway, "box-2")
	}
	base(t, gateway, "box-1")
	owner.Get(t, boxPath).Has(t, `{"running":"0.9.0"}`)
	shown := string(owner.Get(t, boxPath).Body)
	expect.That(t, !strings.Contains(shown, "restless"), "it is %s", shown)
}
