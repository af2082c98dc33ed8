package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/shared/platform/problem"
)

// digest makes a SHA-256 digest that is a repeated character.
func digest(c string) string { return strings.Repeat(c, 64) }

// release is the body of a publication.
func release(version, sha256 string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example/%s.tar.gz","sha256":%q}`, version, version, sha256)
}

func channelPath(edgeType, channel string) string {
	return "/api/ota/release-channels/" + edgeType + "/" + channel
}

// plan is the body of a start.
func plan(edgeType, channel, target string) string {
	return fmt.Sprintf(`{"edgeType":%q,"channel":%q,"targetVersion":%q}`, edgeType, channel, target)
}

// start publishes 1.0.0 on stable and 1.1.0 on canary and starts a rollout of 1.1.0 on stable; it
// returns the rollout's path, as handed out.
func start(t testing.TB, owner *harness.Caller, edgeType string) string {
	t.Helper()
	owner.Put(t, channelPath(edgeType, "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath(edgeType, "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	return owner.Post(t, "/api/ota/rollouts", plan(edgeType, "stable", "1.1.0")).Is(t, http.StatusCreated).Header.Get("Location")
}

// targets are the places that the operations are tried on: the local gateway with and without a
// stage in its path, or the one place that the environment names.
func targets(t *testing.T) map[string]harness.Target {
	if url := os.Getenv("E2E_URL"); url != "" {
		issuers, err := devissuer.Load("")
		if err != nil {
			t.Fatal(err)
		}
		return map[string]harness.Target{"E2E_URL": {URL: strings.TrimSuffix(url, "/"), Token: issuers.Token}}
	}
	return map[string]harness.Target{
		"local":        harness.New(t).Target,
		"behind /prod": harness.New(t, harness.WithPrefix("/prod")).Target,
	}
}

// TestSession_EveryOperationOnce is what the README's session does, on every target.
func TestSession_EveryOperationOnce(t *testing.T) {
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) { session(t, target) })
	}
}

func session(t *testing.T, target harness.Target) {
	owner, engineer := target.Owner(t), target.Engineer(t, "acme")
	// Another target may hold what an earlier run left, so every run has names of its own.
	edgeType, slug := harness.Name(fmt.Sprintf("gateway-%d", os.Getpid())), harness.Name(fmt.Sprintf("munich-%d", os.Getpid()))

	path := start(t, owner, edgeType)
	channel := owner.Get(t, channelPath(edgeType, "stable")).Is(t, http.StatusOK)
	if got := channel.Object(t); got["currentVersion"] != "1.0.0" || got["sha256"] != digest("a") || channel.Header.Get("ETag") != `"1-`+id(path)+`-1"` {
		t.Errorf("the channel is %s", channel.Body)
	}

	prefix := strings.TrimPrefix(target.URL, "http://"+host(target.URL))
	if !strings.HasPrefix(path, prefix+"/api/ota/rollouts/") {
		t.Errorf("Location is %s, want it to begin with %s/api", path, prefix)
	}
	path = strings.TrimPrefix(path, prefix)
	for _, percent := range []int{10, 50, 100} {
		owner.Patch(t, path, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
	}
	owner.Patch(t, path, `{"status":"completed"}`).Is(t, http.StatusNoContent)
	r := owner.Get(t, path).Is(t, http.StatusOK).Object(t)
	if r["status"] != "completed" || r["staged_percent"] != 100.0 || r["previousVersion"] != "1.0.0" || r["endedAt"] == nil || r["revision"] != 5.0 {
		t.Errorf("the rollout is %v", r)
	}
	if got := owner.Get(t, channelPath(edgeType, "stable")).Object(t); got["currentVersion"] != "1.1.0" || got["sha256"] != digest("b") || got["revision"] != 2.0 {
		t.Errorf("after completion the channel is %v", got)
	}

	factory := "/api/factories/" + slug
	owner.Put(t, factory, `{"organizationId":"acme","name":"Munich 1"}`).Is(t, http.StatusCreated)
	if got := engineer.Get(t, factory).Is(t, http.StatusOK).Object(t); got["name"] != "Munich 1" || got["organizationId"] != "acme" {
		t.Errorf("the factory is %v", got)
	}
	method := engineer.Post(t, factory+"/production-methods", `{"productId":"7B0F2C52-6E0B-4F53-9F51-0C5D6A3C1E11","name":" Milling "}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	m := engineer.Get(t, strings.TrimPrefix(method, prefix)).Is(t, http.StatusOK).Object(t)
	if m["name"] != "Milling" || m["productId"] != "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11" || m["factoryId"] != slug {
		t.Errorf("the method is %v", m)
	}

	// What nobody may do, on the same target.
	target.Nobody().Get(t, factory).Is(t, http.StatusUnauthorized)
	target.Engineer(t, "rival").Get(t, factory).Refused(t, problem.NotFound)
	engineer.Patch(t, path, `{"status":"halted"}`).Refused(t, problem.Forbidden)
}

// host is the host and port of a URL.
func host(url string) string {
	h, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return h
}
