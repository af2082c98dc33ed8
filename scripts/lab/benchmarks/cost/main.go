// Command cost computes what fleets cost a month, from the counted units of a poll and list prices. It writes the
// tables of infra/fleet-size.md:
//
//	go run ./scripts/lab/benchmarks/cost fleet -boxes 25000,50000 -interval 60 -idle 300 -days 8
//	go run ./scripts/lab/benchmarks/cost ways
//	go run ./scripts/lab/benchmarks/cost breaks
//	go run ./scripts/lab/benchmarks/cost downloads
//
// Its test counts the DynamoDB requests of each call. Its benchmarks measure the processor time of the warm
// functions, and compute the price of a million calls.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	err := errors.New("usage: cost fleet [option...], cost ways, cost breaks, or cost downloads")
	switch {
	case len(os.Args) > 1 && os.Args[1] == "fleet":
		err = fleetCommand(os.Stdout, os.Args[2:])
	case len(os.Args) == 2 && os.Args[1] == "ways":
		err = writeWays(os.Stdout)
	case len(os.Args) == 2 && os.Args[1] == "breaks":
		err = writeBoundaries(os.Stdout)
	case len(os.Args) == 2 && os.Args[1] == "downloads":
		writeDownloads(os.Stdout)
		err = nil
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}
