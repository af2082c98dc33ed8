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
const singleStack = "b1d8a3b437117b74d71d8dbc93132ec90d0c2351"

// An act is one story that is played on a cloud of its own.
type act struct {
	name string
	play func(context.Context, *stageHand) error
}

var acts = []act{{"first", first}, {"upgrade", upgrade}, {"keep", keep}}

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
		if !slices.ContainsFunc(acts, func(a act) bool { return a.name == name }) {
			return fmt.Errorf("there is no act %q; there are first, upgrade and keep", name)
		}
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	for _, a := range acts {
		if len(names) > 0 && !slices.Contains(names, a.name) {
			continue
		}
		begin := time.Now()
		if err := perform(ctx, a, root, program, from); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Printf("ok  	%s, in %.0f s\n", a.name, time.Since(begin).Seconds())
	}
	return nil
}

// perform plays an act on a cloud that ends with it.
func perform(ctx context.Context, a act, root, program, from string) error {
	dir := filepath.Join(root, ".dev", "rehearse", a.name)
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
	h := &stageHand{cloud: cloud, root: root, dir: dir, from: from}
	if err := h.prepare(ctx); err != nil {
		return err
	}
	return a.play(ctx, h)
}
