package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/expect"
)

const (
	boxPath  = "/api/edges/box-1"
	manifest = boxPath + "/update/manifest?installed=0.9.0"
	reports  = boxPath + "/update/report"
)

var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

func hashOf(kind boxtoken.Prefix, subject string) (text, body string) {
	text, token := boxtoken.New(kind, subject)
	return text, `{"tokenSha256":"` + token.SHA256 + `"}`
}

// TestBoxToken_WorksForManifestReportsAndDDI_ByBothSchemes, and for no other box.
func TestBoxToken_WorksForManifestReportsAndDDI_ByBothSchemes(t *testing.T) {
	w, owner := published(t, quick)
	text, token := boxtoken.New(boxtoken.Box, "box-1")
	owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"box-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme","tokenSha256":"`+token.SHA256+`"}]}`).Is(t, http.StatusOK)
	owner.Put(t, "/api/edges/box-2", box).Is(t, http.StatusCreated)
	for _, scheme := range []string{"Bearer", "TargetToken"} {
		b := w.With(scheme, text)
		b.Get(t, manifest).Is(t, http.StatusOK)
		b.Put(t, reports, `{"version":"1.0.0","attempt":1,"outcome":"working"}`).Is(t, http.StatusOK)
		b.Get(t, ddiPath("acme", "box-1")).Is(t, http.StatusOK)
		b.Get(t, "/api/edges/box-2/update/manifest").Refused(t, problem.NotFound)
		b.Put(t, "/api/edges/box-2/update/report", `{"version":"1.0.0","attempt":1,"outcome":"working"}`).Refused(t, problem.NotFound)
		b.Get(t, boxPath).Refused(t, problem.Forbidden)
	}
	if known := why(t, owner, "box-1"); known.TokenLastUsedAt == nil || known.TokenFirstUsedAt == nil {
		t.Error("nobody knows that the token was used")
	}
	shown := string(owner.Get(t, boxPath).Is(t, http.StatusOK).Body) +
		string(owner.Get(t, "/api/edges?organizationId=acme").Is(t, http.StatusOK).Body) +
		string(owner.Get(t, "/api/ota/audit-events?resourceType=edge&resourceId=box-1").Body) + fmt.Sprint(w.Events(t, "edge", "box-1"))
	expect.That(t, !strings.Contains(shown, token.SHA256) && strings.Contains(shown, "tokenSetAt"), "shown: %s", shown)
	owner.Do(t, http.MethodDelete, boxPath+"/token", "").Is(t, http.StatusNoContent)
	b := w.With("Bearer", text)
	b.Get(t, manifest).Refused(t, problem.Unauthenticated)
	b.Put(t, reports, `{"version":"1.0.0","attempt":1,"outcome":"working"}`).Refused(t, problem.Unauthenticated)
}

// TestBoxToken_ThatIsToldLater_IsRefusedUntilThen, and not a moment longer: whoever makes a box may be faster.
func TestBoxToken_ThatIsToldLater_IsRefusedUntilThen(t *testing.T) {
	w, owner := served(t, quick)
	text, body := hashOf(boxtoken.Box, "box-1")
	b := w.With("Bearer", text)
	b.Get(t, manifest).Refused(t, problem.Unauthenticated)
	owner.Put(t, boxPath+"/token", body).Is(t, http.StatusNoContent)
	b.Get(t, manifest).Is(t, http.StatusOK)
}

// TestGateway_TokenThatWasReplaced_WorksAtOnce_AndTheOldOneGoesOn, in each of the six operations.
func TestGateway_TokenThatWasReplaced_WorksAtOnce_AndTheOldOneGoesOn(t *testing.T) {
	w := harness.New(t) // the container caches the gateway's tokens for two seconds
	owner := w.Owner(t)
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, boxPath, box).Is(t, http.StatusCreated)
	before := client(t, w, "GatewayToken", gatewayToken)
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodGet, "", "", http.StatusOK},
		{http.MethodPut, "/configData", `{"data":{"installed":"0.9.0"}}`, http.StatusOK},
		{http.MethodGet, "/deploymentBase/1", "", http.StatusNotFound},
		{http.MethodGet, "/cancelAction/1", "", http.StatusNotFound},
		{http.MethodPost, "/deploymentBase/1/feedback", feedback("proceeding", "none", ""), http.StatusOK},
		{http.MethodPost, "/cancelAction/1/feedback", feedback("proceeding", "none", ""), http.StatusOK},
	} {
		before.Do(t, c.method, ddiPath("acme", "box-1")+c.path, c.body).Is(t, c.status)
		next := client(t, w, "GatewayToken", gatewayToken)
		next.Do(t, c.method, ddiPath("acme", "box-1")+c.path, c.body).Is(t, c.status)
		before.Do(t, c.method, ddiPath("acme", "box-1")+c.path, c.body).Is(t, c.status)
		before = next
	}
	expect.Equal(t, strings.Count(strings.Join(eventNames(w, t, "gateway", "acme"), " "), "GatewayTokenUsed"), 7, "the trail has")
}

// TestGateway_BoxWithATokenOfItsOwn_IsAnsweredLikeAStranger: with the same body. The trail has one event.
func TestGateway_BoxWithATokenOfItsOwn_IsAnsweredLikeAStranger(t *testing.T) {
	w, owner := served(t, quick)
	gateway := client(t, w, "GatewayToken", gatewayToken)
	base(t, gateway, "box-1")
	owner.SetToken(t, boxPath+"/token")
	unknown, _ := hashOf(boxtoken.Gateway, "acme")
	stranger := w.With("GatewayToken", unknown)
	for _, c := range []struct{ method, path, body string }{
		{http.MethodGet, "", ""}, {http.MethodPut, "/configData", `{"data":{"installed":"9"}}`},
		{http.MethodPost, "/deploymentBase/1/feedback", feedback("closed", "failure", "forged")},
	} {
		path := ddiPath("acme", "box-1") + c.path
		got, want := gateway.Do(t, c.method, path, c.body), stranger.Do(t, c.method, path, c.body)
		got.Refused(t, problem.Unauthenticated)
		bare := func(a harness.Answer) string { return requestID.ReplaceAllString(string(a.Body), "") }
		expect.Equal(t, bare(got), bare(want), "answered %s, and a stranger %s", got.Body, want.Body)
	}
	expect.That(t, why(t, owner, "box-1").Running != "9", "a forged report was accepted")
	expect.Equal(t, strings.Count(strings.Join(eventNames(w, t, "gateway", "acme"), " "), "GatewayRefused"), 1, "the trail has")
}

// TestGateway_MadeUpIDs_ShareItsLimit_AndHaveNoRows: no matter which boxes the calls name.
func TestGateway_MadeUpIDs_ShareItsLimit_AndHaveNoRows(t *testing.T) {
	w, _ := served(t, quick, withSettings("LIMIT_USER=20", "LIMIT_COPILOT_USER=5"))
	gateway := client(t, w, "GatewayToken", gatewayToken)
	base(t, gateway, "box-1")
	statuses := map[int]int{}
	for i := range 25 {
		statuses[gateway.Get(t, ddiPath("acme", fmt.Sprintf("made-up-%d", i))).Status]++
	}
	expect.Equal(t, statuses, map[int]int{http.StatusNotFound: 19, http.StatusTooManyRequests: 6}, "the calls are answered with")
	rows := fmt.Sprint(w.Items(t, dynamo.RateCounters), w.State(t))
	expect.Equal(t, strings.Contains(rows, "made-up"), false, "an id that was made up has a row:")
	counted := ratelimit.Subject(auth.User(devissuer.Fleet, "box-1"))
	expect.Equal(t, strings.Contains(rows, counted), true, "the box that the gateway speaks for is counted:")
}

// TestBoxID_MACAddressOrLongSerialNumber_WorksEverywhere, but nothing with a slash, a space or a control character.
func TestBoxID_MACAddressOrLongSerialNumber_WorksEverywhere(t *testing.T) {
	w, owner := published(t, quick)
	gateway := client(t, w, "GatewayToken", gatewayToken)
	for _, id := range []string{"00:1A:2B:3C:4D:5E", "s" + strings.Repeat("0:", 63) + "1"} {
		path := "/api/edges/" + id
		owner.Put(t, path, box).Is(t, http.StatusCreated)
		base(t, gateway, id)
		b := w.With("Bearer", owner.SetToken(t, path+"/token"))
		b.Get(t, path+"/update/manifest?installed=0.9.0").Is(t, http.StatusOK)
		base(t, b, id) // the first answer asks which version the box runs
		b.Get(t, linked(t, w, base(t, b, id).Links.DeploymentBase)).Is(t, http.StatusOK)
		expect.Equal(t, why(t, owner, id).Running, "0.9.0", "%s is known as", id)
		list := owner.Get(t, "/api/edges?organizationId=acme&idPrefix="+id).Is(t, http.StatusOK).Body
		expect.That(t, strings.Contains(string(list), id), "%s is not listed: %s", id, list)
	}
	for _, id := range []string{"a%2Fb", "a%20b", "a%00b", ":a", strings.Repeat("x", 129)} {
		owner.Put(t, "/api/edges/"+id, box).Refused(t, problem.ValidationFailed)
	}
}

// TestAuthorization_DoubledOrMalformed_DoesNotSpoilTheToken: the next call with it is answered, although API Gateway
// caches the authorizer's answer for a header's value.
func TestAuthorization_DoubledOrMalformed_DoesNotSpoilTheToken(t *testing.T) {
	w, owner := served(t)
	stranger := w.Box(t, "box-2").Bearer
	for name, fresh := range map[string]func() string{
		"a person's":         func() string { return w.Owner(t).Bearer },
		"a box's own":        func() string { return "Bearer " + owner.SetToken(t, boxPath+"/token") },
		"a box's own of DDI": func() string { return "TargetToken " + owner.SetToken(t, boxPath+"/token") },
	} {
		for i, spoilt := range []func(good string) []string{
			func(good string) []string { return []string{good, good} },
			func(good string) []string { return []string{good, stranger} },
			func(good string) []string { return []string{stranger, good} },
			func(good string) []string { return []string{good, ""} },
			func(good string) []string { return []string{"", good} },
			func(good string) []string { return []string{good, "Bearer"} },
			func(good string) []string { return []string{"Basic eDp5", good} },
			func(good string) []string { return []string{good + ", " + good} },
			func(good string) []string { return []string{good + "x"} },
			func(good string) []string { return []string{good[:len(good)-1]} },
			func(good string) []string { return []string{strings.ToUpper(good)} },
			func(good string) []string { return []string{"," + good} },
		} {
			good := fresh()
			var header []string
			for _, value := range spoilt(good) {
				header = append(header, "Authorization", value)
			}
			a := ask(t, http.MethodGet, w.Target.URL+manifest, "", header...)
			if a.Status != http.StatusUnauthorized && a.Status != http.StatusForbidden {
				t.Errorf("%s, %d: answered %d", name, i, a.Status)
			}
			(&harness.Caller{URL: w.Target.URL, Bearer: good}).Get(t, manifest).Is(t, http.StatusOK)
		}
	}
}

// TestBoxToken_SetWhileItIsEnded_IsAsTheTrailSays: the last of the changes holds.
func TestBoxToken_SetWhileItIsEnded_IsAsTheTrailSays(t *testing.T) {
	w, owner := served(t)
	owner.SetToken(t, boxPath+"/token")
	last := map[string]int{}
	for range 25 {
		text, body := hashOf(boxtoken.Box, "box-1")
		var wg sync.WaitGroup
		wg.Go(func() { owner.Put(t, boxPath+"/token", body).Is(t, http.StatusNoContent) })
		wg.Go(func() {
			if a := owner.Do(t, http.MethodDelete, boxPath+"/token", ""); a.Status != http.StatusNoContent {
				a.Refused(t, problem.NotFound) // the previous round ended without a token
			}
		})
		wg.Wait()
		names := eventNames(w, t, "edge", "box-1")
		event := names[len(names)-1]
		last[event]++
		b := w.With("Bearer", text)
		switch event {
		case "EdgeTokenSet":
			b.Get(t, manifest).Is(t, http.StatusOK)
		case "EdgeTokenEnded":
			b.Get(t, manifest).Refused(t, problem.Unauthenticated)
		default:
			t.Fatalf("the last event is %s", event)
		}
	}
	t.Logf("which came last: %v", last)
}
