package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/shared/testing/expect"
)

// answers is a service that gives the answers in turn, and then repeats the last one.
func answers(t *testing.T, list ...func(http.ResponseWriter)) (*api.Client, *[]string) {
	t.Helper()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Idempotency-Key"))
		list[min(len(seen), len(list))-1](w)
	}))
	t.Cleanup(server.Close)
	token := func(_ context.Context, renew bool) (string, error) {
		if renew {
			return "new", nil
		}
		return "old", nil
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &api.Client{URL: server.URL, Token: token, HTTP: client, Patience: time.Second}, &seen
}

func status(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		if code >= 400 {
			_, _ = w.Write([]byte(`{"code":"C","detail":"Because."}`)) // the test sees what is missing
		}
	}
}

func TestDo_WhatIsRepeated(t *testing.T) {
	get, post, keyed := api.Request{Method: http.MethodGet}, api.Request{Method: http.MethodPost},
		api.Request{Method: http.MethodPost, Key: "k"}
	for name, c := range map[string]struct {
		request api.Request
		answers []func(http.ResponseWriter)
		calls   int
		unknown bool
		refused int
	}{
		"a success is not":                  {get, []func(http.ResponseWriter){status(200)}, 1, false, 0},
		"a refusal is not":                  {get, []func(http.ResponseWriter){status(409)}, 1, false, 409},
		"503 is, until it succeeds":         {get, []func(http.ResponseWriter){status(503), status(502), status(204)}, 3, false, 0},
		"503 is, until patience ends":       {get, []func(http.ResponseWriter){status(503, "Retry-After", "0")}, 0, true, 0},
		"429 is, with what a POST asks for": {post, []func(http.ResponseWriter){status(429, "Retry-After", "0"), status(201)}, 2, false, 0},
		"422 is, if there is a wait":        {post, []func(http.ResponseWriter){status(422, "Retry-After", "0"), status(200)}, 2, false, 0},
		"a long wait is not waited for":     {get, []func(http.ResponseWriter){status(429, "Retry-After", "41")}, 1, true, 0},
		"a POST without a key is not":       {post, []func(http.ResponseWriter){status(503)}, 1, true, 0},
		"a POST with a key is":              {keyed, []func(http.ResponseWriter){status(504), status(201)}, 2, false, 0},
		"401 is once, with a new token":     {get, []func(http.ResponseWriter){status(401)}, 2, false, 401},
	} {
		client, seen := answers(t, c.answers...)
		_, err := client.Do(t.Context(), c.request)
		_, unknown := errors.AsType[*api.Unknown](err)
		r, refused := errors.AsType[*api.RefusedError](err)
		if unknown != c.unknown || !unknown && refused != (c.refused != 0) || !unknown && refused &&
			r.Status != c.refused || c.calls != 0 && len(*seen) != c.calls {
			t.Errorf("%s: %d calls, error %v", name, len(*seen), err)
		}
	}
}

func TestDo_ARenewedToken_IsSent(t *testing.T) {
	client, seen := answers(t, status(401), status(200))
	if _, err := client.Do(t.Context(), api.Request{Method: http.MethodGet}); err != nil ||
		!slices.Equal(*seen, []string{"GET Bearer old ", "GET Bearer new "}) {
		t.Errorf("%v, %q", err, *seen)
	}
}

// TestDo_ARedirect_IsNotFollowed: the token is only for the service.
func TestDo_ARedirect_IsNotFollowed(t *testing.T) {
	client, seen := answers(t, status(307, "Location", "https://elsewhere.example/"))
	if _, err := client.Do(t.Context(), api.Request{Method: http.MethodGet}); err == nil ||
		!strings.Contains(err.Error(), "elsewhere") || len(*seen) != 1 {
		t.Errorf("%v, %q", err, *seen)
	}
}

func TestDo_ServiceThatIsNotThere_IsUnknown(t *testing.T) {
	client, _ := answers(t, status(200))
	client.URL, client.Patience = "http://127.0.0.1:1", 0
	_, err := client.Do(t.Context(), api.Request{Method: http.MethodGet})
	_, unknown := errors.AsType[*api.Unknown](err)
	expect.That(t, unknown, "%v", err)
}

