package demo

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// A shown demo is ./scripts/demo in its own process, on a simulated desktop.
type shown struct {
	*testing.T
	demo
	cmd    *exec.Cmd
	lines  chan string
	screen []string
	opened string // the file with the address that the desktop should open
	temp   string
}

func start(t *testing.T) *shown {
	t.Helper()
	root := expect.Value(service.Root())(t)
	keys, desk := t.TempDir(), t.TempDir()
	s := &shown{T: t, lines: make(chan string, 1000), opened: filepath.Join(desk, "opened"), temp: t.TempDir()}
	expect.OK(t, os.WriteFile(filepath.Join(desk, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" >\""+s.opened+"\"\n"), 0o755))
	s.cmd = exec.Command(filepath.Join(root, "scripts", "demo"))
	s.cmd.Env = append(os.Environ(), "PORT=0", "DISPLAY=:9", "PATH="+desk+":"+os.Getenv("PATH"), "TMPDIR="+s.temp, devissuer.DirEnv+"="+keys)
	s.cmd.Stderr = t.Output()
	out := expect.Value(s.cmd.StdoutPipe())(t)
	expect.OK(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go func() {
		for text := bufio.NewScanner(out); text.Scan(); {
			s.lines <- text.Text()
		}
		close(s.lines)
	}()
	t.Setenv(devissuer.DirEnv, keys)
	return s
}

// until reads the screen until a line matches, and returns the match.
func (s *shown) until(pattern string) []string {
	s.Helper()
	match := regexp.MustCompile(pattern)
	for _, line := range s.screen {
		if found := match.FindStringSubmatch(line); found != nil {
			return found
		}
	}
	for deadline := time.After(10 * time.Minute); ; {
		select {
		case line, more := <-s.lines:
			if !more {
				s.Fatalf("it ended before it showed %s", pattern)
			}
			s.Log(line)
			s.screen = append(s.screen, line)
			if found := match.FindStringSubmatch(line); found != nil {
				return found
			}
		case <-deadline:
			s.Fatalf("it never showed %s", pattern)
		}
	}
}

// get reads a resource as a person.
func (s *shown) get(by devissuer.Claims, path string, into any) {
	s.Helper()
	if _, err := s.call(s.Context(), by, http.MethodGet, path, "", into); err != nil {
		s.Fatal(err)
	}
}

// TestDemo_ShowsWhatTheServiceSays_AndLeavesNothing runs the demo to its end. Its screen must show what the API says.
func TestDemo_ShowsWhatTheServiceSays_AndLeavesNothing(t *testing.T) {
	expect.Full(t)
	s := start(t)
	address := s.until(`^  (http://127\.0\.0\.1:\d+)/console\?(.*)$`)
	s.until("Ctrl-C ends the demo")
	issuers := expect.Value(devissuer.Load(""))(t)
	s.url, s.token = address[1], issuers.Token
	s.opensSignedIn(address[1]+"/console?"+address[2], address[2])
	s.signsIn(s.until(`^  http://.*/console\?(.*login_hint=anna)$`)[1])
	s.showsAcme()
	s.hasFleets()
	s.recallsAMethod()
	s.plantWaits()
	s.guardHalts("gateway-y", `\d+ of \d+ boxes with hardwareRevision=C are bad`)
	s.guardPromotes()
	s.guardHalts("gateway-z", `\d+ of \d+ boxes of stage \d+ are silent`)
	s.guardHalts("gateway-w", `cycleSeconds is [\d.]+ % higher in \d+ of \d+ boxes`)
	s.returns("gateway-w")
	s.leavesNothing()
}

// opensSignedIn checks that the desktop opens the address, and signs in like the page there.
func (s *shown) opensSignedIn(address, query string) {
	expect.Until(s, "the desktop opens "+address, func() bool { // this comes after the screen is written
		opened, _ := os.ReadFile(s.opened)
		return string(opened) == address
	})
	s.signsIn(query)
}

// showsAcme checks that anna sees the boxes of her organization, and what the rollouts do with them.
func (s *shown) showsAcme() {
	var fleet struct {
		Boxes    int
		Channels []struct{ Rollout struct{ Sentence string } }
	}
	s.get(anna, "/api/organizations/acme/fleet", &fleet)
	expect.Equal(s, fleet.Boxes, boxes*len(stories), "anna's boxes")
	for _, c := range fleet.Channels {
		if !strings.Contains(c.Rollout.Sentence, "Of the organization's") {
			s.Errorf("anna is told %q", c.Rollout.Sentence)
		}
	}
}

// signsIn signs in with the query of an address.
func (s *shown) signsIn(query string) {
	s.Helper()
	var login struct{ Issuer, AuthorizationEndpoint, ClientID string }
	s.get(olga, "/console/config.json", &login)
	asked, err := url.ParseQuery(query)
	if err != nil || asked.Get("iss") != login.Issuer {
		s.Errorf("the address is for %q, %v", asked, err)
	}
	request := url.Values{"response_type": {"code"}, "client_id": {login.ClientID}, "redirect_uri": {s.url + "/console"}, "state": {"s"},
		"code_challenge": {strings.Repeat("c", 43)}, "code_challenge_method": {"S256"}, "login_hint": {asked.Get("login_hint")}}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := expect.Value(stay.Get(login.AuthorizationEndpoint + "?" + request.Encode()))(s)
	answer.Body.Close()
	if back, err := answer.Location(); err != nil || back.Query().Get("code") == "" {
		s.Errorf("the login answered %d: %v, %v", answer.StatusCode, back, err)
	}
}

func (s *shown) hasFleets() {
	s.until(`^The demo is ready after .*: 3,000 boxes in 40 factories\.$`)
	var factories struct{ Items []json.RawMessage }
	s.get(anna, "/api/factories?organizationId=acme&limit=100", &factories)
	expect.Equal(s, len(factories.Items), plants, "factories:")
	for _, story := range stories {
		var progress struct{ Boxes int }
		s.get(olga, "/api/ota/release-channels/"+story.channel()+"/progress", &progress)
		expect.Equal(s, progress.Boxes, boxes, "boxes of %s:", story.channel())
		var channel struct{ ArtifactURL, SHA256 string } // the boxes run it, so they have downloaded it
		s.get(olga, "/api/ota/release-channels/"+story.channel(), &channel)
		answer, err := http.Get(channel.ArtifactURL)
		expect.OK(s, err)
		image, err := io.ReadAll(answer.Body)
		expect.OK(s, errors.Join(err, answer.Body.Close()))
		expect.Equal(s, fmt.Sprintf("%x", sha256.Sum256(image)), channel.SHA256, "the digest of what is at %s", channel.ArtifactURL)
	}
}

func (s *shown) recallsAMethod() {
	said := s.until(`^ +(press-.*)\. This lists them:$`)[1]
	path := s.until(`"http://127\.0\.0\.1:\d+(/.*/versions/1)/machines\?clear=false"`)[1]
	var version struct{ Status string }
	s.get(eric, path, &version)
	var left struct{ Items []struct{ Machine string } }
	s.get(eric, path+"/machines?clear=false", &left)
	var open []string
	for _, m := range left.Items {
		open = append(open, m.Machine)
	}
	if version.Status != "withdrawn" || strings.Join(open, ", ") != said || len(open) != presses-confirmed {
		s.Errorf("the version is %s and %v have it; the screen says %s", version.Status, open, said)
	}
}

// guardHalts waits until the screen says that the guard halted a rollout, and why.
func (s *shown) guardHalts(edgeType, why string) {
	said := s.until(edgeType + `/stable 1\.1\.0: halted at 10 percent, by guard\. (Halt: .*)$`)[1]
	r, sentences := s.rollout(edgeType)
	if r.Status != rollout.Halted || r.EndedBy != rollout.ByGuard || !slices.Contains(sentences, said) ||
		!regexp.MustCompile(why).MatchString(said) {
		s.Errorf("%s is %s by %q for %q; the screen says %q", edgeType, r.Status, r.EndedBy, sentences, said)
	}
}

// plantWaits checks that the boxes of the closed factory wait for its window, and no others.
func (s *shown) plantWaits() {
	s.until(`^Each halt brings the boxes back to 1\.0\.0\. Until it is halted, a rollout also lists its boxes that wait for a plant:$`)
	opens := s.until(`^  plant-40 +waits for its window, which begins at (\d\d:\d\d) UTC`)[1]
	var why struct{ Reason, OpensAt string }
	expect.Until(s, "a box of plant-40 waits", func() bool {
		var list struct {
			Items []struct{ EdgeID, FactoryID, Waits string }
		}
		time.Sleep(time.Second) // the limit of calls
		s.get(anna, "/api/edges?organizationId=acme&state=waiting&limit=50", &list)
		for _, box := range list.Items {
			expect.That(s, box.FactoryID == "plant-40" && box.Waits == "window", "%+v waits", box)
		}
		if len(list.Items) > 0 {
			s.get(anna, "/api/edges/"+list.Items[0].EdgeID+"/update/why", &why)
		}
		return len(list.Items) > 0
	})
	expect.That(s, why.Reason == "window" && strings.Contains(why.OpensAt, "T"+opens), "it waits for %q until %q, not %s", why.Reason, why.OpensAt, opens)
}

// returns checks that boxes go back to the version before after the guard's halt.
func (s *shown) returns(edgeType string) {
	expect.Until(s, "all boxes run "+before+" again", func() bool {
		var progress struct{ Versions []struct{ Version string } }
		time.Sleep(time.Second)
		s.get(olga, "/api/ota/release-channels/"+edgeType+"/stable/progress", &progress)
		return len(progress.Versions) == 1 && progress.Versions[0].Version == before
	})
}

func (s *shown) guardPromotes() {
	said := s.until(`gateway-x/stable 1\.1\.0: at 10 percent, by guard\. (Promote to 10 percent: .*)$`)[1]
	if r, sentences := s.rollout("gateway-x"); r.Status == rollout.Halted || r.StagedPercent < 10 || !slices.Contains(sentences, said) {
		s.Errorf("the good rollout is %s at %d for %q; the screen says %q", r.Status, r.StagedPercent, sentences, said)
	}
}

// rollout reads the rollout of an edge type, and the reason of each move.
func (s *shown) rollout(edgeType string) (r rollout.Rollout, sentences []string) {
	var list struct{ Items []rollout.Rollout }
	s.get(olga, "/api/ota/rollouts?limit=10", &list)
	i := slices.IndexFunc(list.Items, func(r rollout.Rollout) bool { return r.EdgeType == edgeType })
	if i < 0 {
		s.Fatalf("there is no rollout of %s", edgeType)
	}
	var events struct{ Items []event }
	s.get(olga, "/api/audit-events?resourceType=rollout&resourceId="+list.Items[i].ID, &events)
	for _, e := range events.Items {
		sentences = append(sentences, e.Cause.Sentence)
	}
	return list.Items[i], sentences
}

// leavesNothing ends the demo like Ctrl-C.
func (s *shown) leavesNothing() {
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(s.cmd.Process.Pid)).Output()
	if err != nil || len(strings.Fields(string(children))) < 10 {
		s.Fatalf("it runs %q, %v", children, err)
	}
	expect.OK(s, s.cmd.Process.Signal(os.Interrupt))
	for range s.lines { // until its output ends
	}
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("it ended with %v", err)
	}
	for _, pid := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(pid); err != nil || !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			s.Errorf("process %s is still there", pid)
		}
	}
	if left, err := os.ReadDir(s.temp); err != nil || len(left) > 0 {
		s.Errorf("it left %v, %v", left, err)
	}
	if answer, err := http.Get(s.url + "/console"); err == nil {
		answer.Body.Close()
		s.Errorf("something still answers with %d", answer.StatusCode)
	}
}

func TestRun_Misused_SaysHowToUseIt(t *testing.T) {
	expect.Full(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, 0, "usage: scripts/demo"},
		{[]string{"--other"}, 2, "usage: scripts/demo"},
		{[]string{"more"}, 2, "not an option: more"},
		{[]string{"--functions", t.TempDir()}, 1, "is not built"},
	} {
		var problems strings.Builder
		t.Setenv("PORT", "0")
		t.Setenv(devissuer.DirEnv, t.TempDir())
		if code := Run(t.Context(), c.args, io.Discard, &problems); code != c.code || !strings.Contains(problems.String(), c.says) {
			t.Error(fmt.Sprint(c.args), code, problems.String())
		}
	}
}
