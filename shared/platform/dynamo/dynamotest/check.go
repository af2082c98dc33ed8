package dynamotest

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// How many random cases Check tries. Each makes dozens of requests to a store, so they are fewer than
// rapid's hundred, but in a long run. ministack takes several times as long for a request as the other stores, and
// serves one at a time: it is the second reference, and few cases tell where it differs.
const (
	cases          = 15
	casesMinistack = 4
	casesLong      = 100
)

// Check is rapid.Check for a property that takes a store: with 15 cases, or 4 on ministack; with 100 where LONG is
// set, and with as many as -rapid.checks says. Tests that use it do not run side by side.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checks })
	if given {
		rapid.Check(t, property)
		return
	}
	n := cases
	if strings.HasSuffix(t.Name(), "/"+ministack) {
		n = casesMinistack
	}
	if os.Getenv("LONG") != "" {
		n = casesLong
	}
	f := flag.Lookup(checks)
	before := f.Value.String()
	// The flag's value is set, and the flag itself left as not given.
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
