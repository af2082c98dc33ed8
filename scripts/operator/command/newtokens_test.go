package command_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
)

// A wire records everything that the command sends.
type wire struct {
	calls map[string]int // by method and path
	text  strings.Builder
}

// listens records what the command sends from now on.
func (d *desk) listens() *wire {
	w := &wire{calls: map[string]int{}}
	d.seen = func(r *http.Request) error {
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			return nil
		}
		w.calls[r.Method+" "+r.URL.Path]++
		fmt.Fprintln(&w.text, r.Method, r.URL, r.Header)
		if r.GetBody == nil {
			return nil
		}
		body, err := r.GetBody()
		if err == nil {
			_, err = io.Copy(&w.text, body)
		}
		return err
	}
	return w
}

// secrets returns the tokens of a directory, and fails if one of them appears in the texts.
func (d *desk) secrets(dir string, texts ...string) map[string]string {
	d.Helper()
	all := expect.Value(tokenfile.All(dir))(d)
	said := strings.Join(texts, "\n")
	if strings.Contains(said, string(boxtoken.Box)) {
		d.Error("a token was sent or said")
	}
	for _, text := range all {
		if strings.Contains(said, text[strings.LastIndex(text, ":")+1:]) {
			d.Error("a secret was sent or said")
		}
	}
	return all
}

// polls fails unless the token of a box is accepted at its manifest.
func (d *desk) polls(id, token string) {
	d.Helper()
	box := &harness.Caller{URL: d.Target.URL, Bearer: "Bearer " + token}
	box.Get(d.T, "/api/edges/"+id+"/update/manifest").Is(d.T, http.StatusOK)
}

// allPoll fails unless the tokens of all boxes are accepted.
func (d *desk) allPoll(tokens map[string]string) {
	d.Helper()
	for id, token := range tokens {
		d.polls(id, token)
	}
}

// TestFirstMile_AThousandBoxesPollWithTokensOfTheirOwn_AndNoSecretCrossesTheAPI counts commands, calls and secrets.
func TestFirstMile_AThousandBoxesPollWithTokensOfTheirOwn_AndNoSecretCrossesTheAPI(t *testing.T) {
	const boxes = 1000
	d := newDesk(t)
	d.publishes()
	w := d.listens()
	dir := filepath.Join(d.dir, "tokens")
	r := d.does("register", d.file("boxes.csv", csv(boxes)), "--make-tokens", dir, "--yes").is(run.Done).
		says("1000 boxes registered, 0 moved or changed, 0 unchanged", "1000 tokens were made")
	expect.Equal(t, w.calls, map[string]int{"POST /api/edges": 34, "GET /api/edges": 1}, "the calls are")
	tokens := d.secrets(dir, w.text.String(), r.out, r.err, d.State(t))
	expect.Equal(t, len(tokens), boxes, "tokens:")
	d.allPoll(tokens)
}

func TestMakeTokens_Files_AreOnlyForTheirOwner_AndHaveSafeNames(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	dir, long := filepath.Join(d.dir, "tokens"), "s"+strings.Repeat("0:", 63)+"1"
	names := map[string]string{
		"box-1": "edge-box-1.token", "00:1A:2B:3C:4D:5E": "edge-00+1A+2B+3C+4D+5E.token", "con": "edge-con.token",
		"a.token": "edge-a.token.token",
		long:      "edge-s" + strings.Repeat("0+", 63) + "1.token",
	}
	ids := make([]string, 0, len(names))
	for id := range names {
		ids = append(ids, id)
	}
	d.does("register", d.file("boxes.csv", csvOf(ids)), "--make-tokens", dir, "--yes").is(run.Done)
	mode := func(name string) fs.FileMode {
		info := expect.Value(os.Lstat(filepath.Join(dir, name)))(t)
		return info.Mode()
	}
	expect.Equal(t, mode("."), fs.ModeDir|0o700, "the directory has the mode")
	entries, err := os.ReadDir(dir)
	expect.That(t, err == nil && len(entries) == len(names)+1, "it has %v, %v", entries, err)
	for id, name := range names {
		expect.Equal(t, mode(name), 0o600, "%s has the mode", name)
		if len(name) > 143 { // of an encrypted home
			t.Errorf("%s has %d characters", name, len(name))
		}
		text := expect.Value(os.ReadFile(filepath.Join(dir, name)))(t)
		d.polls(id, string(text))
	}
	if ignored, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err != nil || string(ignored) != "*\n" {
		t.Errorf("git is told %q, %v", ignored, err)
	}
}

func TestMakeTokens_Again_UsesTheFilesThatAreThere(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	dir := filepath.Join(d.dir, "tokens")
	d.does(d.registering(dir, "box-0001", "box-0002")...).is(run.Done)
	before := d.secrets(dir)
	d.does("register", d.file("boxes.csv", csv(3)), "--make-tokens", dir).is(run.Misused).warns("1 new, 2 already in " + dir)
	d.does("register", d.file("boxes.csv", csv(3)), "--make-tokens", dir, "--yes").is(run.Done).
		says("1 box registered, 0 moved or changed, 2 unchanged", "1 token was made")
	after := d.secrets(dir)
	for id, token := range before {
		expect.Equal(t, after[id], token, "%s has the token", id)
	}
	d.allPoll(after)
	// A line break that an editor added at the end changes nothing.
	d.file("tokens/"+tokenfile.Name("box-0001"), before["box-0001"]+"\n")
	d.does("register", d.file("boxes.csv", csv(3)), "--make-tokens", dir, "--yes").is(run.Done).says("3 unchanged", "0 tokens were made")
}

