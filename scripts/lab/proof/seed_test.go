package proof

import (
	"os"
	"strconv"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// seed is the value of PROOF_SEED, or a new seed. It is printed, so that a run can be repeated.
func seed(t testing.TB) uint64 {
	t.Helper()
	n := uint64(time.Now().UnixNano()) % 1_000_000_007
	if text := os.Getenv("PROOF_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("PROOF_SEED is %q, not a number", text)
		}
	}
	t.Logf("PROOF_SEED=%d", n)
	return n
}

// count is the smaller number, or the larger one in a long run. The named variable, if set,
// replaces both.
func count(t testing.TB, name string, short, long int) int {
	t.Helper()
	n := expect.Long(short, long)
	if text := os.Getenv(name); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("%s is %q, not a number from 1", name, text)
		}
	}
	return n
}
