package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/testing/expect"
)

// digest makes a SHA-256 digest from a repeated character.
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

// begin starts a service that a platform owner calls.
func begin(t *testing.T, change ...func(*service.Options)) (*harness.World, *harness.Caller) {
	t.Helper()
	w := harness.New(t, change...)
	return w, w.Owner(t)
}

// published is a service with 1.0.0 on the channel.
func published(t *testing.T, change ...func(*service.Options)) (*harness.World, *harness.Caller) {
	t.Helper()
	w, owner := begin(t, change...)
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	return w, owner
}

// served is a service with 1.0.0 on the channel of box-1.
func served(t *testing.T, change ...func(*service.Options)) (*harness.World, *harness.Caller) {
	t.Helper()
	w, owner := published(t, change...)
	owner.Put(t, boxPath, box).Is(t, http.StatusCreated)
	return w, owner
}

// start publishes 1.0.0 on stable and 1.1.0 on canary and starts a rollout of 1.1.0 on stable; it returns the
// rollout's path from the answer.
func start(t testing.TB, owner *harness.Caller, edgeType string) string {
	t.Helper()
	owner.Put(t, channelPath(edgeType, "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath(edgeType, "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	return owner.Post(t, "/api/ota/rollouts", plan(edgeType, "stable", "1.1.0")).Made(t)
}

// targets are the places to test the operations on besides the local gateway: the same with a deployment in its path,
// or the one in the environment.
func targets(t *testing.T) map[string]harness.Target {
	if url := os.Getenv("E2E_URL"); url != "" {
		issuers := expect.Value(devissuer.Load(""))(t)
		return map[string]harness.Target{"E2E_URL": {URL: strings.TrimSuffix(url, "/"), Token: issuers.Token}}
	}
	return map[string]harness.Target{"behind /prod": harness.New(t, harness.WithPrefix("/prod")).Target}
}
