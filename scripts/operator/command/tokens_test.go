package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/run"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
)

// refuses fails unless the token of a box is refused at its manifest.
func (d *desk) refuses(id, token string) {
	d.Helper()
	box := &harness.Caller{URL: d.Target.URL, Bearer: "Bearer " + token}
	box.Get(d.T, "/api/edges/"+id+"/update/manifest").Is(d.T, http.StatusUnauthorized)
}

// TestTokens_Renewed_BothAreValid_AndTheListSaysWhichIsUsed, until all are ended.
func TestTokens_Renewed_BothAreValid_AndTheListSaysWhichIsUsed(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	first, second := filepath.Join(d.dir, "first"), filepath.Join(d.dir, "second")
	d.does("register", d.file("boxes.csv", csv(3)), "--make-tokens", first, "--yes").is(run.Done)
	d.does("register", d.file("bare.csv", csvOf([]string{"bare"})), "--yes").is(run.Done)
	old := d.secrets(first)
	d.does("tokens", "list", "--channel", "gateway-x/stable", "--used").is(run.Done).says("box-0001", "none yet", "bare      none")
	d.polls("box-0001", old["box-0001"])
	d.does("tokens", "list", "box-0001", "--used").is(run.Done).says("this one since 20")

	w := d.listens()
	renew := []string{"tokens", "renew", "box-0001", "box-0002", "--make-tokens", second}
	d.does(renew...).is(run.Misused).warns("Replace the tokens of 2 boxes", "2 new, 0 already in", "--yes")
	if _, err := os.Lstat(second); err == nil || len(w.calls) > 0 {
		t.Error("something was done before the yes")
	}
	r := d.does(append(renew, "--yes")...).is(run.Done).says("2 boxes have the tokens in "+second, "2 of them are new")
	latest := d.secrets(second, w.text.String(), r.out, r.err)
	expect.Equal(t, w.calls, map[string]int{"PUT /api/edges/box-0001/token": 1, "PUT /api/edges/box-0002/token": 1}, "the calls are")
	d.polls("box-0001", old["box-0001"])
	d.refuses("box-0002", old["box-0002"]) // nobody had used it
	d.does("tokens", "list", "box-0001", "box-0002", "box-0003", "--used").is(run.Done).says("the previous one  20", "none yet")
	d.polls("box-0001", latest["box-0001"])
	d.polls("box-0001", old["box-0001"])
	d.does("tokens", "list", "--file", d.file("boxes.csv", csv(1)), "--used").is(run.Done).says("this one since 20")
	d.does(append(renew, "--yes", "--json")...).is(run.Done).says(`{"made":0,"missing":0,"renewed":2}`) // again: the same
	d.polls("box-0001", latest["box-0001"])

	d.does("tokens", "delete", "box-0001", "--yes").is(run.Misused).warns("--confirm box-0001")
	d.does("tokens", "delete", "box-0001", "--confirm", "box-0001").is(run.Done).says("the tokens of 1 box have ended; 0 had none")
	d.refuses("box-0001", latest["box-0001"])
	d.refuses("box-0001", old["box-0001"])
	d.does("tokens", "delete", "--channel", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done).
		says("the tokens of 2 boxes have ended; 2 had none")
	d.refuses("box-0002", latest["box-0002"])
	d.does("tokens", "list", "--channel", "gateway-x/stable", "--json").is(run.Done).says(`{"edgeId":"box-0001"}`, `"more":false`)
}

// TestTokens_AWholeChannel_IsConfirmedByItsName, and some of its boxes with a yes.
func TestTokens_AWholeChannel_IsConfirmedByItsName(t *testing.T) {
	d := newDesk(t)
	d.does("register", d.file("boxes.csv", csv(101)), "--yes").is(run.Done)
	dir := filepath.Join(d.dir, "tokens")
	renew := []string{"tokens", "renew", "--channel", "gateway-x/stable", "--make-tokens", dir}
	d.does(append(renew, "--yes")...).is(run.Misused).warns("101 boxes on gateway-x/stable", "--confirm gateway-x/stable")
	d.does(append(renew, "--prefix", "box-010", "--yes")...).is(run.Done).says("2 boxes have the tokens") // 0100 and 0101
	d.does(append(renew, "--confirm", "gateway-x/stable")...).is(run.Done).says("101 boxes have the tokens", "99 of them are new")
	d.does("tokens", "delete", "--file", d.file("boxes.csv", csv(2)), "--yes").is(run.Misused).warns("--confirm 2")
	d.does("tokens", "list", "--channel", "gateway-x/stable", "--limit", "100").is(run.Done).warns("there are more")
}

func TestTokens_BoxesThatCannotHaveOne_AreAllTold(t *testing.T) {
	d := newDesk(t)
	d.does("register", d.file("boxes.csv", csv(2)), "--yes").is(run.Done)
	dir := filepath.Join(d.dir, "tokens")
	w := d.listens()
	for name, args := range map[string][]string{
		"no box": {}, "two ways": {"box-0001", "--channel", "gateway-x/stable"}, "a prefix of nothing": {"box-0001", "--prefix", "b"},
		"no id": {"box 1", "../2"}, "no column": {"--file", d.file("other.csv", "id\nbox-0001\n")},
		"no file":    {"--file", filepath.Join(d.dir, "none")},
		"no channel": {"--channel", "gateway-x"}, "no boxes": {"--file", d.file("empty.csv", "edgeId\n")},
	} {
		t.Run(name, func(t *testing.T) {
			d.at(t).does(append([]string{"tokens", "renew", "--make-tokens", dir, "--yes"}, args...)...).is(run.Misused)
		})
	}
	d.does("tokens", "renew", "--yes", "box-0001").is(run.Misused).warns("--make-tokens")
	d.does("tokens", "renew", "box 1", "../2", "--make-tokens", dir, "--yes").is(run.Misused).warns(`"box 1"`, `"../2"`)
	expect.Equal(t, w.calls, map[string]int{}, "the calls are")
	d.does("tokens", "renew", "box-0001", "nowhere", "box-0002", "--make-tokens", dir, "--yes").is(run.Refused).
		says("2 boxes have the tokens").warns("nowhere: there is no such box", "all others were done")
	other, _ := boxtoken.New(boxtoken.Box, "box-0002")
	d.file("tokens/edge-box-0003.token", other)
	r := d.does("tokens", "renew", "box-0003", "--make-tokens", dir, "--yes").is(run.Refused).warns("has the token of another box, box-0002")
	expect.That(t, !strings.Contains(r.err, other), "a token was said")
}

// TestTokensRenew_KilledBeforeAnyStep_NoBoxHasATokenWithoutItsFile, and the previous one is valid as long as it
// should be.
func TestTokensRenew_KilledBeforeAnyStep_NoBoxHasATokenWithoutItsFile(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.everyStep(19, func(at int, ids []string) bool {
		first, second := d.in("first", at), d.in("second", at)
		d.does(d.registering(first, ids...)...).is(run.Done)
		old := d.secrets(first)
		d.allPoll(old)
		args := []string{"tokens", "renew", "--make-tokens", second, "--yes", ids[0], ids[1]}
		if !d.killed(at, args...) {
			return false
		}
		d.does(args...).is(run.Done)
		d.allPoll(old)
		d.allPoll(d.secrets(second))
		return true
	})
}
