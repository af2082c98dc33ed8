package service

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestBuild_AChangedWord_ChangesOnlyTheFunctionsThatLinkIt: a deploy makes a version of each function whose bytes
// changed, and an alias moves to it by degrees.
func TestBuild_AChangedWord_ChangesOnlyTheFunctionsThatLinkIt(t *testing.T) {
	expect.Full(t)
	root := expect.Value(Root())(t)
	tree := copyOf(t, root)
	type change struct {
		file, word, other string
		changed           []string
	}
	changes := []change{
		{"shared/production/method/input.go", `is not allowed in a move to `, `is not possible in a move to `, ofMoves},
		{"shared/fleet/guard/finding.go", `"Hold: `, `"Held: `, []string{"get-rollout-progress", "tick"}},
	}
	for _, c := range append(changes, expect.Long(nil, []change{{"shared/ratelimit/decision.go", `"Exceeded: `, `"Too much: `, nil}})...) {
		t.Run(c.file, func(t *testing.T) {
			file := filepath.Join(tree, c.file)
			text, err := os.ReadFile(file)
			expect.Must(t, err == nil && bytes.Contains(text, []byte(c.word)),
				"%s does not contain %q: %v", c.file, c.word, err)
			before := deployed(t, tree, "wavegate/"+filepath.Dir(c.file), c.changed)
			expect.OK(t, os.WriteFile(file, bytes.Replace(text, []byte(c.word), []byte(c.other), 1), 0o600))
			var changed []string
			for name, hash := range deployed(t, tree, "wavegate/"+filepath.Dir(c.file), c.changed) {
				if hash != before[name] {
					changed = append(changed, name)
				}
			}
			slices.Sort(changed)
			if c.changed == nil { // every operation
				c.changed = slices.DeleteFunc(slices.Sorted(maps.Keys(before)), func(name string) bool { return slices.Contains(apart, name) })
			}
			expect.Equal(t, changed, c.changed, "changed functions:")
			expect.OK(t, os.WriteFile(file, text, 0o600))
		})
	}
}

func TestBuild_ByDefault_IsForLambdaOnARM(t *testing.T) {
	expect.Full(t)
	root := expect.Value(Root())(t)
	out := t.TempDir()
	cmd := exec.Command(filepath.Join(root, "scripts", "build"), "authorizer")
	cmd.Env = append(os.Environ(), "OUT="+out, "TOOLCHAIN=local")
	text, err := cmd.CombinedOutput()
	expect.Must(t, err == nil, "%v: %s", err, text)
	f := expect.Value(elf.Open(filepath.Join(out, "authorizer", "bootstrap")))(t)
	defer f.Close()
	expect.Equal(t, f.Machine, elf.EM_AARCH64, "built for")
	libraries, _ := f.ImportedLibraries()
	expect.That(t, len(libraries) == 0, "it needs %v, which Lambda's image may lack", libraries)
	expect.That(t, f.Section(".symtab") == nil, "it has symbols")
}

// apart are the functions that are no operations.
var apart = []string{"authorizer", "console", "docs", "get-bell", "outside", "pre-token-generation", "smoke-test", "tick"}

// ofMoves are the functions that read moves of methods. The page and the smoke test have all rows.
var ofMoves = []string{"console", "smoke-test", "update-method-version"}

// deployed builds functions that import a package as for a deploy, and returns the hash of each: those that should change,
// and some of the others, or all of them in a long run. Functions that do not import it are made of the same packages as
// before; TestBuild_SameBytes shows that this gives the same bytes.
func deployed(t *testing.T, tree, imported string, changing []string) map[string][32]byte {
	t.Helper()
	var names []string
	importing := 0
	for line := range strings.Lines(runs(t, tree, "go", "list", "-tags=lambda.norpc", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}} `, "./functions/...")) {
		name, deps, _ := strings.Cut(strings.TrimPrefix(line, "wavegate/functions/"), " ")
		if !strings.Contains(" "+deps, imported+" ") {
			continue
		}
		if importing++; slices.Contains(changing, name) || importing%expect.Long(6, 1) == 0 {
			names = append(names, name)
		}
	}
	out := t.TempDir()
	cmd := exec.Command(filepath.Join(tree, "scripts", "build"), names...)
	cmd.Env = append(os.Environ(), "OUT="+out, "ARCH="+runtime.GOARCH, "TOOLCHAIN="+runtime.Version())
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: the build says %q", err, text)
	}
	files, err := filepath.Glob(filepath.Join(out, "*", "bootstrap"))
	if err != nil || len(files) != len(names) || len(files) == 0 {
		t.Fatalf("%d of %d functions were built: %v", len(files), len(names), err)
	}
	hashes := map[string][32]byte{}
	for _, file := range files {
		b := expect.Value(os.ReadFile(file))(t)
		hashes[filepath.Base(filepath.Dir(file))] = sha256.Sum256(b)
	}
	return hashes
}
