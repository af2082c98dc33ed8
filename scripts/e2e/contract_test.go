package e2e

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/testing/conform"
)

// A watch holds every exchange of the run against the contract.
type watch struct {
	checker *conform.Checker

	mu       sync.Mutex
	breaches map[string]int
}

func watchContract() (*watch, error) {
	checker, err := conform.New()
	if err != nil {
		return nil, err
	}
	w := &watch{checker: checker, breaches: map[string]int{}}
	elsewhere := os.Getenv("E2E_URL")
	harness.Observe(func(x harness.Exchange) {
		if elsewhere != "" && strings.HasPrefix(elsewhere, "http://"+x.Request.URL.Host) {
			return // SAM does not give the gateway's own answers
		}
		w.see(x)
	})
	return w, nil
}

func (w *watch) see(x harness.Exchange) {
	target := x.Request.URL.Opaque
	if x.Request.URL.RawQuery != "" {
		target += "?" + x.Request.URL.RawQuery
	}
	err := w.checker.Check(conform.Exchange{
		Method: x.Request.Method, Target: target, Header: x.Request.Header, Body: x.Body,
		Status: x.Answer.Status, Answer: x.Answer.Header, AnswerBody: x.Answer.Body,
	})
	if err != nil {
		w.mu.Lock()
		w.breaches[err.Error()]++
		w.mu.Unlock()
	}
}

// report prints what was checked and returns false when the contract was not kept. Of a whole run it
// also asks that every operation of the contract succeeded in some test.
func (w *watch) report(whole bool) bool {
	exchanges, operations, answers, unseen := w.checker.Coverage()
	fmt.Printf("contract: %d exchanges of %d operations checked, %d different answers\n", exchanges, operations, answers)
	for _, breach := range slices.Sorted(maps.Keys(w.breaches)) {
		fmt.Printf("FAIL: the contract is not kept (%d times): %s\n", w.breaches[breach], breach)
	}
	if whole && len(unseen) > 0 {
		fmt.Printf("FAIL: no test saw these operations succeed: %s\n", strings.Join(unseen, ", "))
	}
	return len(w.breaches) == 0 && (!whole || len(unseen) == 0)
}
