package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

type said = map[string]string

func describe(row report.Row, all said) (next report.Row, changed bool) {
	return report.Next(row, report.Description{Said: all, At: later})
}

func TestDescription_DuringARollout_KeepsWhatTheBoxSaidBefore(t *testing.T) {
	row := offered(report.Offered)
	row.Offer, row.Attributes = nil, said{"modem": "LTE"}
	row, _ = describe(row, said{"modem": "none", "board": "B"})
	expect.Equal(t, row.Before, nil, "without an offer, before:")
	row.Offer = offered(report.Offered).Offer
	expect.Equal(t, row.AttributesBefore("r"), said{"modem": "LTE", "board": "B"}, "told, the registration wins:")
	for _, board := range []string{"C", "D", "B"} {
		row, _ = describe(row, said{"board": board})
		expect.Equal(t, row.AttributesBefore("r"), said{"modem": "LTE", "board": "B"}, "it says %s, before:", board)
	}
	row, _ = describe(row, nil)
	row.Offer.RolloutID = "r2"
	expect.Equal(t, row.AttributesBefore("r2"), said{"modem": "LTE"}, "before another rollout:")
	row, _ = describe(row, said{"board": "E"})
	expect.Equal(t, *row.Before, report.SaidBefore{RolloutID: "r2"}, "before it was told of r2, it said:")
}

func TestDescription_OfTheSame_ChangesNothing(t *testing.T) {
	row, _ := describe(offered(report.Offered), said{"board": "C"})
	for _, again := range []said{{"board": "C"}} {
		_, changed := describe(row, again)
		expect.That(t, !changed, "%v changed the row", again)
	}
	for _, nothing := range []said{nil, {}} {
		_, changed := describe(offered(report.Offered), nothing)
		expect.That(t, !changed, "%v changed a row without attributes", nothing)
	}
}

func TestRegistered_RetiredOrGivenAway_ForgetsWhatTheBoxSaid(t *testing.T) {
	was := offered(report.Offered)
	was.OrganizationID = "acme"
	was, _ = describe(was, said{"board": "C"})
	here := report.Registration{EdgeID: "box", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Attributes: said{"modem": "LTE"}}
	for name, c := range map[string]struct {
		change func(*report.Registration)
		keeps  bool
	}{
		"another channel":      {func(g *report.Registration) { g.Channel = "beta" }, true},
		"another type":         {func(g *report.Registration) { g.EdgeType = "gateway-y" }, false},
		"another organization": {func(g *report.Registration) { g.OrganizationID = "rival" }, false},
		"retired":              {func(g *report.Registration) { g.Retired, g.OrganizationID = true, "" }, false},
	} {
		g := here
		c.change(&g)
		next := was.Registered(g)
		expect.Equal(t, next.Said != nil && next.Before != nil, c.keeps, "%s: keeps what it said:", name)
		expect.Equal(t, next.Attributes, here.Attributes, "%s: the registration's:", name)
	}
}

// TestFitting_KeepsWhatIsValidAndFits: what programs of others send is never refused, and never too much.
func TestFitting_KeepsWhatIsValidAndFits(t *testing.T) {
	expect.Equal(t, report.Fitting(said{"a": " x ", "b c": "y", "d": "", "e": "\n", "f": strings.Repeat("x", 65)}, said{"a": "old", "g": "z"}),
		said{"a": "x", "g": "z"}, "it keeps")
	some := rapid.Custom(func(t *rapid.T) said {
		all := said{}
		for i := range rapid.IntRange(0, 20).Draw(t, "number") {
			all[fmt.Sprintf("%s%d", rapid.StringMatching(`[a-zA-Z ]{0,30}`).Draw(t, "name"), i)] = rapid.StringN(0, 70, -1).Draw(t, "value")
		}
		return all
	})
	rapid.Check(t, func(t *rapid.T) {
		first, then := some.Draw(t, "first"), some.Draw(t, "then")
		kept := report.Fitting(first, then)
		size := 0
		for name, value := range kept {
			size += len(name) + len(value)
			expect.That(t, report.AttributeName.Accepts(name) && report.AttributeValue.Accepts(value),
				"keeps %q: %q", name, value)
		}
		expect.That(t, len(kept) <= report.MostAttributes && size <= 1024,
			"keeps %d attributes of %d bytes", len(kept), size)
		again := report.Fitting(kept, nil)
		expect.That(t, len(again) == len(kept), "keeps %v of %v", again, kept)
	})
}

// TestRegistered_InAnotherOrganization_BeginsAnEmptyRow, whatever fields a row has: what the box said, did and was told is the former
// organization's. The id's tokens and its first registration are the box's.
func TestRegistered_InAnotherOrganization_BeginsAnEmptyRow(t *testing.T) {
	was := expect.Filled[report.Row](1)
	was.Retired = false
	g := report.Registration{EdgeID: was.EdgeID, EdgeType: was.EdgeType, Channel: was.Channel, OrganizationID: "another", At: time.Now()}
	want := report.Row{}.Registered(g)
	want.Revision, want.RegisteredAt, want.Banned = was.Revision+1, was.RegisteredAt, was.Banned
	want.Ended = append(slices.Clone(was.Ended), was.Tokens.Current, was.Tokens.Previous)
	expect.Equal(t, was.Registered(g), want, "the row:")
}
