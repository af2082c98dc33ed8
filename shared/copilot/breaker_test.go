package copilot

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestBreaker_TwoTimeoutsInARow_LeaveTheUpstreamAlone(t *testing.T) {
	const timeout, answer = true, false
	for name, c := range map[string]struct {
		calls []bool
		at    time.Duration // after the last call
		want  time.Duration
	}{
		"none":                         {nil, 0, 0},
		"one":                          {[]bool{timeout}, 0, 0},
		"two":                          {[]bool{timeout, timeout}, 0, breakerRest},
		"two, a while ago":             {[]bool{timeout, timeout}, 10 * time.Second, breakerRest - 10*time.Second},
		"two, and rested":              {[]bool{timeout, timeout}, breakerRest, 0},
		"two with an answer between":   {[]bool{timeout, answer, timeout}, 0, 0},
		"two, then the try times out":  {[]bool{timeout, timeout, timeout}, 0, breakerRest},
		"two, then the try is fine":    {[]bool{timeout, timeout, answer}, breakerRest, 0},
		"two, and a clock that is set": {[]bool{timeout, timeout}, -time.Hour, breakerRest},
	} {
		t.Run(name, func(t *testing.T) {
			var b breakers
			for _, late := range c.calls {
				b.ended("acme", late, noon)
			}
			expect.Equal(t, b.rest("acme", noon.Add(c.at)), c.want, "rests for")
			expect.Equal(t, b.rest("globex", noon.Add(c.at)), 0, "another organization rests for")
		})
	}
}

func TestBreakers_OfManyCallers_AreForgottenTogether(t *testing.T) {
	var b breakers
	for i := range mostBreakers + 1 {
		for range breakerTimeouts {
			b.ended(strconv.Itoa(i), true, noon)
		}
	}
	expect.That(t, len(b.each) == 1 && b.rest(strconv.Itoa(mostBreakers), noon) == breakerRest,
		"%d callers are known", len(b.each))
}

// TestForward_SlowQuestionsOfOneOrganization_StopNoOther: users without an organization have a breaker each.
func TestForward_SlowQuestionsOfOneOrganization_StopNoOther(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("slow") {
			<-r.Context().Done()
		}
	}))
	defer upstream.Close()
	base := expect.Value(url.Parse(upstream.URL))(t)
	f := New(Settings{URL: base, Secret: "s", Timeout: 50 * time.Millisecond}, nil, func() time.Time { return noon })
	ask := func(p auth.Principal, path string) error {
		_, err := f.Forward(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil), "chat", p, "r")
		return err
	}
	acme, ada := auth.Principal{Issuer: "i", UserID: "emma", OrganizationID: "acme"}, auth.Principal{Issuer: "i", UserID: "ada"}
	for _, p := range []auth.Principal{acme, ada} {
		for range breakerTimeouts {
			err := ask(p, "/?slow")
			expect.Must(t, problem.Has(err, problem.Timeout), "%s: %v", p.UserID, err)
		}
	}
	for name, c := range map[string]struct {
		caller auth.Principal
		paused bool
	}{
		"another person of the organization": {auth.Principal{Issuer: "i", UserID: "otto", OrganizationID: "acme"}, true},
		"another organization":               {auth.Principal{Issuer: "i", UserID: "gina", OrganizationID: "globex"}, false},
		"the user without an organization":   {ada, true},
		"another user without one":           {auth.Principal{Issuer: "i", UserID: "olga"}, false},
	} {
		err := ask(c.caller, "/")
		expect.That(t, problem.Has(err, problem.Unavailable) == c.paused, "%s: %v", name, err)
	}
}

// TestForward_ToAnUpstreamThatHangs_IsGivenUpAtOnce after two calls, and tried again later.
func TestForward_ToAnUpstreamThatHangs_IsGivenUpAtOnce(t *testing.T) {
	var asked atomic.Int64
	var heals atomic.Bool
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if heals.Load() {
			_, _ = io.WriteString(w, "fine")
			return
		}
		<-r.Context().Done()
	}))
	defer upstream.Close()
	base := expect.Value(url.Parse(upstream.URL))(t)
	now := noon
	f := New(Settings{URL: base, Secret: "s", Timeout: 20 * time.Millisecond}, nil, func() time.Time { return now })
	call := func() error {
		_, err := f.Forward(httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", nil), "chat", auth.Principal{UserID: "u"}, "r")
		return err
	}
	for i, want := range []problem.Code{problem.Timeout, problem.Timeout, problem.Unavailable, problem.Unavailable} {
		err := call()
		expect.Must(t, problem.Has(err, want), "call %d: %v, want %s", i+1, err, want)
	}
	expect.Equal(t, problem.From(call()).RetryAfter, breakerRest, "to be tried again after")
	expect.That(t, asked.Load() == breakerTimeouts, "the assistant was asked %d times", asked.Load())
	now = now.Add(breakerRest)
	if err := call(); !problem.Has(err, problem.Timeout) {
		t.Errorf("the try: %v", err)
	}
	if err := call(); !problem.Has(err, problem.Unavailable) {
		t.Errorf("after a failed try: %v", err)
	}
	now = now.Add(breakerRest)
	heals.Store(true)
	for range 3 {
		err := call()
		expect.That(t, err == nil, "once it answers: %v", err)
	}
}
