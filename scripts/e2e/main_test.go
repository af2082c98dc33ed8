// Package e2e tests the whole service over HTTP: real function processes behind the local gateway.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"wavegate/scripts/e2e/harness"
)

// TestMain fails a whole run if some permission of a function was never used: functions have only the permissions
// that they need. A whole run also fails if a declared answer was not seen, and any run if an exchange violated the
// contract. With a box in its environment, the process is that box instead.
func TestMain(m *testing.M) {
	if text := os.Getenv(boxProcess); text != "" {
		os.Exit(beBox(text))
	}
	contract, err := harness.WatchContract()
	if err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
	code := m.Run()
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == ""
	if unused := harness.Unused(); code == 0 && whole && len(unused) > 0 {
		fmt.Println("FAIL: these permissions were granted and never used:")
		for _, r := range unused {
			fmt.Println("  ", r)
		}
		code = 1
	}
	if !contract.Kept() {
		code = 1
	}
	if whole && code == 0 && !contract.Seen() {
		code = 1
	}
	os.Exit(code)
}
