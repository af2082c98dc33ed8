package e2e

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// listenPath is the poll of a box that listens.
func listenPath(id, installed string) string {
	return "/api/edges/" + id + "/update/manifest?bell=true&installed=" + installed
}

// listens polls like a listening box.
func listens(t *testing.T, w *harness.World, id, installed string) polling.Manifest {
	t.Helper()
	var m polling.Manifest
	w.Box(t, id).Get(t, listenPath(id, installed)).Is(t, http.StatusOK).Into(t, &m)
	expect.Must(t, m.Bell != nil && strings.HasPrefix(m.Bell.URL, w.BellURL+"/b/gateway-x/"), "told %+v", m)
	return m
}

// hear asks the bell, without a token.
func hear(t *testing.T, method, url, tag string) harness.Answer {
	t.Helper()
	if tag == "" {
		return ask(t, method, url, "")
	}
	return ask(t, method, url, "", "If-None-Match", tag)
}

// sound returns the bell's answer at an address.
func sound(t *testing.T, url string) bell.Response {
	t.Helper()
	var a bell.Response
	hear(t, http.MethodGet, url, "").Is(t, http.StatusOK).Into(t, &a)
	return a
}

// TestBell_RingsWithEachChangeOfTheChannel_AndIsSilentBetween: the next poll says what has changed.
func TestBell_RingsWithEachChangeOfTheChannel_AndIsSilentBetween(t *testing.T) {
	w, owner := begin(t, harness.WithBell(), uncached)
	rollout := start(t, owner, "gateway-x")
	const id = "box-0027" // among the first 10 percent of 1.1.0
	owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
	m := listens(t, w, id, "1.0.0")
	last := hear(t, http.MethodGet, m.Bell.URL, "").Is(t, http.StatusOK)
	rings := func(what string, change func(), version string) {
		t.Helper()
		hear(t, http.MethodGet, m.Bell.URL, last.Header.Get("ETag")).Is(t, http.StatusNotModified)
		change()
		next := hear(t, http.MethodGet, m.Bell.URL, last.Header.Get("ETag")).Is(t, http.StatusOK)
		if next.Object(t)["sound"] == last.Object(t)["sound"] || next.Header.Get("Wavegate-Interval") != "60" {
			t.Errorf("%s: the bell says %s, before %s", what, next.Body, last.Body)
		}
		expect.Equal(t, listens(t, w, id, "1.0.0").Version, version, "%s: told", what)
		last = next
	}
	rings("a stage", func() { owner.Patch(t, rollout, `{"staged_percent":10}`).Is(t, http.StatusNoContent) }, "1.1.0")
	rings("a halt", func() { owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent) }, "1.0.0")
	rings("a publication", func() {
		owner.Put(t, channelPath("gateway-x", "stable"), release("1.2.0", digest("c"))).Is(t, http.StatusNoContent)
	}, "1.2.0")
	for _, item := range w.Items(t, dynamo.Bells) {
		t.Errorf("the item %v was written", item)
	}
}