func TestAll_FollowsNext_BelowWhateverPrefix(t *testing.T) {
	page := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = w.Write([]byte(text)) } // the test sees what is missing
	}
	client, seen := answers(t, page(`{"items":[1],"next":"/prod/api/edges?cursor=c"}`), page(`{"items":[2]}`))
	items, err := api.All[int](t.Context(), client, "/api/edges", nil, 0)
	if err != nil || !slices.Equal(items, []int{1, 2}) || len(*seen) != 2 {
		t.Errorf("%d in %d calls, %v", items, len(*seen), err)
	}
	client, _ = answers(t, page(`{"items":[1],"next":"/api/edges?cursor=c"}`), status(404))
	if items, err := api.All[int](t.Context(), client, "/api/edges", nil, 0); err == nil {
		t.Errorf("%d without the second page", items)
	}
}

func TestList_AsksForNoMoreThanItIsToGive(t *testing.T) {
	full := func(n int, next string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			items := strings.TrimSuffix(strings.Repeat(`{},`, n), ",")
			_, _ = fmt.Fprintf(w, `{"items":[%s]%s}`, items, next) // the test sees what is missing
		}
	}
	const more = `,"next":"/prod/api/edges?limit=100&cursor=c"`
	for name, c := range map[string]struct {
		most    int
		answers []func(http.ResponseWriter)
		items   int
		queries []string
		next    bool
	}{
		"a few": {3, []func(http.ResponseWriter){full(3, more)}, 3, []string{"limit=3"}, true},
		"over two pages": {130, []func(http.ResponseWriter){full(100, more), full(30, more)}, 130,
			[]string{"limit=100", "cursor=c&limit=30"}, true},
		"all":           {0, []func(http.ResponseWriter){full(100, more), full(7, "")}, 107, []string{"limit=100", "cursor=c&limit=100"}, false},
		"fewer than so": {50, []func(http.ResponseWriter){full(2, "")}, 2, []string{"limit=50"}, false},
		"none":          {50, []func(http.ResponseWriter){full(0, "")}, 0, []string{"limit=50"}, false},
	} {
		var queries []string
		client, _ := answers(t, c.answers...)
		client.HTTP.Transport = traveller(func(r *http.Request) (*http.Response, error) {
			queries = append(queries, r.URL.RawQuery)
			return http.DefaultTransport.RoundTrip(r)
		})
		list := expect.Value(client.List(t.Context(), "/api/edges", nil, c.most))(t)
		expect.Equal(t, queries, c.queries, "%s: it asks for", name)
		expect.Equal(t, len(list.Items), c.items, "%s: items:", name)
		expect.Equal(t, []bool{list.More, list.Next != ""}, []bool{c.next, c.next}, "%s: there are more, at a next page:", name)
	}
}

// TestList_TheFirstPage_SaysThatTheLimitIsUsedUp_AndTheOthersWait: a long list takes more calls than the limit of a
// minute.
func TestList_TheFirstPage_SaysThatTheLimitIsUsedUp_AndTheOthersWait(t *testing.T) {
	page := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = w.Write([]byte(text)) } // the test sees what is missing
	}
	first, last := page(`{"items":[{}],"next":"/api/edges?cursor=c"}`), page(`{"items":[{}]}`)
	client, seen := answers(t, first, status(429, "Retry-After", "2"), last)
	if list, err := client.List(t.Context(), "/api/edges", nil, 0); err != nil || len(list.Items) != 2 || len(*seen) != 3 {
		t.Errorf("%d items in %d calls: %v", len(list.Items), len(*seen), err)
	}
	client, _ = answers(t, status(429, "Retry-After", "2"))
	_, err := client.List(t.Context(), "/api/edges", nil, 0)
	_, unknown := errors.AsType[*api.Unknown](err)
	expect.That(t, unknown, "%v", err)
}

type traveller func(*http.Request) (*http.Response, error)

func (f traveller) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestDo_ACallThatNeverReachedTheService_IsTriedAsLongAsReach: even a POST without a key, since nothing was done.
func TestDo_ACallThatNeverReachedTheService_IsTriedAsLongAsReach(t *testing.T) {
	for reach, want := range map[time.Duration]int{0: 1, 300 * time.Millisecond: 2} {
		tries, failed, answered := 0, 0, 0
		client, _ := answers(t, status(200))
		client.URL, client.Reach = "http://127.0.0.1:1", reach
		client.Trying = func() func() { tries++; return func() { answered++ } }
		client.Failed = func(error) { failed++ }
		_, err := client.Do(t.Context(), api.Request{Method: http.MethodPost})
		if err == nil || !strings.Contains(err.Error(), "cannot reach http://127.0.0.1:1: connection refused") ||
			tries != want || answered != want || failed != want-1 {
			t.Errorf("%s: %d tries, %d answered, %d told, %v", reach, tries, answered, failed, err)
		}
	}
}
