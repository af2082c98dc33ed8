//go:build race

package ratelimit

import "flag"

// Under the race detector the properties take a few cases: each makes many calls of a store, and what the detector
// looks for is in every case. It is set here rather than by a flag of the command so that Go keeps the result.
func init() {
	if err := flag.Set("rapid.checks", "5"); err != nil {
		panic(err)
	}
}
