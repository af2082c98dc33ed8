package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wavegate/scripts/local/service"
	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// A hawkbit answers like hawkBit's Management API, as its documentation has it.
type hawkbit struct {
	targets []map[string]any
	tags    map[string][]string // boxes by tag
	own     bool
	gateway string // the token of a gateway; empty: it takes none
	calls   int
}

func fleetOf(n int) *hawkbit {
	h := &hawkbit{own: true, tags: map[string][]string{"lab": {"line-1"}}}
	for i := range n {
		h.targets = append(h.targets, map[string]any{
			"controllerId": fmt.Sprint("line-", i), "name": "a box", "updateStatus": "in_sync", "securityToken": fmt.Sprintf("%032x", i), "targetTypeName": "ipc",
		})
	}
	return h
}

func (h *hawkbit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.calls++
	if user, password, _ := r.BasicAuth(); user != "DEFAULT\\olga" || password != "a:b" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/hal+json")
		_ = json.NewEncoder(w).Encode(v) // to a recorder of the test
	}
	path, isTarget := strings.CutPrefix(r.URL.EscapedPath(), "/rest/v1/targets/")
	switch {
	case r.URL.Path == "/rest/v1/system/configs":
		answer(map[string]any{"authentication.targettoken.enabled": map[string]any{"value": h.own, "global": true},
			"authentication.gatewaytoken.enabled": map[string]any{"value": h.gateway != "", "global": true}, "authentication.gatewaytoken.key": map[string]any{"value": h.gateway}, "pollingTime": map[string]any{"value": "00:05:00"}})
	case r.URL.Path == "/rest/v1/actions":
		answer(map[string]any{"content": []any{map[string]any{"id": 1500000, "status": "finished"}}, "total": 1500000, "size": 1})
	case r.URL.Path == "/rest/v1/targets":
		found := h.targets
		if q, filtered := strings.CutPrefix(r.URL.Query().Get("q"), "tag=="); filtered {
			tag, _ := strconv.Unquote(q)
			found = slices.DeleteFunc(slices.Clone(found), func(t map[string]any) bool { return !slices.Contains(h.tags[tag], t["controllerId"].(string)) })
		}
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		page := found[min(offset, len(found)):min(offset+limit, len(found))]
		answer(map[string]any{"content": page, "total": len(found), "size": len(page)})
	case isTarget && strings.HasSuffix(path, "/installedDS"):
		answer(map[string]any{"name": "image", "version": "1.0.0", "modules": []any{}})
	case isTarget && strings.HasSuffix(path, "/attributes"):
		answer(map[string]any{"HW Revision": "C", "other": "x"})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// at makes a desk beside a hawkBit server.
func (h *hawkbit) at(t *testing.T, more ...func(*service.Options)) (d *desk, server string) {
	t.Helper()
	there := httptest.NewServer(h)
	t.Cleanup(there.Close)
	d = newDesk(t, append(more, func(o *service.Options) { o.ForeignTokens = true })...)
	d.env["WAVEGATE_HAWKBIT"] = "DEFAULT\\olga:a:b"
	return d, there.URL
}

// TestImport_AFleetOfHawkbits_ComesOnce, by tags, with its tokens, and is told nothing until it says what it runs.
func TestImport_AFleetOfHawkbits_ComesOnce(t *testing.T) {
	h := fleetOf(620)
	d, server := h.at(t)
	by := d.file("by.csv", "tag,edgeId,channel,organizationId\nlab,,gateway-x/canary,acme\n,line-2,gateway-y/stable,initech\n")
	args := []string{"import", "hawkbit", server, "--channel", "gateway-x/stable", "--organization", "acme", "--by", by}
	batches := 0
	d.counts(&batches)
	d.does(append(args, "--dry-run")...).is(run.Done).says("620 boxes there, 0 came already, 620 come now", "618 on gateway-x/stable of acme", "1 on gateway-x/canary of acme",
		"1 on gateway-y/stable of initech", "620 of them are told nothing new until they say what they run; their actions are above 2548576").
		warns("cannot come over by DNS: that needs https at port 443")
	expect.Equal(t, batches, 0, "calls of a dry run:")
	d.does(append(args, "--yes")...).is(run.Done).says("620 boxes registered, 0 moved or changed, 0 unchanged")
	d.does(append(args, "--yes")...).is(run.Done).says("620 boxes there, 620 came already, 0 come now")
	expect.Equal(t, batches, 21, "calls:")
	d.does("box", "show", "line-7").is(run.Done).says("imported", "2548576", "tokenSetAt")
	poll := &http.Client{}
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, d.Target.URL+"/api/ddi/acme/controller/v1/line-7", nil))(t)
	r.Header.Set("Authorization", "TargetToken "+fmt.Sprintf("%032x", 7))
	answer := expect.Value(poll.Do(r))(t)
	answer.Body.Close()
	expect.Equal(t, answer.StatusCode, http.StatusOK, "a poll with the token:")
	d.does("box", "assume", "line-7", "--version", "1.0.0", "--yes").is(run.Done).says("line-7 counts as running 1.0.0")
	d.does("box", "assume", "line-7", "--version", "1.0.1", "--yes").is(run.Done)
	d.does("box", "show", "line-7").is(run.Done).says("1.0.1")
	d.does("box", "assume", "line-7", "--version", "1.0.0", "--yes").is(run.Done)
	d.does("box", "show", "line-7").is(run.Done).says("running", "1.0.0")
}

