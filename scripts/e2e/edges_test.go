package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// box is the body that puts a box on the tests' channel.
const box = `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`

func manifestPath(edgeID string) string { return "/api/edges/" + edgeID + "/update/manifest" }

// uncached makes every poll read its channel's row, so that a test need not wait for its changes to arrive.
func uncached(o *service.Options) {
	withSettings(setting.ChannelCacheSeconds.Assign(0))(o)
}

func TestEdge_IsRegisteredReadAndMoved(t *testing.T) {
	w, owner := begin(t)
	const path = "/api/edges/box-1"
	owner.Get(t, path).Refused(t, problem.NotFound)
	owner.Put(t, path, box).Is(t, http.StatusCreated)
	owner.Put(t, path, box).Is(t, http.StatusNoContent)
	first := owner.Get(t, path).Is(t, http.StatusOK)
	first.Has(t, `{"edgeId":"box-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme","revision":1}`)
	expect.Equal(t, first.Header.Get("ETag"), `"1"`, "the entity tag is")
	moved := strings.Replace(box, "stable", "canary", 1)
	owner.Put(t, path, moved, "If-Match", `"7"`).Refused(t, problem.PreconditionFailed)
	owner.Put(t, path, moved, "If-Match", `"1"`).Is(t, http.StatusNoContent)
	owner.Get(t, path).Has(t, fmt.Sprintf(`{"channel":"canary","revision":2,"createdAt":%q}`, first.Object(t)["createdAt"]))
	expect.Equal(t, eventNames(w, t, "edge", "box-1"), []string{"EdgeRegistered", "EdgeReassigned"}, "events")
}

func TestReport_OfAVersionThatWasNotOffered_IsStale(t *testing.T) {
	w := harness.New(t)
	w.Owner(t).Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	before := w.State(t)
	w.Box(t, "box-1").Put(t, "/api/edges/box-1/update/report", `{"version":"9.9.9","attempt":1,"outcome":"failed","code":"boot"}`).
		Refused(t, problem.ReportStale)
	expect.Equal(t, w.State(t), before, "the stored data is")
}

// TestEdge_IDInThePath_IsDecodedOnce: bad-input.jsonl has the faults of the other values.
func TestEdge_IDInThePath_IsDecodedOnce(t *testing.T) {
	w, owner := begin(t)
	before := w.State(t)
	for _, path := range []string{"a%2Fb", "..%2Fb", "a%20b", "-a", strings.Repeat("a", 129)} {
		owner.Put(t, "/api/edges/"+path, box).Refused(t, problem.ValidationFailed)
		owner.Get(t, manifestPath(path)).Refused(t, problem.ValidationFailed)
	}
	expect.Equal(t, w.State(t), before, "the stored data is")
}