func TestMakeTokens_BadLinesAndFiles_AreAllTold_AndNothingIsMadeOrSent(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "tokens")
	d.does("register", d.file("boxes.csv", csv(1)), "--make-tokens", dir, "--yes").is(run.Done)
	token := d.secrets(dir)["box-0001"]
	for name, text := range map[string]string{"box-2": token, "box-3": "", "box-4": "wavegate-edge:box-4:",
		"box-5": "wavegate-gateway:box-5:" + token[len(token)-43:]} {
		d.file("tokens/"+tokenfile.Name(name), text)
	}
	own, _ := boxtoken.New(boxtoken.Box, "box-6")
	expect.OK(t, os.Chmod(d.file("tokens/"+tokenfile.Name("box-6"), own), 0o640))
	expect.OK(t, os.Symlink(tokenfile.Name("box-0001"), filepath.Join(dir, tokenfile.Name("box-7"))))
	w := d.listens()
	file := d.file("boxes.csv", csvOf([]string{"box-1", "box-2", "box-3", "box-4", "box-5", "box-6", "box-7", "Box-1", "box-2", "box 9"}))
	d.does("register", file, "--make-tokens", dir, "--yes").is(run.Refused).
		warns("line 10: edgeId box-2 is already in line 3", "line 11: edgeId must be", "2 lines have errors; nothing was sent")
	file = d.file("boxes.csv", csvOf([]string{"box-1", "box-2", "box-3", "box-4", "box-5", "box-6", "box-7", "Box-1"}))
	r := d.does("register", file, "--make-tokens", dir, "--yes").is(run.Refused).
		warns("line 3: ", "has the token of another box, box-0001", "line 4: ", "line 5: ", "line 6: ",
			"does not have the token of a box", "line 7: ", "0600", "line 8: ", "is not a file",
			"line 9: edgeId Box-1 differs from box-1 only in case", "7 lines have errors; nothing was sent")
	expect.Equal(t, w.calls, map[string]int{}, "the calls are")
	expect.That(t, !strings.Contains(r.err, token), "a token was said")
	entries, err := os.ReadDir(dir)
	expect.That(t, err == nil && len(entries) == 8, "it has %v, %v", entries, err)
}

func TestMakeTokens_ABoxWithATokenThatIsNotHere_KeepsIt(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	here, elsewhere := filepath.Join(d.dir, "here"), filepath.Join(d.dir, "elsewhere")
	d.does("register", d.file("boxes.csv", csv(2)), "--make-tokens", elsewhere, "--yes").is(run.Done)
	d.does("register", d.file("boxes.csv", csv(3)), "--make-tokens", here, "--yes").is(run.Refused).
		warns("line 2: box-0001 has a token, but its file is not in "+here, "line 3: box-0002", "wavegate tokens renew",
			"2 lines have errors; nothing was sent")
	_, err := os.Lstat(here)
	expect.That(t, err != nil, "the directory was made")
	d.allPoll(d.secrets(elsewhere))
}

// TestMakeTokens_WhoMayNotListBoxes_RegistersThem: in this case the service itself refuses to replace the token of a
// box.
func TestMakeTokens_WhoMayNotListBoxes_RegistersThem(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.answers = func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			return nil, nil
		}
		return answer(r, http.StatusForbidden, `{"code":"FORBIDDEN"}`), nil
	}
	dir := filepath.Join(d.dir, "tokens")
	d.does(d.registering(dir, "box-0001", "box-0002")...).is(run.Done).says("2 boxes registered")
	d.allPoll(d.secrets(dir))
}

func TestMakeTokens_ADirectoryThatOthersMayUse_IsRefused(t *testing.T) {
	d := newDesk(t)
	file := d.file("boxes.csv", csv(1))
	shared := filepath.Join(d.dir, "shared")
	expect.OK(t, os.Mkdir(shared, 0o700))
	expect.OK(t, os.Chmod(shared, 0o755))
	w := d.listens()
	for dir, want := range map[string]string{shared: "0700", file: "not a directory",
		filepath.Join(d.dir, "none", "tokens"): "no such file", filepath.Join(file, "tokens"): "not a directory"} {
		d.does("register", file, "--make-tokens", dir, "--yes").is(run.Misused).warns(want)
	}
	expect.Equal(t, w.calls, map[string]int{}, "the calls are")
}

// TestMakeTokens_ALimitOrALostAnswer_IsFollowed: both times the same is sent, so each box has the token of its file.
func TestMakeTokens_ALimitOrALostAnswer_IsFollowed(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	w, sent, lose := d.listens(), 0, losesOne(http.MethodPost)
	d.answers = func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return nil, nil
		}
		if sent++; sent <= 2 {
			return answer(r, http.StatusTooManyRequests, "", "Retry-After", "0"), nil
		}
		return nil, lose(r) // it loses the third
	}
	dir := filepath.Join(d.dir, "tokens")
	d.does(d.registering(dir, "box-0001", "box-0002")...).is(run.Done).says("2 boxes registered")
	expect.Equal(t, sent, 4, "calls:")
	d.allPoll(d.secrets(dir, w.text.String()))
}
