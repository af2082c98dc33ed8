package fault

import (
	"slices"
	"testing"

	"wavegate/scripts/local/storefront"
	"wavegate/shared/testing/expect"
)

func transactionOf(parts int) *storefront.Call {
	return &storefront.Call{Function: "publish-release", Operation: transaction, Uses: make([]storefront.Use, parts)}
}

var read = &storefront.Call{Function: "get-rollout", Operation: "GetItem", Uses: make([]storefront.Use, 1)}

func TestPlan_SameSeed_SameEffects(t *testing.T) {
	effects := func(seed uint64) []storefront.Effect {
		p := New(seed, 0.1, Everything)
		var all []storefront.Effect
		for range 300 {
			f := p.Effect(transactionOf(3))
			f.Answer = nil // each has a different value
			all = append(all, f)
		}
		return all
	}
	expect.That(t, slices.Equal(effects(7), effects(7)), "one seed made two plans")
	expect.That(t, !slices.Equal(effects(7), effects(8)), "two seeds made one plan")
}

func TestPlan_EveryKind_OccursOnlyOnSuitableCalls(t *testing.T) {
	onTransactions, onReads := New(1, 0.2, Everything), New(1, 0.2, Everything)
	for range 2000 {
		onTransactions.Effect(transactionOf(3))
		onReads.Effect(read)
	}
	for _, kind := range Everything {
		expect.That(t, onTransactions.Met()[kind] != 0, "no transaction met a %s", kind)
		n := onReads.Met()[kind]
		expect.That(t, (n == 0) == transactional(kind), "%d reads met a %s", n, kind)
	}
}

func TestPlan_SomeFaults_LastLongerThanAllRetries(t *testing.T) {
	p := New(1, 0.01, []Kind{InternalError})
	longest, row := 0, 0
	for range 5000 {
		if p.Effect(read).Answer != nil {
			row++
		} else {
			row = 0
		}
		longest = max(longest, row)
	}
	expect.That(t, longest >= streak, "the longest sequence of faults was %d, want %d", longest, streak)
}

func TestPlan_DeadEndpoint_IsDeadForEveryone(t *testing.T) {
	p := New(1, 0.25, []Kind{Dead})
	for p.Met()[Dead] == 0 {
		p.Effect(transactionOf(3))
	}
	effect := p.Effect(read)
	expect.That(t, effect.DropRequest, "another function's call met %+v", effect)
}

func TestPlan_ShareZero_HasNoFaults(t *testing.T) {
	p := New(1, 0, Everything)
	for range 1000 {
		effect := p.Effect(transactionOf(3))
		expect.Must(t, effect == (storefront.Effect{}), "met %+v", effect)
	}
}
