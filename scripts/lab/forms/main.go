// Command forms adds golden items: it fills a local service with resources of every kind and state, and appends the
// stored items whose forms no golden item has yet to the files of package golden. Recorded items never change.
//
//	go run ./scripts/lab/forms [-functions DIR]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"wavegate/scripts/local/service"
)

func main() {
	functions := flag.String("functions", "", "the directory of other functions, built by OUT=DIR ./scripts/build; empty: those of the working tree")
	flag.Parse()
	if err := run(context.Background(), *functions); err != nil {
		fmt.Fprintln(os.Stderr, "forms:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, functions string) (err error) {
	if functions == "" {
		if functions, err = service.Build(ctx, os.Stderr); err != nil {
			return err
		}
	}
	w, err := open(ctx, functions)
	if err != nil {
		return err
	}
	defer w.Stop()
	return w.record(ctx)
}
