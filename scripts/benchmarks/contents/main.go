// Command contents measures contents of production methods: how large they are, and what it takes to read one
// strictly and bring it into its canonical form. One is grown from the first until a bound ends it: 100 steps, or 64 KiB.
//
//	./scripts/benchmarks/run contents
package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/production/content"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "contents:", err)
		os.Exit(1)
	}
}

func run() error {
	fmt.Print("Median of 200 runs each. Read: strict reading, all rules, and the canonical form. Canonical: the canonical form alone. Write units: those of the content's own item in a save; twice its size in KB, since it is written in a transaction.\n\n")
	fmt.Println("| content | steps | bytes sent | bytes, canonical | bytes a step | write units | read, ms | canonical, ms | SHA-256, ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, name := range []string{"anodizing", "milling", "reflow"} {
		text, err := os.ReadFile(filepath.Join("shared", "production", "content", "testdata", name+".json"))
		if err != nil {
			return err
		}
		if err := row(name, text); err != nil {
			return err
		}
		if name != "anodizing" {
			continue
		}
		large, err := grown(text)
		if err != nil {
			return err
		}
		if err := row("anodizing, its steps repeated up to a bound", large); err != nil {
			return err
		}
	}
	return nil
}

func row(name string, text []byte) error {
	c, faults := content.Parse(text)
	if len(faults) > 0 {
		return fmt.Errorf("%s has faults: %v", name, faults)
	}
	var shape struct{ Steps []json.RawMessage }
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	size, steps := len(c.Bytes()), len(shape.Steps)
	_, err := canonical.JSON(text)
	fmt.Printf("| %s | %d | %d | %d | %d | %d | %.2f | %.2f | %.3f |\n", name, steps, len(text), size, size/steps, 2*((size+1023)/1024),
		median(func() { content.Parse(text) }), median(func() { _, err = canonical.JSON(text) }), median(func() { sha256.Sum256(c.Bytes()) }))
	return err
}

// grown is a content with its steps repeated as long as the whole is taken.
func grown(text []byte) ([]byte, error) {
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	first, ok := whole["steps"].([]any)
	if !ok {
		return nil, errors.New("the content has no steps")
	}
	var last []byte
	var steps []any
	for n := 0; ; n++ {
		fields, ok := first[n%len(first)].(map[string]any)
		if !ok {
			return nil, errors.New("a step is no object")
		}
		step := map[string]any{}
		for name, value := range fields {
			step[name] = value
		}
		step["id"] = strconv.Itoa(n)
		steps = append(steps, step)
		whole["steps"] = steps
		next, err := canonical.Encode(whole)
		if err != nil || len(next) > content.MaxBytes {
			return last, err
		}
		if _, faults := content.Parse(next); len(faults) > 0 {
			return last, nil // 100 steps
		}
		last = next
	}
}

// median is that of 200 runs, in milliseconds.
func median(do func()) float64 {
	times := make([]time.Duration, 200)
	for i := range times {
		began := time.Now()
		do()
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}
