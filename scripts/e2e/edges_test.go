package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// box is the body that puts a box on the tests' channel.
const box = `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`

func manifestPath(edgeID string) string { return "/api/edges/" + edgeID + "/update/manifest" }

// uncached makes every poll read its channel's row, so that a test need not wait for its changes to arrive.
func uncached(o *service.Options) {
	o.Environment = func(string) []string { return []string{setting.ChannelCacheSeconds.Assign(0)} }
}

func TestEdge_IsRegisteredReadAndMoved(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	const path = "/api/edges/box-1"
	owner.Get(t, path).Refused(t, problem.NotFound)
	owner.Put(t, path, box).Is(t, http.StatusCreated)
	owner.Put(t, path, box).Is(t, http.StatusNoContent)
	first := owner.Get(t, path).Is(t, http.StatusOK)
	if got := first.Object(t); got["edgeId"] != "box-1" || got["edgeType"] != "gateway-x" || got["channel"] != "stable" ||
		got["organizationId"] != "acme" || got["revision"] != 1.0 || first.Header.Get("ETag") != `"1"` {
		t.Errorf("the box is %s", first.Body)
	}
	moved := strings.Replace(box, "stable", "canary", 1)
	owner.Put(t, path, moved, "If-Match", `"7"`).Refused(t, problem.PreconditionFailed)
	owner.Put(t, path, moved, "If-Match", `"1"`).Is(t, http.StatusNoContent)
	if got := owner.Get(t, path).Object(t); got["channel"] != "canary" || got["revision"] != 2.0 || got["createdAt"] != first.Object(t)["createdAt"] {
		t.Errorf("after the move it is %v", got)
	}
	if names := eventNames(w, t, "edge", "box-1"); !slices.Equal(names, []string{"EdgeRegistered", "EdgeReassigned"}) {
		t.Errorf("events %q", names)
	}
}

func TestReport_OfAVersionThatWasNotOffered_IsStale(t *testing.T) {
	w := harness.New(t)
	w.Owner(t).Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	before := w.State(t)
	w.Box(t, "box-1").Put(t, "/api/edges/box-1/update/report", `{"version":"9.9.9","attempt":1,"outcome":"failed","code":"boot"}`).
		Refused(t, problem.ReportStale)
	if after := w.State(t); after != before {
		t.Errorf("the report wrote something:\nbefore %s\nafter  %s", before, after)
	}
}

func TestEdge_BadInput_IsRefusedAndNothingWritten(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	before := w.State(t)
	for _, path := range []string{"a%2Fb", "..%2Fb", "a%20b", "-a", strings.Repeat("a", 129)} {
		owner.Put(t, "/api/edges/"+path, box).Refused(t, problem.ValidationFailed)
		owner.Get(t, manifestPath(path)).Refused(t, problem.ValidationFailed)
	}
	d := owner.Put(t, "/api/edges/box-1", `{"edgeType":"","channel":7,"other":1}`).Refused(t, problem.ValidationFailed)
	if len(d.Errors) != 4 {
		t.Errorf("faults %+v, want all four", d.Errors)
	}
	for _, query := range []string{"installed=" + strings.Repeat("a", 129), "installed=%00", "installed=1&installed=2", "Installed=1", "x=1"} {
		owner.Get(t, manifestPath("box-1")+"?"+query).Refused(t, problem.ValidationFailed)
	}
	for _, query := range []string{"", "?edgeType=a", "?channel=a", "?edgeType=a&channel=b&organizationId=c", "?organizationId=%20", "?limit=0&organizationId=c"} {
		owner.Get(t, "/api/edges"+query).Refused(t, problem.ValidationFailed)
	}
	if after := w.State(t); after != before {
		t.Errorf("something was written: %s", after)
	}
}

