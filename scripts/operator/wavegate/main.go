// Command wavegate is the operator's command: it signs in to a service, watches and controls rollouts, and manages
// boxes and limits. Run wavegate help for its commands, and scripts/operator/README.md for a session.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"wavegate/scripts/operator/command"
	"wavegate/scripts/operator/run"
)

func main() { os.Exit(operate()) }

func operate() int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	return command.Run(ctx, os.Args[1:], run.Process())
}