func TestEdges_AreListedByChannelAndByOrganization(t *testing.T) {
	_, owner := begin(t)
	for i := range 7 {
		body := fmt.Sprintf(`{"edgeType":"gateway-x","channel":%q,"organizationId":%q}`, []string{"stable", "canary"}[i%2],
			[]string{"acme", "rival", "third"}[i%3])
		owner.Put(t, fmt.Sprintf("/api/edges/box-%d", i), body).Is(t, http.StatusCreated)
	}
	for query, want := range map[string][]string{
		"edgeType=gateway-x&channel=stable": {"box-0", "box-2", "box-4", "box-6"},
		"edgeType=gateway-x&channel=canary": {"box-1", "box-3", "box-5"},
		"organizationId=acme":               {"box-0", "box-3", "box-6"},
		"organizationId=nobody":             nil,
		"edgeType=gateway-y&channel=stable": nil,
		"":                                  {"box-0", "box-1", "box-2", "box-3", "box-4", "box-5", "box-6"},
		"idPart=X-4":                        {"box-4"},
		"edgeType=gateway-x&idPrefix=box-5": {"box-5"},
		"organizationId=rival&idPart=4":     {"box-4"},
		"state=offered":                     nil,
		"version=1.0.0":                     nil,
		"factoryId=munich-1":                nil,
		"pinned=true":                       nil,
		"attribute=board:C":                 nil,
		"edgeType=gateway-x":                {"box-0", "box-1", "box-2", "box-3", "box-4", "box-5", "box-6"},
		"organizationId=acme&edgeType=gateway-x&channel=stable": {"box-0", "box-6"},
	} {
		for offset := range len(want) + 2 {
			var got []string
			for next := fmt.Sprintf("/api/edges?limit=2&offset=%d&%s", offset, query); next != ""; {
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
			rest := append([]string(nil), want[min(offset, len(want)):]...)
			expect.Equal(t, got, rest, "%s, after %d:", query, offset)
		}
	}
	owner.Get(t, "/api/edges?state=silent&version=&factoryId=A&idPart=%20&offset=2").Refused(t, problem.ValidationFailed)
	owner.Get(t, "/api/edges?channel=stable").Refused(t, problem.ValidationFailed)
}

func TestManifest_IsForTheBoxItselfAndForPlatformOwners(t *testing.T) {
	w, owner := served(t)
	owner.Put(t, "/api/edges/box-2", strings.Replace(box, "stable", "unpublished", 1)).Is(t, http.StatusCreated)

	var m polling.Manifest
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Is(t, http.StatusOK).Into(t, &m)
	want := polling.Manifest{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", Version: "1.0.0",
		ArtifactURL: "https://artifacts.example/1.0.0.tar.gz", SHA256: digest("a"), Source: decide.FromChannel, PollIntervalSeconds: 60}
	expect.Equal(t, m, want, "the manifest")
	owner.Get(t, manifestPath("box-1")+"?installed=").Is(t, http.StatusOK)

	// Another box's manifest and that of a box that does not exist are the same to a box.
	w.Box(t, "box-2").Get(t, manifestPath("box-1")).Refused(t, problem.NotFound)
	w.Box(t, "box-2").Get(t, manifestPath("box-9")).Refused(t, problem.NotFound)
	w.Box(t, "BOX-1").Get(t, manifestPath("box-1")).Refused(t, problem.NotFound)
	w.Box(t, "box-9").Get(t, manifestPath("box-9")).Refused(t, problem.NotFound)
	d := w.Box(t, "box-2").Get(t, manifestPath("box-2")).Refused(t, problem.NotFound)
	expect.That(t, strings.Contains(d.Detail, "gateway-x/unpublished"),
		"the box hears %q, want what its channel lacks", d.Detail)
	w.Admin(t, "acme").Get(t, manifestPath("box-1")).Refused(t, problem.Forbidden)
	w.Nobody().Get(t, manifestPath("box-1")).Refused(t, problem.Unauthenticated)
	w.Box(t, "box-1").Get(t, "/api/edges/box-1").Refused(t, problem.Forbidden)
}

// TestManifest_IfNoneMatch_IsTheReceiptOfTheLastAnswer: the tag covers what the box was told and what it reported.
// Any other value is not a receipt.
func TestManifest_IfNoneMatch_IsTheReceiptOfTheLastAnswer(t *testing.T) {
	w, owner := served(t)
	caller := w.Box(t, "box-1")
	whole := caller.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	etag := whole.Header.Get("ETag")
	expect.That(t, !strings.HasPrefix(etag, "W/") && whole.Header.Get("Cache-Control") == "no-store",
		"headers %v", whole.Header)
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
	same := caller.Get(t, manifestPath("box-1"), "If-None-Match", etag).Is(t, http.StatusNotModified)
	for _, name := range []string{"ETag", "Cache-Control", "RateLimit-Policy"} {
		expect.Equal(t, same.Header.Get(name), whole.Header.Get(name), "%s of a 304 is", name)
	}
	updated := caller.Get(t, manifestPath("box-1")+"?installed=1.0.0", "If-None-Match", etag).Is(t, http.StatusOK)
	caller.Get(t, manifestPath("box-1")+"?installed=0.9.0", "If-None-Match", updated.Header.Get("ETag")).Is(t, http.StatusOK)
}

func TestManifest_PollIntervalIsASetting_AndAMovedBoxFollowsItsNewChannel(t *testing.T) {
	w, owner := served(t, withSettings(setting.PollIntervalSeconds.Assign(15)))
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	var m polling.Manifest
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Into(t, &m)
	expect.That(t, m.PollIntervalSeconds == 15 && m.Version == "1.0.0", "got %+v", m)
	owner.Put(t, "/api/edges/box-1", strings.Replace(box, "stable", "canary", 1)).Is(t, http.StatusNoContent)
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Into(t, &m)
	expect.That(t, m.Version == "1.1.0" && m.Channel == "canary", "after the move it is told %+v", m)
}

func TestManifest_SettingThatMakesNoSense_KeepsTheFunctionFromStarting(t *testing.T) {
	w := harness.New(t, withSettings("POLL_INTERVAL_SECONDS=1m"))
	w.Box(t, "box-1").Get(t, manifestPath("box-1")).Refused(t, problem.BadGateway)
	log := strings.Join(w.Logs("get-manifest"), "\n")
	expect.That(t, strings.Contains(log, "POLL_INTERVAL_SECONDS"), "the log does not say why: %s", log)
}

// TestEdge_OfAnotherFleet_IsNotSpokenForByThisOnesIssuer: if the first issuer of boxes belongs to another fleet, this
// fleet's tokens only speak for boxes that name their issuer.
func TestEdge_OfAnotherFleet_IsNotSpokenForByThisOnesIssuer(t *testing.T) {
	const other = "https://other.example"
	w, owner := published(t, uncached, withSettings(string(setting.FleetIssuers)+"="+other+" "+devissuer.Fleet))
	with := func(issuer string) string { return strings.Replace(box, `{`, `{"issuer":`+issuer+`,`, 1) }
	const path = "/api/edges/box-1"
	poll := func() harness.Answer { return w.Box(t, "box-1").Get(t, manifestPath("box-1")) }

	owner.Put(t, path, with(`"https://nobody.example"`)).Refused(t, problem.ValidationFailed)
	owner.Put(t, path, box).Is(t, http.StatusCreated)
	if missing := w.Box(t, "box-2").Get(t, manifestPath("box-2")); poll().Refused(t, problem.NotFound).Detail != missing.
		Refused(t, problem.NotFound).Detail {
		t.Error("the other fleet's box is told from one that does not exist")
	}
	owner.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	owner.Put(t, path, with(`"`+devissuer.Fleet+`"`)).Is(t, http.StatusNoContent)
	poll().Is(t, http.StatusOK)
	owner.Put(t, path, box).Is(t, http.StatusNoContent) // omitted fields stay
	poll().Is(t, http.StatusOK)
	owner.Get(t, path).Has(t, `{"issuer":"`+devissuer.Fleet+`","revision":2}`)
	owner.Put(t, path, with(`null`)).Is(t, http.StatusNoContent)
	poll().Refused(t, problem.NotFound)
	owner.Get(t, path).Has(t, `{"issuer":null}`)
}
