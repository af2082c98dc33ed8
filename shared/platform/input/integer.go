package input

import (
	"fmt"
	"slices"
	"strings"
)

// An Integer is the rule of a whole number. The contract's tests compare every rule with the published
// contract.
type Integer struct {
	// Least and Most bound the number; both are included.
	Least, Most int64
	// OneOf, if set, lists the accepted numbers; Least and Most are then ignored.
	OneOf []int
}

// Accepts reports whether a number is valid.
func (r *Integer) Accepts(n int64) bool {
	if r.OneOf != nil {
		return slices.ContainsFunc(r.OneOf, func(one int) bool { return int64(one) == n })
	}
	return n >= r.Least && n <= r.Most
}

// Says describes the accepted numbers to a caller.
func (r *Integer) Says() string {
	if r.OneOf != nil {
		return "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(r.OneOf), " ", ", "), "[]")
	}
	return fmt.Sprintf("a whole number from %d to %d", r.Least, r.Most)
}
