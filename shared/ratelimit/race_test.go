//go:build race

package ratelimit

import "flag"

// Under the race detector the properties run few cases: each case makes many calls of a store and contains everything
// that the detector looks for. The number is set here and not by a flag of the command, so that Go caches the result.
func init() {
	if err := flag.Set("rapid.checks", "5"); err != nil {
		panic(err)
	}
}
