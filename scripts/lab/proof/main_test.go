package proof

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/testing/conform"
)

// TestMain also checks every exchange of the run against the contract, because it applies under
// faults too.
func TestMain(m *testing.M) {
	checker, err := conform.New()
	if err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	breaches := map[string]int{}
	harness.Observe(func(x harness.Exchange) {
		target := x.Request.URL.Opaque
		if x.Request.URL.RawQuery != "" {
			target += "?" + x.Request.URL.RawQuery
		}
		err := checker.Check(conform.Exchange{
			Method: x.Request.Method, Target: target, Header: x.Request.Header, Body: x.Body,
			Status: x.Answer.Status, Answer: x.Answer.Header, AnswerBody: x.Answer.Body,
		})
		if err != nil {
			mu.Lock()
			breaches[err.Error()]++
			mu.Unlock()
		}
	})
	code := m.Run()
	exchanges, operations, answers, _ := checker.Coverage()
	fmt.Printf("contract: %d exchanges of %d operations checked, %d different answers\n", exchanges, operations, answers)
	for breach, n := range breaches {
		fmt.Printf("FAIL: %d exchanges break the contract: %s\n", n, breach)
		code = 1
	}
	if used {
		if s, err := reference(); err == nil {
			s.Close()
		}
	}
	os.Exit(code)
}
