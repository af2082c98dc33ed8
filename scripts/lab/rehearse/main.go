// Command rehearse deploys the stacks to an emulated AWS, upgrades them from an earlier commit and destroys
// them, and checks what is there after each step. See scripts/rehearse, which installs the emulator.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// singleStack is the last commit in which one stack held everything.
const singleStack = "055760b03abfbc0dd63164c9840fead5a3cc92fb"

// A rehearsal is a sequence of deploys on an emulated cloud of its own.
type rehearsal struct {
	name string
	run  func(context.Context, *workspace) error
}

var rehearsals = []rehearsal{{"first", first}, {"upgrade", upgrade}, {"keep", keep}}

func main() {
	cloud := flag.String("cloud", "", "the emulator's program")
	from := flag.String("from", singleStack, "the commit that is upgraded from")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *cloud, *from, flag.Args())
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rehearse:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, from string, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(rehearsals, func(r rehearsal) bool { return r.name == name }) {
			return fmt.Errorf("there is no rehearsal %q; there are first, upgrade and keep", name)
		}
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	for _, r := range rehearsals {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		begin := time.Now()
		if err := perform(ctx, r, root, program, from); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Printf("ok  	%s, in %.0f s\n", r.name, time.Since(begin).Seconds())
	}
	return nil
}

// perform runs a rehearsal on a cloud that ends with it.
func perform(ctx context.Context, r rehearsal, root, program, from string) error {
	dir := filepath.Join(root, ".dev", "rehearse", r.name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	cloud, err := startCloud(ctx, program, filepath.Join(dir, "cloud.log"))
	if err != nil {
		return err
	}
	defer cloud.stop()
	w := &workspace{cloud: cloud, root: root, dir: dir, from: from}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	return r.run(ctx, w)
}