// TestImport_TrustsTheServer_OnlyIfAsked, and takes the attributes that a person names.
func TestImport_TrustsTheServer_OnlyIfAsked(t *testing.T) {
	h := fleetOf(3)
	d, server := h.at(t)
	args := []string{"import", "hawkbit", server, "--channel", "gateway-x/stable", "--organization", "acme", "--trust-installed", "--attribute", "HW Revision", "--yes"}
	d.does(args...).is(run.Refused).warns("1.0.0, which line-0 runs there, as do 2 others, is no release of gateway-x", "1 line has errors; nothing was sent")
	d.publishes()
	d.does(append(args, "--dry-run")...).is(run.Done).says("0 of them are told nothing new", "3 run gateway-x 1.0.0")
	d.does(args...).is(run.Done).says("0 of them are told nothing new", "3 boxes registered")
	d.does("box", "show", "line-1").is(run.Done).says("running", "1.0.0", "HW_Revision").not("other")
}

// TestImport_AServerWithAGateway_GivesItsToken, which speaks for each box until that calls with its own.
func TestImport_AServerWithAGateway_GivesItsToken(t *testing.T) {
	h := fleetOf(2)
	h.gateway = strings.Repeat("9", 32)
	d, server := h.at(t)
	d.does("import", "hawkbit", server, "--channel", "gateway-x/stable", "--organization", "acme", "--yes").
		is(run.Done).says("becomes that of the gateway of acme, if that has none; it speaks for each box until", "2 boxes registered")
	poll := func(id, authorization string, status int) {
		t.Helper()
		r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, d.Target.URL+"/api/ddi/acme/controller/v1/"+id, nil))(t)
		r.Header.Set("Authorization", authorization)
		answer := expect.Value(http.DefaultClient.Do(r))(t)
		answer.Body.Close()
		expect.Equal(t, answer.StatusCode, status, "a poll of %s", id)
	}
	poll("line-0", "GatewayToken "+h.gateway, http.StatusOK)
	poll("line-1", "GatewayToken "+h.gateway, http.StatusOK)
	poll("line-1", "TargetToken "+fmt.Sprintf("%032x", 1), http.StatusOK)
	poll("line-1", "GatewayToken "+h.gateway, http.StatusUnauthorized)
	poll("line-0", "GatewayToken "+h.gateway, http.StatusOK)
	poll("line-0", "GatewayToken "+strings.Repeat("8", 32), http.StatusUnauthorized)
	var events []string
	for _, e := range d.Events(t, "gateway", "acme") {
		events = append(events, fmt.Sprint(e["eventName"]))
	}
	expect.Equal(t, strings.Join(events, " "), "GatewayTokenSet GatewayTokenUsed GatewayRefused", "events")
	h.gateway = strings.Repeat("8", 32)
	h.targets = append(h.targets, fleetOf(3).targets[2])
	d.does("import", "hawkbit", server, "--channel", "gateway-x/stable", "--organization", "acme", "--yes").
		is(run.Done).says("1 box registered").warns("the gateway of acme has a token already, which stays", "wavegate gateway-token set acme --sha256")
	poll("line-0", "GatewayToken "+strings.Repeat("9", 32), http.StatusOK)
	poll("line-0", "GatewayToken "+h.gateway, http.StatusUnauthorized)
}

