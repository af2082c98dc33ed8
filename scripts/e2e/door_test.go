package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/scripts/samples"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/operations"
	"wavegate/shared/operations/door"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// atDoor is a caller at the door.
func atDoor(w *harness.World, scheme, token string) *harness.Caller {
	return &harness.Caller{URL: w.DoorURL, Bearer: scheme + " " + token}
}

// alike is an answer as a client sees it, wherever it called: without what belongs to one call or to the gateway. A token
// that is not valid is counted at the API alone.
func alike(w *harness.World, a harness.Answer) []any {
	header := a.Header.Clone()
	for name := range header {
		own := strings.HasPrefix(name, "X-Am") || strings.HasPrefix(strings.ToLower(name), "x-amz") // those of the gateway
		if own || a.Status == http.StatusUnauthorized && strings.HasPrefix(name, "Ratelimit") || slices.Contains([]string{"Date", "Content-Length", "Connection", "Ratelimit", "Www-Authenticate", "Link", "Content-Type"}, name) {
			header.Del(name)
			delete(header, name)
		}
	}
	body := strings.ReplaceAll(strings.ReplaceAll(string(a.Body), w.Target.URL, "URL"), w.DoorURL, "URL")
	kind := a.Header.Get("Content-Type")
	if len(a.Body) == 0 {
		kind = ""
	}
	return []any{a.Status, kind, requestID.ReplaceAllString(body, ""), header}
}

// TestDoor_ManifestsAndReports_AreTheAPIs, byte by byte, with the same entity tags: a box may change between the two.
func TestDoor_ManifestsAndReports_AreTheAPIs(t *testing.T) {
	w, owner := published(t, quick, harness.WithDoor(), harness.WithBell())
	token := enrol(t, owner, "box-1")
	api, through := w.With("Bearer", token), atDoor(w, "Bearer", token)
	api.Get(t, manifest).Is(t, http.StatusOK) // the first poll is written
	both := func(method, path, body string, header ...string) harness.Answer {
		t.Helper()
		a, b := api.Do(t, method, path, body, header...), through.Do(t, method, path, body, header...)
		expect.Equal(t, alike(w, b), alike(w, a), "%s %s at the door", method, path)
		return b
	}
	var told polling.Manifest
	both(http.MethodGet, manifest, "").Is(t, http.StatusOK).Into(t, &told)
	expect.Equal(t, told.Door, w.DoorURL, "the box is told of the door")
	tag := both(http.MethodGet, manifest, "").Header.Get("ETag")
	both(http.MethodGet, manifest, "", "If-None-Match", tag).Is(t, http.StatusNotModified)
	both(http.MethodGet, manifest+"&bell=true", "").Is(t, http.StatusOK)
	both(http.MethodPut, reports, `{"version":"1.0.0","attempt":1,"outcome":"working"}`).Is(t, http.StatusOK)
	both(http.MethodPut, reports, `{"version":"9.9.9","attempt":1,"outcome":"working"}`).Refused(t, problem.ReportStale)
	both(http.MethodPut, reports, `{"version":"1.0.0",`).Is(t, http.StatusOK)
	both(http.MethodPut, reports, `{"version":"`+strings.Repeat("x", 1<<20)+`"}`).Is(t, http.StatusOK)
	both(http.MethodGet, "/api/edges/box-2/update/manifest", "").Refused(t, problem.NotFound)
	both(http.MethodGet, "/api/edges/box%2F1/update/manifest", "").Refused(t, problem.ValidationFailed)
	through.Get(t, ddiPath("acme", "box-1")).Is(t, http.StatusOK) // the first one is written
	both(http.MethodGet, ddiPath("acme", "box-1"), "").Is(t, http.StatusOK)
	ask(t, http.MethodGet, w.DoorURL+ddiPath("acme", "box-1")+"/", "", "Authorization", through.Bearer).Is(t, http.StatusOK)
	both(http.MethodGet, ddiPath("initech", "box-1"), "").Refused(t, problem.NotFound)
	known := why(t, owner, "box-1")
	expect.That(t, known.LastSeenAt != nil && known.TokenLastUsedAt != nil, "known as %+v", known)
	var plain polling.Manifest
	w.Box(t, "box-1").Get(t, manifest).Is(t, http.StatusOK).Into(t, &plain)
	expect.Equal(t, plain.Door, "", "a box that cannot use the door is told of")
}

