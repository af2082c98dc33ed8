package value

import (
	"fmt"
	"slices"
	"strings"
)

// An Integer is the rule of a whole number. The contract's tests compare every rule with the published
// contract.
type Integer struct {
	// Least and Most bound the number; both are taken.
	Least, Most int64
	// OneOf, where set, lists the numbers that are taken in place of the bounds.
	OneOf []int
}

// Accepts tells whether a number follows the rule.
func (r *Integer) Accepts(n int64) bool {
	if r.OneOf != nil {
		return slices.ContainsFunc(r.OneOf, func(one int) bool { return int64(one) == n })
	}
	return n >= r.Least && n <= r.Most
}

// Says tells a caller what is taken.
func (r *Integer) Says() string {
	if r.OneOf != nil {
		return "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(r.OneOf), " ", ", "), "[]")
	}
	return fmt.Sprintf("a whole number from %d to %d", r.Least, r.Most)
}
