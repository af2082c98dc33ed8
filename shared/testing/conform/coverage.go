package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
)

// An Answer is a status and, for a refusal, its code.
type Answer struct {
	Status int
	Code   problem.Code
}

func answerOf(x Exchange) Answer {
	a := Answer{Status: x.Status}
	if x.Status >= http.StatusBadRequest {
		var p struct{ Code problem.Code }
		_ = json.Unmarshal(x.AnswerBody, &p) // Check finds what is not a problem
		a.Code = p.Code
	}
	return a
}

// Coverage returns how many exchanges of how many operations were checked, and how many different answers they had.
func (c *Checker) Coverage() (exchanges, operations, answers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, seen := range c.seen {
		for _, n := range seen {
			exchanges += n
		}
		answers += len(seen)
	}
	return exchanges, len(c.seen), answers
}

// Unseen lists the answers that the table of operations declares and that no exchange had. Each code in common must be
// seen once, from any operation. Those in elsewhere need not be seen.
func (c *Checker) Unseen(common, elsewhere []problem.Code) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unseen []string
	anywhere := map[problem.Code]bool{}
	for _, seen := range c.seen {
		for answer := range seen {
			anywhere[answer.Code] = true
		}
	}
	for _, code := range common {
		if !anywhere[code] {
			unseen = append(unseen, fmt.Sprintf("%s of any operation", code))
		}
	}
	for _, row := range table.All {
		for _, status := range row.Gives {
			if c.seen[row.ID][Answer{Status: status}] == 0 {
				unseen = append(unseen, fmt.Sprintf("%d of %s", status, row.ID))
			}
		}
		if row.Takes.Anything {
			continue
		}
		for _, code := range row.Problems() {
			own := !slices.Contains(common, code) && !slices.Contains(elsewhere, code)
			if own && c.seen[row.ID][Answer{problem.ClassOf(code).Status, code}] == 0 {
				unseen = append(unseen, fmt.Sprintf("%s of %s", code, row.ID))
			}
		}
	}
	return unseen
}
