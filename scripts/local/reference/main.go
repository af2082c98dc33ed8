// Command reference runs another command beside Amazon's DynamoDB Local, whose endpoint the command
// finds in WAVEGATE_REFERENCE_STORE. Where the machine lacks what that store needs, it says so in one
// line and runs the command without it. It exits as the command did.
//
//	go run ./scripts/local/reference go test ./shared/platform/dynamo
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"wavegate/shared/platform/dynamo/dynamolocal"
)

// variable is what dynamotest reads.
const variable = "WAVEGATE_REFERENCE_STORE"

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
	reference, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if missing, ok := errors.AsType[*dynamolocal.MissingError](err); ok {
		fmt.Fprintln(os.Stderr, "tests on the reference store are left out:", missing)
	} else if err != nil {
		return 1, err
	} else {
		defer reference.Close()
		environment = append(environment, variable+"="+reference.Endpoint)
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
