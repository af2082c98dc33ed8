package proof

import (
	"fmt"
	"os"
	"testing"

	"wavegate/scripts/e2e/harness"
)

// TestMain also checks every exchange of the run against the contract, because it applies under
// faults too.
func TestMain(m *testing.M) {
	contract, err := harness.WatchContract()
	if err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
	code := m.Run()
	if !contract.Kept() {
		code = 1
	}
	if used {
		if s, err := reference(); err == nil {
			s.Close()
		}
	}
	os.Exit(code)
}
