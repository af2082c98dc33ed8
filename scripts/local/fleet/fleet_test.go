package fleet

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/testing/expect"
)

func publication(version, digest string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://a.example/%s","sha256":%q}`, version, version, strings.Repeat(digest, 64))
}

// TestFleet_ShowsTheRollout makes a fleet poll while a rollout is raised, and reads its screen.
func TestFleet_ShowsTheRollout(t *testing.T) {
	keys := t.TempDir()
	t.Setenv(devissuer.DirEnv, keys)
	issuers := expect.Value(devissuer.Load(""))(t)
	w := harness.New(t, func(o *service.Options) { o.Issuers = issuers })
	owner := w.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", publication("1.0.0", "a")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", publication("1.1.0", "b")).Is(t, http.StatusCreated)

	for _, plant := range []string{"plant-01", "plant-02"} {
		owner.Put(t, "/api/factories/"+plant, `{"organizationId":"acme","name":"Plant"}`).Is(t, http.StatusCreated)
	}
	const boxes = 40
	out := expect.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	shown := func() string {
		text := expect.Value(os.ReadFile(out.Name()))(t)
		return string(text)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan int)
	var problems strings.Builder
	go func() {
		ended <- Run(ctx, []string{"--boxes", fmt.Sprint(boxes), "--interval", "300ms", "--plants", "2", "--url", w.Target.URL}, out, &problems)
	}()
	until := func(text string) {
		t.Helper()
		expect.Until(t, "it shows "+text, func() bool { return strings.Contains(shown(), text) })
	}
	until(fmt.Sprintf(" 1.0.0=%d  ", boxes))
	for id, plant := range map[string]string{"box-0001": "plant-01", "box-0040": "plant-02"} {
		owner.Get(t, "/api/edges/"+id).Has(t, fmt.Sprintf(`{"factoryId":%q}`, plant))
	}
	rollout := owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	for _, percent := range []int{10, 50} {
		owner.Patch(t, rollout, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
	}
	in := 0
	for i := range boxes {
		if cohort.Of("gateway-x", "1.1.0", fmt.Sprintf("box-%04d", i+1)).In(50) {
			in++
		}
	}
	until(fmt.Sprintf(" 1.0.0=%d 1.1.0=%d  ", boxes-in, in))
	end()
	expect.Equal(t, <-ended, 0, "it says %s and ends with", problems.String())
	text := shown()
	expect.That(t, strings.Contains(text, "not modified") && strings.Contains(text, " 0 failed"), "it shows:\n%s", text)
}

// TestFleet_Download_FailsLikeABox, if the store is down: it reports why. It installs what it has downloaded.
func TestFleet_Download_FailsLikeABox(t *testing.T) {
	t.Setenv(devissuer.DirEnv, t.TempDir())
	issuers := expect.Value(devissuer.Load(""))(t)
	w := harness.New(t, func(o *service.Options) { o.Issuers = issuers })
	owner := w.Owner(t)
	upload := func(image string) {
		path := fmt.Sprintf("/api/ota/artifacts/gateway-x/%x", sha256.Sum256([]byte(image)))
		asked := owner.Put(t, path, fmt.Sprintf(`{"sizeBytes":%d,"filename":"image"}`, len(image))).Is(t, http.StatusCreated)
		var to struct{ Upload artifact.Upload }
		asked.Into(t, &to)
		r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPut, to.Upload.URL, strings.NewReader(image)))(t)
		for name, value := range to.Upload.Headers {
			r.Header.Set(name, value)
		}
		res := expect.Value(http.DefaultClient.Do(r))(t)
		_ = res.Body.Close()
		owner.Patch(t, path, `{"state":"kept"}`).Is(t, http.StatusOK)
	}
	publish := func(image string, status int) {
		body := fmt.Sprintf(`{"currentVersion":%q,"sha256":"%x"}`, image, sha256.Sum256([]byte(image)))
		owner.Put(t, "/api/ota/release-channels/gateway-x/stable", body).Is(t, status)
	}
	upload("1.0.0")
	upload("1.1.0")
	upload("1.2.0")
	publish("1.0.0", http.StatusCreated)
	ctx, end := context.WithCancel(t.Context())
	settled, ended := make(chan bool), make(chan error)
	go func() {
		ended <- Play(ctx, []string{"--boxes", "3", "--interval", "200ms", "--url", w.Target.URL, "--download"}, func() { close(settled) })
	}()
	<-settled
	shows := func(what, path, text string) {
		t.Helper()
		expect.Until(t, what, func() bool { return strings.Contains(string(owner.Get(t, path).Body), text) })
	}
	publish("1.1.0", http.StatusNoContent)
	shows("a box runs what it has downloaded", "/api/edges/box-0001/update/why", `"running":"1.1.0"`)
	w.Bucket.Down.Store(true)
	publish("1.2.0", http.StatusNoContent)
	shows("a box reports why it does not", "/api/edges/box-0001/update/why", `"code":"download"`)
	end()
	expect.OK(t, <-ended)
}

