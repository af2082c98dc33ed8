package command_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
)

// enrols makes a code for boxes, and returns the id of the enrolment and the file with the code.
func (d *desk) enrols(ids ...string) (enrolment, codeFile string) {
	d.Helper()
	r := d.does("enrol", "create", "--file", d.file("serials.csv", "edgeId\n"+strings.Join(ids, "\n")+"\n"),
		"--channel", "gateway-x/stable", "--organization", "acme", "--yes").is(run.Done)
	if strings.Count(r.out, "\n") != 1 || strings.Contains(r.err, strings.TrimSpace(r.out)) {
		d.Fatalf("it prints %q and says %q", r.out, r.err)
	}
	enrolment, _, _ = strings.Cut(r.out, ":")
	return enrolment, d.file("code", r.out)
}

// redeem is what a box types.
func (d *desk) redeem(code, id string, more ...string) []string {
	return append([]string{"enrol", "redeem", "--url", d.Target.URL, "--code-file", code, "--id", id,
		"--token-file", filepath.Join(d.dir, tokenfile.Name(id))}, more...)
}

// token is the content of the file of a box.
func (d *desk) token(id string) (text string, t boxtoken.Token) {
	d.Helper()
	text, t, err := tokenfile.Read(filepath.Join(d.dir, tokenfile.Name(id)), id)
	expect.OK(d, err)
	return text, t
}

// TestEnrol_BoxesOfAList_RegisterThemselves, again and again; the code is shown once, and no token crosses the API.
func TestEnrol_BoxesOfAList_RegisterThemselves(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	w := d.listens()
	id, code := d.enrols("SN-1", "00:1A:2B", "SN-1")
	for _, box := range []string{"SN-1", "00:1A:2B"} {
		for range 2 {
			d.does(d.redeem(code, box)...).is(run.Done).says(box + " is registered")
		}
		text, _ := d.token(box)
		d.polls(box, text)
		expect.That(t, !strings.Contains(w.text.String(), text[len(text)-43:]), "a token was sent")
	}
	secret := expect.Value(os.ReadFile(code))(t)
	shown := d.does("enrol", "show", id).is(run.Done).says("2 boxes are listed", "2 are registered, 0 are waiting", "00:1A:2B  registered")
	listed := d.does("enrol", "list", "--organization", "acme").is(run.Done).says(id, "gateway-x/stable")
	expect.That(t, !strings.Contains(shown.out+listed.out, strings.TrimSpace(string(secret))),
		"the code is shown again")
	d.does("enrol", "reset", id, "SN-1", "--yes").is(run.Misused).warns("--confirm SN-1")
	d.does("enrol", "reset", id, "SN-1", "--confirm", "SN-1").is(run.Done)
	before, _ := d.token("SN-1")
	if a := (&harness.Caller{URL: d.Target.URL, Bearer: "Bearer " + before}).Get(t,
		"/api/edges/SN-1/update/manifest"); a.Status != http.StatusUnauthorized && a.Status != http.StatusNotFound {
		t.Errorf("the box that was retired is answered with %d", a.Status)
	}
	d.does("enrol", "delete", id).is(run.Misused).warns("--yes")
	d.does("enrol", "delete", id, "--yes").is(run.Done).says("has ended")
	d.does(d.redeem(code, "SN-1")...).is(run.SignIn).warns("no longer valid")
	d.does("enrol", "show", id, "--json").is(run.Done).says(`"endedAt"`)
}

// TestEnrol_ABoxThatIsNotListed_WaitsUntilItsFingerprintIsAccepted, and only with that.
func TestEnrol_ABoxThatIsNotListed_WaitsUntilItsFingerprintIsAccepted(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	id, code := d.enrols("SN-1")
	d.does(d.redeem(code, "SN-2")...).is(run.Otherwise).warns("SN-2 waits until a person accepts it; its fingerprint is")
	_, two := d.token("SN-2")
	d.does("enrol", "show", id).is(run.Done).says("SN-2", "waits", two.SHA256)
	d.does("enrol", "accept", id, "SN-2", two.SHA256[:63], "--yes").is(run.Refused).warns("64 hexadecimal digits", "nothing was sent")
	d.does("enrol", "accept", id, "SN-2", digest("a"), "--yes").is(run.Refused).
		warns("SN-2: must be waiting with this hash", "0 of 1 boxes are registered")
	d.does("enrol", "accept", id, "SN-2", two.SHA256).is(run.Misused).warns("--yes")
	d.does("enrol", "accept", id, "SN-2", strings.ToUpper(two.SHA256), "--yes").is(run.Done).says("1 box is registered")
	d.does(d.redeem(code, "SN-2")...).is(run.Done)

	var file strings.Builder
	file.WriteString("note,tokenSha256,edgeId\n")
	for i := range 31 {
		box := fmt.Sprintf("W-%d", i)
		d.does(d.redeem(code, box)...).is(run.Otherwise)
		_, waiting := d.token(box)
		fmt.Fprintf(&file, "shelf %d,%s,%s\n", i, waiting.SHA256, box)
	}
	ended := make(chan result)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waits := d.redeem(code, "W-30", "--wait", "--every", "50ms")
	go func() { ended <- d.runs(ctx, waits...) }()
	d.does("enrol", "accept", id, "--file", d.file("waiting.csv", file.String()), "--yes").is(run.Done).says("31 boxes are registered")
	(<-ended).is(run.Done).says("W-30 is registered")
	text, _ := d.token("W-30")
	d.polls("W-30", text)
}

