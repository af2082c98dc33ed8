// Command reference runs another command while Amazon's DynamoDB Local runs, the reference for the embedded store.
// The command finds its endpoint in WAVEGATE_REFERENCE_STORE. It exits with the command's exit code.
//
//	go run ./scripts/local/reference go test ./shared/platform/dynamo/...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"wavegate/shared/testing/dynamolocal"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: reference command [argument...]")
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	code, err := run(ctx, os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, name string, arguments []string) (code int, err error) {
	store, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if err != nil {
		return 1, err
	}
	defer store.Close()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.Env = append(os.Environ(), "WAVEGATE_REFERENCE_STORE="+store.Endpoint)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
