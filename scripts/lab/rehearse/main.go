// Command rehearse plays the life of a deployment on an AWS emulator: its deploys, failed ones, a restore, and its
// end. It checks the result of each step. See scripts/rehearse, which installs the emulator.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"wavegate/scripts/lab/old"
	"wavegate/scripts/local/devissuer"
)

func main() {
	from := flag.String("from", old.Commit, "the `commit` that is upgraded from")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *from)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rehearse:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, from string) error {
	// The AWS command does not accept an empty profile name.
	if err := os.Unsetenv("AWS_PROFILE"); err != nil {
		return err
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir := filepath.Join(root, ".dev", "rehearse", "life")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	issuers, err := devissuer.Load("")
	if err != nil {
		return err
	}
	cloud, err := startCloud(ctx, "hypercorn", filepath.Join(dir, "cloud.log"))
	if err != nil {
		return err
	}
	defer cloud.stop()
	w := &workspace{cloud: cloud, root: root, dir: dir, from: from, settings: []string{
		"keep=true", "events=true", "backup=true", "traffic=at-once", "issuers=" + issuers.Setting(),
		"limitUser=30000", "limitOrganization=30000", // one person fills it
	}}
	begin := time.Now()
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if err := life(ctx, w); err != nil {
		return err
	}
	fmt.Printf("ok  	the life of a stage, in %.0f s\n", time.Since(begin).Seconds())
	return nil
}