func TestFleet_WrongArguments_AreToldAndEndIt(t *testing.T) {
	for _, args := range [][]string{{"--boxes", "0"}, {"--boxes", "x"}, {"--plants", "-1"}, {"--interval", "soon"},
		{"--interval", "-1s"}, {"--fail", "101%"}, {"--brick", "-1"}, {"--fail", "60%", "--defer", "60%"}, {"more"},
		{"--other"}} {
		var problems strings.Builder
		code := Run(t.Context(), args, os.Stdout, &problems)
		expect.That(t, code == 2 && problems.Len() != 0, "%q: %d %s", args, code, problems.String())
	}
}

func TestFleet_NoServiceThere_SaysSo(t *testing.T) {
	t.Setenv(devissuer.DirEnv, t.TempDir())
	out := expect.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	var problems strings.Builder
	if code := Run(t.Context(), []string{"--url", "http://127.0.0.1:1"}, out, &problems); code != 1 ||
		!strings.Contains(problems.String(), "scripts/dev") {
		t.Errorf("%d %s", code, problems.String())
	}
}

func TestChances_EachFateMeetsItsShare_AndABoxAlwaysTheSame(t *testing.T) {
	c := chances{fail: 0.02, brick: 0.01, revert: 0.01, deferred: 0.05}
	counts := map[fate]int{}
	const boxes = 20_000
	for i := range boxes {
		id := fmt.Sprintf("box-%05d", i)
		f, code := c.of(id, "1.1.0")
		counts[f]++
		again, same := c.of(id, "1.1.0")
		expect.Must(t, again == f && same == code, "%s: %v, then %v", id, f, again)
	}
	for f, want := range map[fate]float64{fails: 0.02, bricks: 0.01, reverts: 0.01, deferred: 0.05, well: 0.91} {
		if got := float64(counts[f]) / boxes; got < want*0.8 || got > want*1.2 {
			t.Errorf("fate %d: %.4f of the boxes, want %.2f", f, got, want)
		}
	}
}

func TestBar_IsAsLongAsTheShare(t *testing.T) {
	for share, want := range map[float64]string{0: "", 1: strings.Repeat("█", barWidth),
		0.5: strings.Repeat("█", barWidth/2), 0.0001: "▏", 1.0 / barWidth / 2: "▌"} {
		expect.Equal(t, strings.TrimRight(bar(share), " "), want, "%v:", share)
	}
}

func TestDraw_ReplacesThePictureBefore(t *testing.T) {
	out := expect.Value(os.Create(filepath.Join(t.TempDir(), "terminal")))(t)
	s := &screen{out: out, live: true}
	s.draw("one", "two")
	s.draw("three")
	text, err := os.ReadFile(out.Name())
	expect.That(t, err == nil && string(text) == "one\x1b[K\ntwo\x1b[K\n\x1b[J\x1b[2Athree\x1b[K\n\x1b[J",
		"%q, %v", text, err)
}