// TestDoor_BadInput_IsRefusedAsAtTheAPI: what is recorded of the API's operations.
func TestDoor_BadInput_IsRefusedAsAtTheAPI(t *testing.T) {
	t.Parallel()
	text := expect.Value(os.ReadFile("testdata/bad-input.jsonl"))(t)
	w := harness.New(t, harness.WithDoor(), withSettings(setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	w.Session(t, samples.Fixed()).Call(t, "put-update-report")
	id := samples.Fixed()["edgeId"]
	through := atDoor(w, "Bearer", w.Owner(t).SetToken(t, "/api/edges/"+id+"/token"))
	tried := 0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var want badInput
		expect.OK(t, json.Unmarshal([]byte(line), &want))
		i := slices.IndexFunc(door.Takes, func(op operations.Operation) bool { return op.ID == want.Operation })
		if i < 0 {
			continue
		}
		tried++
		got := want
		d := expect.Value(through.Do(t, door.Takes[i].Method, want.Path, want.Body, want.Header...).Problem())(t)
		got.Status, got.Code, got.Detail, got.Errors = d.Status, d.Code, d.Detail, d.Errors
		expect.Equal(t, strings.TrimSpace(string(encoded(t, got))), line, "at the door")
	}
	expect.That(t, tried >= 20, "%d requests were tried", tried)
}

// calls counts the calls of the store that the door makes, and the writes among them.
func calls(w *harness.World) (all, writes *atomic.Int64, end func()) {
	all, writes = &atomic.Int64{}, &atomic.Int64{}
	return all, writes, w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Function == operations.Door {
			all.Add(1)
			if c.Operation != "GetItem" {
				writes.Add(1)
			}
		}
		return storefront.Effect{}
	})
}

