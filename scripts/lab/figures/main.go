// Command figures says how large synthesised templates are, and which rules of cdk-nag they leave out, each
// with its reason. See scripts/synth, which calls it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A template is the part that is looked at.
type template struct {
	Metadata   metadata
	Parameters map[string]any
	Resources  map[string]struct{ Metadata metadata }
}

type metadata struct {
	Nag struct {
		Rules []struct{ ID, Reason string } `json:"rules_to_suppress"`
	} `json:"cdk_nag"`
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run writes two tables of the templates in the files: how large each is, and what they suppress together.
func run(out io.Writer, files []string) error {
	var b strings.Builder
	suppressed := map[string]int{}
	fmt.Fprintln(&b, "| settings | template | resources | parameters | bytes | suppressions |")
	fmt.Fprintln(&b, "|---|---|--:|--:|--:|--:|")
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // whoever calls the command names the files
		if err != nil {
			return err
		}
		var t template
		if err := json.Unmarshal(text, &t); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		rules := t.Metadata.Nag.Rules
		for _, r := range t.Resources {
			rules = append(rules, r.Metadata.Nag.Rules...)
		}
		for _, r := range rules {
			suppressed[r.ID+": "+r.Reason]++
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".template.json"),
			len(t.Resources), len(t.Parameters), len(text), len(rules))
	}
	fmt.Fprint(&b, "\nSuppressed, with how often in all of them together:\n\n")
	for _, what := range slices.Sorted(maps.Keys(suppressed)) {
		fmt.Fprintf(&b, "- %d × %s\n", suppressed[what], what)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
