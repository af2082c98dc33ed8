package clients

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
	"pgregory.net/rapid"

	"wavegate/shared/contract"
	"wavegate/shared/testing/expect"
)

// TestContract_ItsPatterns_SayInJavaScriptWhatTheySayInGo: with the flag u, for all texts. Without it, a character
// beyond U+FFFF counts as two, so the test compares only texts without such characters, but checks that every pattern
// is valid.
func TestContract_ItsPatterns_SayInJavaScriptWhatTheySayInGo(t *testing.T) {
	node := expect.Program(t, "https://nodejs.org has it", "node")
	type tried struct {
		Pattern string
		Texts   []string
	}
	var all []tried
	for _, pattern := range patterns(t) {
		all = append(all, tried{pattern, texts(pattern)})
	}
	expect.Must(t, len(all) >= 30, "the contract has %d patterns", len(all))
	asked := expect.Value(json.Marshal(all))(t)
	script := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "patterns.mjs"))
	script.Stdin = bytes.NewReader(asked)
	out, err := script.CombinedOutput()
	expect.Must(t, err == nil, "%v: %s", err, out)
	var said []struct{ Unicode, Plain []bool }
	if err := json.Unmarshal(out, &said); err != nil || len(said) != len(all) {
		t.Fatalf("%d answers, %v", len(said), err)
	}
	for i, one := range all {
		inGo, yes := regexp.MustCompile(one.Pattern), 0
		for j, text := range one.Texts {
			want := inGo.MatchString(text)
			if want {
				yes++
			}
			if said[i].Unicode[j] != want || said[i].Plain[j] != want && !strings.ContainsFunc(text, beyond) {
				t.Errorf("%.60s: %q matches: %v in Go, %v with the flag u, %v without", one.Pattern, text, want, said[i].Unicode[j], said[i].Plain[j])
			}
		}
		expect.That(t, yes != 0 && yes != len(one.Texts),
			"%.60s: %d of %d texts match, which shows little", one.Pattern, yes, len(one.Texts))
	}
}

func beyond(r rune) bool { return r > 0xffff }

// patterns lists the contract's patterns, each once.
func patterns(t *testing.T) []string {
	var document any
	expect.OK(t, yaml.Unmarshal(contract.Document, &document))
	found := map[string]bool{}
	var visit func(any)
	visit = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			if pattern, is := node["pattern"].(string); is {
				found[pattern] = true
			}
			for _, value := range node {
				visit(value)
			}
		case []any:
			for _, value := range node {
				visit(value)
			}
		}
	}
	visit(document)
	return slices.Sorted(maps.Keys(found))
}

// texts generates texts that a pattern matches, and the same ones with a character that it may not allow.
func texts(pattern string) []string {
	all := []string{"", "a", "😀"}
	generator := rapid.StringMatching(pattern)
	for seed := range 8 {
		text := generator.Example(seed)
		all = append(all, text)
		for _, r := range "\x00\n \u00a0\u00ad\u2028\ue000\ufeff\ufffd\U0001d173\U0001f3ff\U0001ffff\U000e0041\U0010fffd" {
			all = append(all, string(r)+text, text+string(r))
		}
	}
	return all
}
