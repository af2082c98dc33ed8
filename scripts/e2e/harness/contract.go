package harness

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/conform"
)

// A Contract checks every exchange of a run against the contract.
type Contract struct {
	checker *conform.Checker

	mu       sync.Mutex
	breaches map[string]int
}

// WatchContract observes every exchange from now on. Call it once in a process.
func WatchContract() (*Contract, error) {
	checker, err := conform.New()
	if err != nil {
		return nil, err
	}
	c := &Contract{checker: checker, breaches: map[string]int{}}
	elsewhere := os.Getenv("E2E_URL")
	observe(func(x Exchange) {
		if elsewhere != "" && strings.HasPrefix(elsewhere, "http://"+x.Request.URL.Host) {
			return // another target may not give the gateway's own answers
		}
		c.see(x)
	})
	return c, nil
}

func (c *Contract) see(x Exchange) {
	target := x.Request.URL.Opaque
	if x.Request.URL.RawQuery != "" {
		target += "?" + x.Request.URL.RawQuery
	}
	err := c.checker.Check(conform.Exchange{
		Method: x.Request.Method, Target: target, Header: x.Request.Header, Body: x.Body,
		Status: x.Answer.Status, Answer: x.Answer.Header, AnswerBody: x.Answer.Body,
	})
	if err != nil {
		c.mu.Lock()
		c.breaches[err.Error()]++
		c.mu.Unlock()
	}
}

// Kept prints the number of checks, and reports whether the contract was kept.
func (c *Contract) Kept() bool {
	exchanges, operations, answers := c.checker.Coverage()
	fmt.Printf("contract: %d exchanges of %d operations checked, %d different answers\n", exchanges, operations, answers)
	for _, breach := range slices.Sorted(maps.Keys(c.breaches)) {
		fmt.Printf("FAIL: the contract is not kept (%d times): %s\n", c.breaches[breach], breach)
	}
	return len(c.breaches) == 0
}

// Codes from the parts that all operations share: API Gateway, the authorizer, the limiter and the transactions. Each
// must occur once, in any operation. Tests with injected faults cover the others; see scripts/lab/proof.
var (
	common    = []problem.Code{problem.Unauthenticated, problem.Forbidden, problem.RateLimited, problem.Conflict}
	elsewhere = []problem.Code{problem.Internal, problem.BadGateway, problem.Unavailable, problem.Timeout}
)

// Seen reports whether every declared answer was seen, and prints those that were not.
func (c *Contract) Seen() bool {
	unseen := c.checker.Unseen(common, elsewhere)
	for _, answer := range unseen {
		fmt.Println("FAIL: declared, and not seen:", answer)
	}
	return len(unseen) == 0
}
