// Command reference runs another command beside the reference stores: Amazon's DynamoDB Local, whose
// endpoint the command finds in WAVEGATE_REFERENCE_STORE, and ministack, in WAVEGATE_MINISTACK_STORE.
// Where the machine lacks what one of them needs, it says so in one line and leaves that one out; in
// CI, that is a failure. It exits as the command did.
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

// references are the stores, with the variables that dynamotest reads.
var references = []struct {
	variable string
	start    func(context.Context) (*dynamolocal.Store, error)
}{
	{"WAVEGATE_REFERENCE_STORE", func(ctx context.Context) (*dynamolocal.Store, error) {
		return dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	}},
	{"WAVEGATE_MINISTACK_STORE", dynamolocal.Ministack},
}

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
	environment := os.Environ()
	for _, r := range references {
		store, err := r.start(ctx)
		if missing, ok := errors.AsType[*dynamolocal.MissingError](err); ok && os.Getenv("CI") != "true" {
			fmt.Fprintln(os.Stderr, "tests on a reference store are left out:", missing)
			continue
		}
		if err != nil {
			return 1, err
		}
		defer store.Close()
		environment = append(environment, r.variable+"="+store.Endpoint)
	}
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment, os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