func TestEdges_AreListedByChannelAndByOrganization(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	for i := range 7 {
		body := fmt.Sprintf(`{"edgeType":"gateway-x","channel":%q,"organizationId":%q}`, []string{"stable", "canary"}[i%2], []string{"acme", "rival", "third"}[i%3])
		owner.Put(t, fmt.Sprintf("/api/edges/box-%d", i), body).Is(t, http.StatusCreated)
	}
	for query, want := range map[string][]string{
		"edgeType=gateway-x&channel=stable": {"box-0", "box-2", "box-4", "box-6"},
		"edgeType=gateway-x&channel=canary": {"box-1", "box-3", "box-5"},
		"organizationId=acme":               {"box-0", "box-3", "box-6"},
		"organizationId=nobody":             nil,
		"edgeType=gateway-y&channel=stable": nil,
	} {
		var got []string
		for next := "/api/edges?limit=2&" + query; next != ""; {
			var page struct {
				Items []edge.Edge
				Next  string
			}
			owner.Get(t, next).Is(t, http.StatusOK).Into(t, &page)
			for _, e := range page.Items {
				got = append(got, e.EdgeID)
			}
			next = page.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestManifest_IsForTheBoxItselfAndForPlatformOwners(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-2", strings.Replace(box, "stable", "unpublished", 1)).Is(t, http.StatusCreated)

	var m polling.Manifest
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Is(t, http.StatusOK).Into(t, &m)
	want := polling.Manifest{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", Version: "1.0.0",
		ArtifactURL: "https://artifacts.example/1.0.0.tar.gz", SHA256: digest("a"), Source: polling.FromChannel, PollIntervalSeconds: 60}
	if m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
	owner.Get(t, manifestPath("box-1")+"?installed=").Is(t, http.StatusOK)

	// Another box's manifest and that of a box that does not exist are the same to a box.
	w.Box(t, "box-2").Get(t, manifestPath("box-1")).Refused(t, problem.NotFound)
	w.Box(t, "box-2").Get(t, manifestPath("box-9")).Refused(t, problem.NotFound)
	w.Box(t, "BOX-1").Get(t, manifestPath("box-1")).Refused(t, problem.NotFound)
	w.Box(t, "box-9").Get(t, manifestPath("box-9")).Refused(t, problem.NotFound)
	d := w.Box(t, "box-2").Get(t, manifestPath("box-2")).Refused(t, problem.NotFound)
	if !strings.Contains(d.Detail, "gateway-x/unpublished") {
		t.Errorf("the box hears %q, want what its channel lacks", d.Detail)
	}
	w.Admin(t, "acme").Get(t, manifestPath("box-1")).Refused(t, problem.Forbidden)
	w.Nobody().Get(t, manifestPath("box-1")).Refused(t, problem.Unauthenticated)
	w.Box(t, "box-1").Get(t, "/api/edges/box-1").Refused(t, problem.Forbidden)
}

// TestManifest_NotModified_InEveryStateWhereNothingServedChanged takes a channel through its life and polls after
// each step with the previous poll's entity tag: 304 exactly if the bytes would be the same.
func TestManifest_NotModified_InEveryStateWhereNothingServedChanged(t *testing.T) {
	w := harness.New(t, uncached)
	owner := w.Owner(t)
	in, out := boxesOf("2.0.0", 1) // one that the first stage reaches, and one that 50 percent does not
	for _, id := range []string{in, out} {
		owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
	}
	var rollout string
	patch := func(body string) func() {
		return func() { owner.Patch(t, rollout, body).Is(t, http.StatusNoContent) }
	}
	begin := func() {
		rollout = owner.Post(t, rollouts, plan("gateway-x", "stable", "2.0.0")).Is(t, http.StatusCreated).Header.Get("Location")
	}
	publish := func(version, sha string) func() {
		return func() { owner.Put(t, channel, release(version, sha)) }
	}
	steps := []struct {
		name    string
		do      func()
		changed []string // which answers change: for the box in, the box out, and both with 2.0.0 installed
	}{
		{"published", publish("1.0.0", digest("a")), []string{"in", "out", "in has", "out has"}},
		{"published again", publish("1.0.0", digest("a")), nil},
		{"published elsewhere", func() {
			owner.Put(t, channelPath("gateway-x", "canary"), release("2.0.0", digest("b"))).Is(t, http.StatusCreated)
		}, nil},
		{"started", begin, []string{"in", "in has", "out has"}},
		{"raised to 10", func() { patch(`{"staged_percent":10}`)() }, nil},
		{"raised to 50", func() { patch(`{"staged_percent":50}`)() }, nil},
		{"raised to 100", func() { patch(`{"staged_percent":100}`)() }, []string{"out", "out has"}},
		{"halted", func() { patch(`{"status":"halted"}`)() }, []string{"in", "out", "in has", "out has"}},
		{"resumed", func() { patch(`{"status":"active"}`)() }, []string{"in", "out", "in has", "out has"}},
		{"halted again", func() { patch(`{"status":"halted"}`)() }, []string{"in", "out", "in has", "out has"}},
		{"completed after the halt", func() { patch(`{"status":"completed"}`)() }, nil},
		{"started again", begin, []string{"in", "in has", "out has"}},
		{"published during it", publish("1.1.0", digest("c")), []string{"in", "out", "in has", "out has"}},
		{"started on another version", begin, []string{"in", "in has", "out has"}},
		{"completed as if raised", func() {
			for _, percent := range []int{10, 50} {
				patch(fmt.Sprintf(`{"staged_percent":%d}`, percent))()
			}
			patch(`{"staged_percent":100,"status":"completed"}`)()
		}, []string{"in", "out", "in has", "out has"}},
		{"published after it", publish("1.2.0", digest("d")), []string{"in", "out", "in has", "out has"}},
	}
	type view struct{ body, etag string }
	last := map[string]view{}
	for _, s := range steps {
		s.do()
		for _, who := range []string{"in", "out", "in has", "out has"} {
			id := map[bool]string{true: in, false: out}[strings.HasPrefix(who, "in")]
			query := ""
			if strings.HasSuffix(who, "has") {
				query = "?installed=2.0.0"
			}
			caller, path := w.Box(t, id), manifestPath(id)+query
			whole := caller.Get(t, path).Is(t, http.StatusOK)
			now := view{string(whole.Body), whole.Header.Get("ETag")}
			if was := last[who]; was.etag != "" {
				again := caller.Get(t, path, "If-None-Match", was.etag)
				wantStatus := http.StatusNotModified
				if slices.Contains(s.changed, who) {
					wantStatus = http.StatusOK
				}
				if again.Status != wantStatus {
					t.Errorf("%s: %s was answered %d, want %d\nbefore %s\nafter  %s", s.name, who, again.Status, wantStatus, was.body, now.body)
				}
				if (was.body == now.body) != (was.etag == now.etag) {
					t.Errorf("%s: %s: the tag and the bytes disagree", s.name, who)
				}
			}
			same := caller.Get(t, path, "If-None-Match", now.etag).Is(t, http.StatusNotModified)
			for _, name := range []string{"ETag", "Cache-Control", "RateLimit-Policy"} {
				if same.Header.Get(name) == "" || same.Header.Get(name) != whole.Header.Get(name) {
					t.Errorf("%s of a 304 is %q, of a 200 %q", name, same.Header.Get(name), whole.Header.Get(name))
				}
			}
			last[who] = now
		}
	}
}

// TestManifest_IfNoneMatch_IsTheReceiptOfTheLastAnswer: the tag covers what the box was told and what it reported.
// Any other value is not a receipt.
func TestManifest_IfNoneMatch_IsTheReceiptOfTheLastAnswer(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	caller := w.Box(t, "box-1")
	whole := caller.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	etag := whole.Header.Get("ETag")
	if strings.HasPrefix(etag, "W/") || whole.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", whole.Header)
	}
	for header, status := range map[string]int{
		etag: 304, "*": 200, `"a", ` + etag: 200, `W/` + etag: 200, etag + `,"b"`: 200, `"a"`: 200,
		strings.Trim(etag, `"`): 200, "": 200, `"` + url.QueryEscape(etag) + `"`: 200,
	} {
		if a := caller.Get(t, manifestPath("box-1"), "If-None-Match", header); a.Status != status || (status == 304) != (len(a.Body) == 0) {
			t.Errorf("If-None-Match: %s was answered %d %s, want %d", header, a.Status, a.Body, status)
		}
	}
	if a := owner.Get(t, manifestPath("box-1"), "If-None-Match", etag); a.Status != http.StatusOK || a.Header.Get("ETag") == etag {
		t.Errorf("the box's receipt is valid for somebody else: %d %v", a.Status, a.Header)
	}
	updated := caller.Get(t, manifestPath("box-1")+"?installed=1.0.0", "If-None-Match", etag).Is(t, http.StatusOK)
	caller.Get(t, manifestPath("box-1")+"?installed=0.9.0", "If-None-Match", updated.Header.Get("ETag")).Is(t, http.StatusOK)
}

func TestManifest_PollIntervalIsASetting_AndAMovedBoxFollowsItsNewChannel(t *testing.T) {
	w := harness.New(t, func(o *service.Options) {
		o.Environment = func(string) []string { return []string{setting.PollIntervalSeconds.Assign(15)} }
	})
	owner := w.Owner(t)
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	var m polling.Manifest
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Into(t, &m)
	if m.PollIntervalSeconds != 15 || m.Version != "1.0.0" {
		t.Errorf("got %+v", m)
	}
	owner.Put(t, "/api/edges/box-1", strings.Replace(box, "stable", "canary", 1)).Is(t, http.StatusNoContent)
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Into(t, &m)
	if m.Version != "1.1.0" || m.Channel != "canary" {
		t.Errorf("after the move it is told %+v", m)
	}
}

func TestManifest_SettingsThatMakeNoSense_KeepTheFunctionFromStarting(t *testing.T) {
	for _, setting := range []string{"POLL_INTERVAL_SECONDS=0", "POLL_INTERVAL_SECONDS=1m", "CHANNEL_CACHE_SECONDS=3", "CHANNEL_CACHE_SECONDS=-1", "LOG_SAMPLE_POLLS=0"} {
		w := harness.New(t, func(o *service.Options) {
			o.Environment = func(string) []string { return []string{setting} }
		})
		a := w.Box(t, "box-1").Get(t, manifestPath("box-1"))
		if a.Status < 500 {
			t.Errorf("%s: answered %d %s", setting, a.Status, a.Body)
		}
		name, _, _ := strings.Cut(setting, "=")
		if log := strings.Join(w.Logs("get-manifest"), "\n"); !strings.Contains(log, name) {
			t.Errorf("%s: the log does not say why: %s", setting, log)
		}
	}
}

// TestEdge_OfAnotherFleet_IsNotSpokenForByThisOnesIssuer: if the first issuer of boxes belongs to another fleet, this
// fleet's tokens only speak for boxes that name their issuer.
func TestEdge_OfAnotherFleet_IsNotSpokenForByThisOnesIssuer(t *testing.T) {
	const other = "https://other.example"
	w := harness.New(t, uncached, withSettings(string(setting.FleetIssuers)+"="+other+" "+devissuer.Fleet))
	owner := w.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable",
		`{"currentVersion":"1.0.0","artifactUrl":"https://a.example/1","sha256":"`+strings.Repeat("a", 64)+`"}`).Is(t, http.StatusCreated)
	with := func(issuer string) string { return strings.Replace(box, `{`, `{"issuer":`+issuer+`,`, 1) }
	const path = "/api/edges/box-1"
	poll := func() harness.Answer { return w.Box(t, "box-1").Get(t, manifestPath("box-1")) }

	owner.Put(t, path, with(`"https://nobody.example"`)).Refused(t, problem.ValidationFailed)
	owner.Put(t, path, box).Is(t, http.StatusCreated)
	if missing := w.Box(t, "box-2").Get(t, manifestPath("box-2")); poll().Refused(t, problem.NotFound).Detail != missing.Refused(t, problem.NotFound).Detail {
		t.Error("the other fleet's box is told from one that does not exist")
	}
	owner.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	owner.Put(t, path, with(`"`+devissuer.Fleet+`"`)).Is(t, http.StatusNoContent)
	poll().Is(t, http.StatusOK)
	owner.Put(t, path, box).Is(t, http.StatusNoContent) // omitted fields stay
	poll().Is(t, http.StatusOK)
	if got := owner.Get(t, path).Object(t); got["issuer"] != devissuer.Fleet || got["revision"] != 2.0 {
		t.Errorf("the box is %v", got)
	}
	owner.Put(t, path, with(`null`)).Is(t, http.StatusNoContent)
	poll().Refused(t, problem.NotFound)
	if got := owner.Get(t, path).Object(t); got["issuer"] != nil {
		t.Errorf("the box is %v", got)
	}
}
