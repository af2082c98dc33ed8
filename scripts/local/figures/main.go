// Command figures says how large synthesised templates are, and which rules of cdk-nag they leave out, each
// with its reason. See scripts/synth, which calls it.
package main

import (
	"encoding/json"
	"fmt"
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
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	suppressed := map[string]int{}
	fmt.Println("| settings | template | resources | parameters | bytes | suppressions |")
	fmt.Println("|---|---|--:|--:|--:|--:|")
	for _, file := range files {
		b, err := os.ReadFile(file) //nolint:gosec // whoever calls the command names the files
		if err != nil {
			return err
		}
		var t template
		if err := json.Unmarshal(b, &t); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		rules := t.Metadata.Nag.Rules
		for _, r := range t.Resources {
			rules = append(rules, r.Metadata.Nag.Rules...)
		}
		for _, r := range rules {
			suppressed[r.ID+": "+r.Reason]++
		}
		fmt.Printf("| %s | %s | %d | %d | %d | %d |\n", filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".template.json"),
			len(t.Resources), len(t.Parameters), len(b), len(rules))
	}
	fmt.Print("\nSuppressed, with how often in all of them together:\n\n")
	for _, what := range slices.Sorted(maps.Keys(suppressed)) {
		fmt.Printf("- %d × %s\n", suppressed[what], what)
	}
	return nil
}
