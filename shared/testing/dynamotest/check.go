package dynamotest

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

// Check is rapid.Check for a property that uses a store. It runs 15 cases, in a long run 100, or as many as -rapid.checks says.
// Each case makes dozens of requests to the store. Tests that use it must not run in parallel.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checks })
	if given {
		rapid.Check(t, property)
		return
	}
	n := expect.Long(15, 100)
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
