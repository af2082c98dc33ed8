// Command sam runs the synthesised stack on this machine under the AWS SAM CLI: the deployed functions, in
// containers, behind the template's own routes and authorizer, with DynamoDB Local as their store. See
// scripts/lab/sam/run, which builds and starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := run(ctx, flag.Args())
	if missing, ok := errors.AsType[*missingError](err); ok {
		fmt.Fprintln(os.Stderr, "sam:", missing)
		os.Exit(3)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "sam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	command := "serve"
	if len(arguments) > 0 {
		command, arguments = arguments[0], arguments[1:]
	}
	switch {
	case command == "check" && len(arguments) == 0:
		_, err := findTools(ctx)
		return err
	case command == "serve" && len(arguments) == 0:
		return serve(ctx, atFirstCall, func(_ *environment, url string) error {
			fmt.Printf("ready %s\n", url)
			<-ctx.Done()
			return nil
		})
	case command == "test" && len(arguments) == 0:
		return serve(ctx, atStart, func(e *environment, url string) error {
			if err := test(ctx, url); err != nil {
				return err
			}
			return e.testTasks(ctx)
		})
	case command == "invoke" && len(arguments) == 1:
		return invoke(ctx, arguments[0])
	}
	return fmt.Errorf("usage: sam [serve | test | check | invoke <operation>]")
}

// serve starts the API and ends it when use returns.
func serve(ctx context.Context, containers string, use func(e *environment, url string) error) error {
	tools, err := findTools(ctx)
	if err != nil {
		return err
	}
	e, err := prepare(ctx, tools)
	if err != nil {
		return err
	}
	defer e.close()
	api, err := e.startAPI(ctx, containers)
	if err != nil {
		return err
	}
	defer api.stop()
	return use(e, api.url)
}

// invoke sends one event to its function.
func invoke(ctx context.Context, event string) error {
	tools, err := findTools(ctx)
	if err != nil {
		return err
	}
	function, file, err := eventOf(event)
	if err != nil {
		return err
	}
	e, err := prepare(ctx, tools)
	if err != nil {
		return err
	}
	defer e.close()
	return e.invoke(ctx, os.Stdout, function, file).Run()
}
