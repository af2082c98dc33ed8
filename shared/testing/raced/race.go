//go:build race

package raced

import (
	"flag"

	_ "pgregory.net/rapid" // has the flag
)

func init() {
	if err := flag.Set("rapid.checks", "5"); err != nil {
		panic(err)
	}
}
