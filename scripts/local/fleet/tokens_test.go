package fleet

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/testing/expect"
)

// TestFleet_WithADirectoryOfTokens_PollsWithThem, and registers none. It reports a token that the service does not
// know.
func TestFleet_WithADirectoryOfTokens_PollsWithThem(t *testing.T) {
	t.Setenv(devissuer.DirEnv, t.TempDir())
	issuers := expect.Value(devissuer.Load(""))(t)
	w := harness.New(t, func(o *service.Options) { o.Issuers = issuers })
	owner := w.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", publication("1.0.0", "a")).Is(t, http.StatusCreated)
	dir := tokenfile.Dir{Path: filepath.Join(t.TempDir(), "tokens")}
	expect.OK(t, dir.Prepare())
	ids := []string{"00:1A:2B:3C:4D:5E", "box-2", "unknown"}
	hashes, _, err := dir.Hashes(ids)
	expect.OK(t, err)
	for i, id := range ids[:2] {
		owner.Post(t, "/api/edges", fmt.Sprintf(`{"edges":[{"edgeId":%q,"edgeType":"gateway-x","channel":"stable","organizationId":"acme","tokenSha256":%q}]}`, id, hashes[i])).Is(t, http.StatusOK)
	}
	for how, want := range map[string][]string{"--bell=false": {"1.0.0=2 (none yet)=1", "its own token is refused"},
		"--bell": {"1.0.0=2 (none yet)=1"}} {
		plays(t, []string{"--tokens", dir.Path, "--interval", "200ms", "--url", w.Target.URL, how}, want)
	}
	var problems strings.Builder
	if code := Run(t.Context(), []string{"--tokens", t.TempDir(), "--url", w.Target.URL}, os.Stdout,
		&problems); code != 1 || !strings.Contains(problems.String(), "no token") {
		t.Errorf("it ended with %d: %s", code, problems.String())
	}
}

// plays makes a fleet poll until it shows the texts.
func plays(t *testing.T, args, texts []string) {
	t.Helper()
	out := expect.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan int)
	var problems strings.Builder
	go func() { ended <- Run(ctx, args, out, &problems) }()
	for deadline := time.Now().Add(time.Minute); len(texts) > 0; time.Sleep(20 * time.Millisecond) {
		shown, err := os.ReadFile(out.Name())
		if err != nil || time.Now().After(deadline) || strings.Contains(string(shown), "registered") {
			t.Fatalf("%q: it shows no %q: %v\n%s", args, texts, err, shown)
		}
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(string(shown), text) })
	}
	end()
	expect.Equal(t, <-ended, 0, "%q says %s and ends with", args, problems.String())
}
