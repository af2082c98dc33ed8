package dynamotest

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// These are the numbers of random cases in Check. Each case makes dozens of requests to a store,
// so there are fewer than rapid's default of 100, except in a long run.
const (
	cases     = 15
	casesLong = 100
)

// Check is rapid.Check for a property that uses a store. It runs 15 cases, or 100 if LONG is set, or as many as -rapid.checks says. Tests that use it must not run in
// parallel.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checks })
	if given {
		rapid.Check(t, property)
		return
	}
	n := cases
	if os.Getenv("LONG") != "" {
		n = casesLong
	}
	f := flag.Lookup(checks)
	before := f.Value.String()
	// Set the flag's value, but leave the flag marked as not given.
	set := func(value string) {
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
	}
	set(strconv.Itoa(n))
	defer set(before)
	rapid.Check(t, property)
}

const checks = "rapid.checks"
