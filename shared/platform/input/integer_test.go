package input_test

import (
	"math"
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

func TestInteger_AcceptsAndRefuses(t *testing.T) {
	for _, c := range []struct {
		rule         input.Integer
		says         string
		take, refuse []int64
	}{
		{input.Integer{Least: 1, Most: 100}, "a whole number from 1 to 100", []int64{1, 50, 100}, []int64{math.MinInt64, -1, 0, 101, math.MaxInt64}},
		{input.Integer{OneOf: []int{1, 10, 50}}, "one of 1, 10, 50", []int64{1, 10, 50}, []int64{math.MinInt64, 0, 2, 49, 51, math.MaxInt64}},
	} {
		expect.Equal(t, c.rule.Says(), c.says, "the rule says")
		for _, n := range c.take {
			expect.That(t, c.rule.Accepts(n), "%s: %d was refused", c.says, n)
		}
		for _, n := range c.refuse {
			expect.That(t, !c.rule.Accepts(n), "%s: %d was accepted", c.says, n)
		}
	}
}