// TestDoor_Strangers_GetTheAPIsAnswer_ForAtMostOneRead, and no write.
func TestDoor_Strangers_GetTheAPIsAnswer_ForAtMostOneRead(t *testing.T) {
	w, owner := published(t, quick, harness.WithDoor())
	good := enrol(t, owner, "box-1")
	removed := enrol(t, owner, "box-2")
	owner.Do(t, http.MethodDelete, "/api/edges/box-2/token", "").Is(t, http.StatusNoContent)
	forged, _ := hashOf(boxtoken.Box, "box-1")
	unknown, _ := hashOf(boxtoken.Box, "box-3")
	gateway := owner.SetToken(t, gatewayToken)
	const another = "/api/edges/box-2/update/manifest"
	atDoor(w, "Bearer", good).Get(t, manifest).Is(t, http.StatusOK) // a new process opens its connections with a write
	reads, writes, end := calls(w)
	defer end()
	for name, c := range map[string]struct {
		method, path, authorization string
		code                        problem.Code
		reads                       int64
	}{
		"no token":            {http.MethodGet, manifest, "", problem.Unauthenticated, 0},
		"no scheme":           {http.MethodGet, manifest, good, problem.Unauthenticated, 0},
		"a forged token":      {http.MethodGet, manifest, "Bearer " + forged, problem.Unauthenticated, 1},
		"of an unknown box":   {http.MethodGet, "/api/edges/box-3/update/manifest", "Bearer " + unknown, problem.Unauthenticated, 1},
		"removed":             {http.MethodGet, another, "Bearer " + removed, problem.Unauthenticated, 1},
		"doubled":             {http.MethodGet, manifest, "Bearer " + good + ", Bearer " + good, problem.Unauthenticated, 0},
		"oversized":           {http.MethodGet, manifest, "Bearer " + good + strings.Repeat("A", 4000), problem.Unauthenticated, 0},
		"another case":        {http.MethodGet, manifest, "Bearer " + strings.ToUpper(good), problem.Unauthenticated, 0},
		"a gateway's":         {http.MethodGet, ddiPath("acme", "box-1"), "Bearer " + gateway, problem.Unauthenticated, 0},
		"no such path":        {http.MethodGet, "/api/edges/box-1", "", problem.NotFound, 0},
		"no such path at all": {http.MethodGet, "/" + strings.Repeat("x", 3000), "", problem.NotFound, 0},
		"dots":                {http.MethodGet, "/api/edges/../update/manifest/x", "", problem.NotFound, 0},
		"no such method":      {http.MethodPost, manifest, "Bearer " + good, problem.MethodNotAllowed, 0},
		"a body":              {http.MethodPut, reports, "Bearer " + forged, problem.Unauthenticated, 1},
	} {
		t.Run(name, func(t *testing.T) {
			body := ""
			if c.method == http.MethodPut {
				body = strings.Repeat(" ", 1<<20)
			}
			reads.Store(0)
			through := &harness.Caller{URL: w.DoorURL, Bearer: c.authorization}
			got := through.Do(t, c.method, c.path, body)
			got.Refused(t, c.code)
			expect.Equal(t, reads.Load(), c.reads, "calls of the store:")
			if c.path == "/api/edges/box-1" {
				return // the API has it
			}
			want := (&harness.Caller{URL: w.Target.URL, Bearer: c.authorization}).Do(t, c.method, c.path, body)
			expect.Equal(t, alike(w, got), alike(w, want), "at the door")
			if link := got.Header.Get("Link"); c.code == problem.Unauthenticated && link != "<"+w.Target.URL+`>; rel="alternate"` {
				t.Errorf("the API is said to be at %q", link)
			}
		})
	}
	for name, c := range map[string]*harness.Caller{"a gateway": w.With("GatewayToken", gateway), "a person": owner, "a box of an issuer": w.Box(t, "box-1")} {
		reads.Store(0)
		through := &harness.Caller{URL: w.DoorURL, Bearer: c.Bearer}
		if a := through.Get(t, ddiPath("acme", "box-1")); a.Refused(t, problem.Unauthenticated).Detail != problem.NoValidToken || a.Header.Get("Link") == "" || reads.Load() != 0 {
			t.Errorf("%s: answered %v after %d reads", name, a.Header, reads.Load())
		}
	}
	expect.Equal(t, writes.Load(), 0, "the door wrote:")
}

// TestDoor_APoll_CostsOneReadAndTheLimitersWrite if there is nothing new: the token is verified with the row of the poll.
func TestDoor_APoll_CostsOneReadAndTheLimitersWrite(t *testing.T) {
	w, owner := published(t, harness.WithDoor())
	polls, ddi := atDoor(w, "Bearer", enrol(t, owner, "box-1")), atDoor(w, "TargetToken", enrol(t, owner, "box-2"))
	base := ddiPath("acme", "box-2")
	polls.Get(t, manifest).Is(t, http.StatusOK)
	ddi.Get(t, base).Is(t, http.StatusOK)
	ddi.Put(t, base+"/configData", `{"data":{"installed":"1.0.0"}}`).Is(t, http.StatusOK)
	ddi.Get(t, base).Is(t, http.StatusOK)
	all, writes, end := calls(w)
	defer end()
	for path, by := range map[string]*harness.Caller{manifest: polls, base: ddi} {
		all.Store(0)
		writes.Store(0)
		by.Get(t, path).Is(t, http.StatusOK)
		expect.Equal(t, []int64{all.Load(), writes.Load()}, []int64{2, 1}, "calls of the store, and writes, for %s", path)
	}
}

// TestDoor_TokenTakenBack_IsRefusedAtTheNextPoll.
func TestDoor_TokenTakenBack_IsRefusedAtTheNextPoll(t *testing.T) {
	w, owner := published(t, quick, harness.WithDoor())
	through := atDoor(w, "TargetToken", enrol(t, owner, "box-1"))
	through.Get(t, manifest).Is(t, http.StatusOK)
	owner.Do(t, http.MethodDelete, "/api/edges/box-1/token", "").Is(t, http.StatusNoContent)
	through.Get(t, manifest).Refused(t, problem.Unauthenticated)
	through.Get(t, ddiPath("acme", "box-1")).Refused(t, problem.Unauthenticated)
	through.Put(t, reports, `{"version":"1.0.0","attempt":1,"outcome":"working"}`).Refused(t, problem.Unauthenticated)
}