// TestImport_BoxesThatCannotCome_AreAllNamed, and nothing is sent.
func TestImport_BoxesThatCannotCome_AreAllNamed(t *testing.T) {
	h := fleetOf(8)
	h.targets[1]["controllerId"] = "line 1"
	h.targets[2]["securityToken"] = h.targets[0]["securityToken"]
	h.targets[3]["securityToken"] = "short"
	h.targets[4]["securityToken"] = ""
	h.targets[6]["securityToken"] = strings.Repeat("6", 32) + " "
	h.targets[7]["securityToken"] = "wavegate-" + strings.Repeat("7", 32)
	d, server := h.at(t)
	batches := 0
	d.counts(&batches)
	args := []string{"import", "hawkbit", server, "--channel", "gateway-x/stable", "--organization", "acme", "--yes"}
	d.does(args...).is(run.Refused).warns("line 1: its id must be", "line-2: it has the token of line-0; two boxes must not have one",
		"line-3: its token has fewer than 20 characters", "line-4: it has no token", "line-6: its token can never be the right one", "line-7: its token can never", "6 lines have errors; nothing was sent")
	h.targets = append(h.targets[:1], h.targets[3], h.targets[5])
	d.does(args...).is(run.Refused).warns("line-3: its token")
	expect.Equal(t, batches, 0, "calls:")
	d.does(append(args, "--weak")...).is(run.Done).says("3 boxes registered")
	d.does("box", "show", "line-3").is(run.Done).says("tokenWeak")
}

// TestImport_AServerThatCannotBeLeft_IsNamed.
func TestImport_AServerThatCannotBeLeft_IsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *hawkbit, d *desk)
		more   []string
		code   int
		warns  string
	}{
		"a gateway's short token": {func(h *hawkbit, _ *desk) { h.gateway = "secret" }, nil, run.Refused, "which can be guessed"},
		"a gateway's odd token":   {func(h *hawkbit, _ *desk) { h.gateway = strings.Repeat("a", 32) + "\t" }, nil, run.Refused, "can never be the right one"},
		"no tokens":               {func(h *hawkbit, _ *desk) { h.own = false }, nil, run.Refused, "takes no tokens"},
		"nobody":                  {func(_ *hawkbit, d *desk) { d.env["WAVEGATE_HAWKBIT"] = "" }, nil, run.SignIn, "WAVEGATE_HAWKBIT must have a user"},
		"no organization":         {func(*hawkbit, *desk) {}, []string{"--organization", ""}, run.Misused, "is not an organization"},
	} {
		t.Run(name, func(t *testing.T) {
			h := fleetOf(1)
			d, server := h.at(t)
			c.change(h, d)
			d.does(append([]string{"import", "hawkbit", server, "--channel", "gateway-x/stable", "--organization", "acme", "--yes"}, c.more...)...).is(c.code).warns(c.warns)
		})
	}
	d := newDesk(t)
	d.does("import", "hawkbit", "ftp://x", "--channel", "gateway-x/stable", "--organization", "acme").is(run.Misused).warns("is not the URL of a server")
	d.does("import", "hawkbit", "http://127.0.0.1:1/"+url.PathEscape("x"), "--channel", "gateway-x/stable", "--organization", "acme").is(run.Unknown)
}

// TestImport_AFile_IsTheSame.
func TestImport_AFile_IsTheSame(t *testing.T) {
	d := newDesk(t, func(o *service.Options) { o.ForeignTokens = true })
	file := d.file("goosebit.csv", "edgeId,token,tag,version,attributes\nbox-1,"+strings.Repeat("a", 32)+",lab,1.0.0,board=C\nbox-2,"+strings.Repeat("b", 32)+",,,\n")
	by := d.file("by.csv", "tag,channel,organizationId\nlab,gateway-x/canary,acme\n")
	d.publishes()
	d.does("import", "csv", file, "--by", by, "--yes").is(run.Refused).warns("box-2: no channel: none is given for a box with this id")
	d.does("import", "csv", file, "--by", by, "--channel", "gateway-x/stable", "--organization", "acme", "--trust-installed", "--actions-above", "7", "--yes").
		is(run.Done).says("1 of them are told nothing new", "2 boxes registered")
	d.does("box", "show", "box-1").is(run.Done).says("running", "1.0.0", "board", "canary")
	d.does("import", "csv", d.file("bad.csv", "edgeId\nbox-1\n"), "--channel", "gateway-x/stable", "--organization", "acme").is(run.Misused).warns("token is missing")
}
