package clients

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/testing/expect"
)

// TestSamples_Release_PublishesStartsAndWaits: until the rollout is completed, or with 1 until it is halted. A second run starts
// no second rollout.
func TestSamples_Release_PublishesStartsAndWaits(t *testing.T) {
	expect.Full(t)
	for language, c := range map[string]struct{ needs, program, file string }{
		"Python":     {"python3", "python3", "release.py"},
		"TypeScript": {absolute(t, "..", "..", "node_modules", ".bin", "tsc"), "node", "release.mts"},
	} {
		t.Run(language, func(t *testing.T) {
			expect.Program(t, fetches, c.needs)
			file := absolute(t, "..", "..", "samples", c.file)
			if language == "TypeScript" {
				dir := t.TempDir()
				in(t, filepath.Dir(file), c.needs, "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--outDir", dir, file)
				file = filepath.Join(dir, "release.mjs")
			}
			w := harness.New(t)
			expect.OK(t, w.Seed(t.Context()))
			for version, end := range map[string]string{"1.1.0": `{"staged_percent":100,"status":"completed"}`, "1.2.0": `{"status":"halted"}`} {
				released(t, w, end, exec.CommandContext(t.Context(), c.program, file, "gateway-x", "canary", "stable", version,
					"https://artifacts.example.com/gateway-x/"+version+".tar.gz", strings.Repeat("0b", 31)+strings.ReplaceAll(version, ".", "")[:2]))
			}
		})
	}
}

// released runs a sample, ends its rollout once it waits, and checks what it says then, and in a second run.
func released(t *testing.T, w *harness.World, end string, sample *exec.Cmd) {
	t.Helper()
	owner := w.Owner(t)
	sample.Env = append(os.Environ(), "EVERY=0.1", "BASE="+owner.URL, "TOKEN="+strings.TrimPrefix(owner.Bearer, "Bearer "))
	again := *sample
	out := expect.Value(sample.StdoutPipe())(t)
	expect.OK(t, sample.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasSuffix(lines.Text(), " is active at 1 %") {
		t.Errorf("it says %q", lines.Text())
	}
	rollout := "/api/ota/rollouts/" + owner.Get(t, "/api/ota/rollouts?status=active").Object(t)["items"].([]any)[0].(map[string]any)["id"].(string)
	for _, move := range []string{`{"staged_percent":10}`, `{"staged_percent":50}`, end} {
		owner.Patch(t, rollout, move).Is(t, http.StatusNoContent)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	halted := strings.Contains(end, "halted")
	if err := sample.Wait(); (err != nil) != halted || strings.Contains(last, " is halted at 50 %") != halted {
		t.Errorf("%s: it says at last %q: %v", end, last, err)
	}
	if text, _ := again.Output(); string(text) != last+"\n" { // it fails as before
		t.Errorf("again, it says %q", text)
	}
}