// TestDoor_AndTheAPI_HaveOneLimit: of calls that alternate, exactly as many as the limit allows are admitted.
func TestDoor_AndTheAPI_HaveOneLimit(t *testing.T) {
	t.Parallel()
	const limit = 600
	w, owner := published(t, harness.WithDoor(), withSettings(setting.LimitUser.Assign(limit)))
	token := enrol(t, owner, "box-1")
	places := []*harness.Caller{w.With("Bearer", token), atDoor(w, "Bearer", token)}
	var admitted, refused atomic.Int64
	var all sync.WaitGroup
	for worker := range 10 {
		all.Go(func() {
			for i := range 62 {
				a, err := places[(worker+i)%2].Try(http.MethodGet, manifest, "")
				switch {
				case err != nil:
					t.Error(err)
				case a.Status == http.StatusOK:
					admitted.Add(1)
				case a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					t.Errorf("answered %d %s", a.Status, a.Body)
				}
			}
		})
	}
	all.Wait()
	expect.Equal(t, []int64{admitted.Load(), refused.Load()}, []int64{limit, 20}, "admitted and refused")
	for _, c := range places {
		c.Get(t, manifest).Refused(t, problem.RateLimited)
	}
}

// TestPolls_DuringARollout_AreOftenForBoxesThatTheGuardCompares, at the API and at the door: all boxes of a small fleet.
func TestPolls_DuringARollout_AreOftenForBoxesThatTheGuardCompares(t *testing.T) {
	w, owner := begin(t, uncached, harness.WithDoor())
	start(t, owner, "gateway-x")
	reached, other := boxesOf("1.1.0", 1)
	for _, id := range []string{reached, other} {
		token := enrol(t, owner, id)
		for _, c := range []*harness.Caller{w.With("Bearer", token), atDoor(w, "Bearer", token)} {
			c.Get(t, "/api/edges/"+id+"/update/manifest").Is(t, http.StatusOK).Has(t, `{"pollIntervalSeconds":60}`)
			var a struct {
				Config struct{ Polling struct{ Sleep string } }
			}
			c.Get(t, ddiPath("acme", id)).Is(t, http.StatusOK).Into(t, &a)
			s := a.Config.Polling.Sleep
			expect.That(t, s >= "00:00:48" && s <= "00:01:12", "%s sleeps %s", id, s)
		}
	}
}

// TestDoor_TheStoreIsDown_Is503, spread over a minute.
func TestDoor_TheStoreIsDown_Is503(t *testing.T) {
	w, owner := published(t, quick, harness.WithDoor())
	through := atDoor(w, "Bearer", enrol(t, owner, "box-1"))
	through.Get(t, manifest).Is(t, http.StatusOK)
	defer w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Function == operations.Door && slices.ContainsFunc(c.Uses, func(u storefront.Use) bool { return u.Table == dynamolocal.TableName(dynamo.Reports) }) {
			return storefront.Effect{Answer: storefront.Failure(http.StatusBadRequest, "ProvisionedThroughputExceededException", "too much")}
		}
		return storefront.Effect{}
	})()
	if a := through.Get(t, manifest); a.Refused(t, problem.Unavailable).Detail == "" || a.Header.Get("Retry-After") == "" {
		t.Errorf("answered %v", a.Header)
	}
}

// TestDoor_IsThereOnRequestAlone, and without it boxes are told of none.
func TestDoor_IsThereOnRequestAlone(t *testing.T) {
	w, owner := published(t, quick)
	token := enrol(t, owner, "box-1")
	for _, path := range []string{manifest, ddiPath("acme", "box-1")} {
		a := w.With("Bearer", token).Get(t, path).Is(t, http.StatusOK)
		expect.That(t, !strings.Contains(string(a.Body), "door"), "answered %s", a.Body)
	}
	expect.Equal(t, w.DoorURL, "", "the door is at")
}