func TestEnrol_WhatIsMisused_IsToldBeforeAnyCall(t *testing.T) {
	d := newDesk(t)
	w := d.listens()
	ids, code := d.file("ids.csv", "edgeId\nSN-1\n"), d.file("code", "x")
	for name, args := range map[string][]string{
		"no file":    {"create", "--channel", "gateway-x/stable", "--organization", "acme", "--yes"},
		"no channel": {"create", "--file", ids, "--organization", "acme", "--yes"},
		"no boxes": {"create", "--file", d.file("none.csv", "edgeId\n"), "--channel", "gateway-x/stable",
			"--organization", "acme", "--yes"},
		"no ids": {"create", "--file", d.file("bad.csv", "edgeId\na b\n"), "--channel", "gateway-x/stable",
			"--organization", "acme", "--yes"},
		"not confirmed":  {"create", "--file", ids, "--channel", "gateway-x/stable", "--organization", "acme"},
		"no fingerprint": {"accept", "e", "SN-1", "--yes"},
		"no id":          {"redeem", "--url", d.Target.URL, "--code-file", code, "--token-file", filepath.Join(d.dir, "t")},
		"no address":     {"redeem", "--id", "SN-1", "--code-file", code, "--token-file", filepath.Join(d.dir, "t")},
		"no code": {"redeem", "--url", d.Target.URL, "--id", "SN-1", "--code-file", filepath.Join(d.dir, "none"),
			"--token-file", filepath.Join(d.dir, "t")},
	} {
		t.Run(name, func(t *testing.T) { d.at(t).does(append([]string{"enrol"}, args...)...).is(run.Misused) })
	}
	if _, err := os.Lstat(filepath.Join(d.dir, "t")); err == nil || len(w.calls) > 0 {
		t.Errorf("the calls are %v", w.calls)
	}
}

// TestEnrol_AnAnswerThatIsLost_CostsNothing: a box is registered once, and a lost code is ended.
func TestEnrol_AnAnswerThatIsLost_CostsNothing(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.seen = losesOne(http.MethodPost)
	d.does("enrol", "create", "--file", d.file("ids.csv", "edgeId\nSN-1\n"), "--channel", "gateway-x/stable",
		"--organization", "acme", "--yes").
		is(run.Unknown).warns("the answer with the code was lost", "was ended")
	var page struct {
		Items []struct{ EndedAt *time.Time }
	}
	if d.does("enrol", "list", "--organization", "acme", "--json").is(run.Done).into(&page); len(page.Items) != 1 ||
		page.Items[0].EndedAt == nil {
		t.Errorf("the enrolments are %v", page)
	}
	_, code := d.enrols("SN-1")
	d.seen = losesOne(http.MethodPost)
	d.does(d.redeem(code, "SN-1")...).is(run.Done)
	text, _ := d.token("SN-1")
	d.polls("SN-1", text)
}

// TestEnrolRedeem_KilledBeforeAnyStep_TheBoxIsRegisteredWithTheTokenOfItsFile, and never locked out.
func TestEnrolRedeem_KilledBeforeAnyStep_TheBoxIsRegisteredWithTheTokenOfItsFile(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	ids := make([]string, 30)
	for i := range ids {
		ids[i] = fmt.Sprintf("a:%d", i+1)
	}
	_, code := d.enrols(ids...)
	d.everyStep(7, func(at int, ids []string) bool {
		redeem := d.redeem(code, ids[0])
		if !d.killed(at, redeem...) {
			return false
		}
		d.does(redeem...).is(run.Done)
		text, _ := d.token(ids[0])
		d.polls(ids[0], text)
		return true
	})
}
