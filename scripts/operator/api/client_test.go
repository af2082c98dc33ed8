package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/api"
)

// answers is a service that gives answers in turn, the last one again and again.
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
	get, post, keyed := api.Request{Method: http.MethodGet}, api.Request{Method: http.MethodPost}, api.Request{Method: http.MethodPost, Key: "k"}
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
		"a long wait is not waited for":     {get, []func(http.ResponseWriter){status(429, "Retry-After", "41")}, 1, true, 0},
		"a POST without a key is not":       {post, []func(http.ResponseWriter){status(503)}, 1, true, 0},
		"a POST with a key is":              {keyed, []func(http.ResponseWriter){status(504), status(201)}, 2, false, 0},
		"401 is once, with a new token":     {get, []func(http.ResponseWriter){status(401)}, 2, false, 401},
	} {
		client, seen := answers(t, c.answers...)
		_, err := client.Do(t.Context(), c.request)
		_, unknown := errors.AsType[*api.Unknown](err)
		r, refused := errors.AsType[*api.RefusedError](err)
		if unknown != c.unknown || !unknown && refused != (c.refused != 0) || !unknown && refused && r.Status != c.refused || c.calls != 0 && len(*seen) != c.calls {
			t.Errorf("%s: %d calls, error %v", name, len(*seen), err)
		}
	}
}

func TestDo_ARenewedToken_IsSent(t *testing.T) {
	client, seen := answers(t, status(401), status(200))
	if _, err := client.Do(t.Context(), api.Request{Method: http.MethodGet}); err != nil || !slices.Equal(*seen, []string{"GET Bearer old ", "GET Bearer new "}) {
		t.Errorf("%v, %q", err, *seen)
	}
}

// TestDo_ARedirect_IsNotFollowed: the token is for the service alone.
func TestDo_ARedirect_IsNotFollowed(t *testing.T) {
	client, seen := answers(t, status(307, "Location", "https://elsewhere.example/"))
	if _, err := client.Do(t.Context(), api.Request{Method: http.MethodGet}); err == nil || !strings.Contains(err.Error(), "elsewhere") || len(*seen) != 1 {
		t.Errorf("%v, %q", err, *seen)
	}
}

func TestDo_ServiceThatIsNotThere_IsUnknown(t *testing.T) {
	client, _ := answers(t, status(200))
	client.URL, client.Patience = "http://127.0.0.1:1", 0
	_, err := client.Do(t.Context(), api.Request{Method: http.MethodGet})
	if _, unknown := errors.AsType[*api.Unknown](err); !unknown {
		t.Errorf("%v", err)
	}
}

func TestPages_FollowNext_BelowWhateverPrefix(t *testing.T) {
	client, seen := answers(t,
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"items":[],"next":"/prod/api/edges?cursor=c"}`)) }, // the test sees what is missing
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"items":[]}`)) })
	pages := 0
	err := client.Pages(t.Context(), "/api/edges", nil, func(api.Response) (bool, error) { pages++; return true, nil })
	if err != nil || pages != 2 || len(*seen) != 2 {
		t.Errorf("%d pages in %d calls: %v", pages, len(*seen), err)
	}
}
