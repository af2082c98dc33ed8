// Command cost computes what fleets cost a month, from the counted units of a poll and list prices. It writes the
// tables of infra/fleet-size.md:
//
//	go run ./scripts/lab/benchmarks/cost fleet -boxes 25000,50000 -interval 60 -idle 300 -days 8
//	go run ./scripts/lab/benchmarks/cost ways
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
	err := errors.New("usage: cost fleet [option...], or cost ways")
	switch {
	case len(os.Args) > 1 && os.Args[1] == "fleet":
		err = fleetCommand(os.Stdout, os.Args[2:])
	case len(os.Args) == 2 && os.Args[1] == "ways":
		err = writeWays(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}