// TestBell_ABoxThatDoesNotAsk_IsAnsweredAsWithoutABell, byte by byte.
func TestBell_ABoxThatDoesNotAsk_IsAnsweredAsWithoutABell(t *testing.T) {
	var bodies [][]byte
	for _, options := range [][]func(*service.Options){{uncached}, {uncached, harness.WithBell()}} {
		w, _ := served(t, options...)
		polls := []string{"installed=1.0.0", "installed=1.0.0&bell=false", "installed=1.0.0&bell=yes"} // a word that means nothing does not ask
		if len(options) == 1 {
			polls = append(polls, "installed=1.0.0&bell=true")
		}
		for _, query := range polls {
			bodies = append(bodies, w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest?"+query).Is(t, http.StatusOK).Body)
		}
	}
	for _, body := range bodies {
		if !bytes.Equal(body, bodies[0]) || bytes.Contains(body, []byte("bell")) {
			t.Errorf("answered %s, and %s", body, bodies[0])
		}
	}
}

// TestBell_PathsThatTheServiceDidNotMake_MakeNoCallOfTheStore: counted in front of the store.
func TestBell_PathsThatTheServiceDidNotMake_MakeNoCallOfTheStore(t *testing.T) {
	w := harness.New(t, harness.WithBell())
	var calls atomic.Int64
	defer w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Function == operations.Bell {
			calls.Add(1)
		}
		return storefront.Effect{}
	})()
	w.Owner(t).Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	w.Owner(t).Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	good := listens(t, w, "box-1", "1.0.0").Bell.URL
	for range 20 {
		for _, url := range []string{w.BellURL, w.BellURL + "/b/gateway-x/stable/AAAAAAAAAAAA", good + "/",
			good[:len(good)-1] + "!", strings.Replace(good, "stable", "canary", 1)} {
			hear(t, http.MethodGet, url, "").Refused(t, problem.NotFound)
		}
	}
	hear(t, http.MethodPost, good, "").Refused(t, problem.MethodNotAllowed)
	expect.Equal(t, calls.Load(), 0, "calls of the store after 101 calls:")
	for range 20 {
		sound(t, good)
	}
	n := calls.Load()
	expect.That(t, n != 0 && n <= 20, "20 calls at an address made %d calls of the store", n)
}

func TestBell_TheStoreIsDown_Is503_AndPollsOfOthersGoOn(t *testing.T) {
	w := harness.New(t, harness.WithBell(), uncached)
	w.Owner(t).Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	w.Owner(t).Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	m := listens(t, w, "box-1", "1.0.0")
	defer w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Function == operations.Bell {
			return storefront.Effect{Answer: storefront.Failure(http.StatusBadRequest, "ProvisionedThroughputExceededException", "too much")}
		}
		return storefront.Effect{}
	})()
	if a := hear(t, http.MethodGet, m.Bell.URL, ""); a.Refused(t, problem.Unavailable).Detail == "" || a.Header.Get("Retry-After") != "60" {
		t.Errorf("answered %v", a.Header)
	}
	listens(t, w, "box-1", "1.0.0")
}

// TestBell_CallsTheBoxThatChanged_AndNobodyElse, for every operation that changes a box.
func TestBell_CallsTheBoxThatChanged_AndNobodyElse(t *testing.T) {
	w, owner := published(t, harness.WithBell(), uncached)
	for name, change := range map[string]func(id string) harness.Answer{
		"put-edge": func(id string) harness.Answer {
			return owner.Put(t, "/api/edges/"+id, strings.Replace(box, "acme", "initech", 1))
		},
		"register-edges": func(id string) harness.Answer {
			return owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"`+id+`","edgeType":"gateway-x","channel":"stable","organizationId":"initech"}]}`)
		},
		"delete-edge": func(id string) harness.Answer { return owner.Do(t, http.MethodDelete, "/api/edges/"+id, "") },
		"put-edge-token": func(id string) harness.Answer {
			return owner.Put(t, "/api/edges/"+id+"/token", `{"tokenSha256":"`+digest("a")+`"}`)
		},
		"delete-edge-token": func(id string) harness.Answer {
			return owner.Do(t, http.MethodDelete, "/api/edges/"+id+"/token", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := harness.Name("box")
			owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
			if name == "delete-edge-token" {
				owner.SetToken(t, "/api/edges/"+id+"/token")
				time.Sleep(time.Second) // a call in the same second is not written again
			}
			m := listens(t, w, id, "1.0.0")
			before, tag := sound(t, m.Bell.URL), hear(t, http.MethodGet, m.Bell.URL, "").Header.Get("ETag")
			a := change(id)
			expect.Must(t, a.Status/100 == 2, "answered %d %s", a.Status, a.Body)
			after := sound(t, m.Bell.URL)
			expect.That(t, hear(t, http.MethodGet, m.Bell.URL, tag).Status == http.StatusOK,
				"who heard the bell before is not told again")
			called := strings.Count(strings.Join(after.Calls, " "), m.Bell.Call)
			if after.Sound != before.Sound || called != 1 || len(after.Calls) > len(before.Calls)+1 {
				t.Errorf("the bell says %+v, before %+v; the box's code is %s", after, before, m.Bell.Call)
			}
		})
	}
}
