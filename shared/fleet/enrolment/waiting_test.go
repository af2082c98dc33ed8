package enrolment

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

// TestAdmit_OfManyNetworks_KeepsTheSmallOnes: a network that has at most its share of the places keeps all its boxes, and
// gets in, whatever the others do.
func TestAdmit_OfManyNetworks_KeepsTheSmallOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		networks := rapid.IntRange(1, 40).Draw(t, "networks")
		boxes := make([]Waiting, MostBoxes+rapid.IntRange(-2, 60).Draw(t, "over"))
		before := map[string]int{}
		for i := range boxes {
			n := min(rapid.IntRange(0, networks-1).Draw(t, "network"), rapid.IntRange(0, networks-1).Draw(t, "or"))
			boxes[i] = Waiting{EdgeID: fmt.Sprint(i), Network: fmt.Sprint(n), Since: time.Unix(int64(len(boxes)-i), 0)}
			before[boxes[i].Network]++
		}
		caller, all := boxes[0], slices.Clone(boxes)
		left, gone := admit(boxes)
		sorted := slices.SortedFunc(slices.Values(append(slices.Clone(left), gone...)), func(a, b Waiting) int { return b.Since.Compare(a.Since) })
		expect.Equal(t, sorted, all, "left and gone together")
		if len(left) > MostBoxes && len(gone) < mostGone && !slices.Contains(gone, caller) {
			t.Fatalf("%d are left, and only %d gone", len(left), len(gone))
		}
		for _, w := range gone {
			if before[w.Network] <= MostBoxes/len(before) {
				t.Fatalf("a box of network %s is gone, which had %d of %d", w.Network, before[w.Network], len(all))
			}
		}
	})
}

func TestNetworkOf_Addresses(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"an IPv4 address":                 {"203.0.113.7", "203.0.113.7", true},
		"two IPv4 addresses":              {"203.0.113.7", "203.0.113.8", false},
		"a site's IPv6 addresses":         {"2001:db8:1::1", "2001:db8:1:ffff::2", true},
		"two sites":                       {"2001:db8:1::1", "2001:db8:2::1", false},
		"the same in two spellings":       {"2001:DB8:1:0::1", "2001:db8:1::1", true},
		"no address":                      {"", "", true},
		"no address, and an IPv4 address": {"", "0.0.0.0", false},
	} {
		t.Run(name, func(t *testing.T) { expect.Equal(t, networkOf(c.a) == networkOf(c.b), c.same, "the same network") })
	}
}
