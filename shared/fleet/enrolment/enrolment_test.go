package enrolment

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// drawn draws any stored state of an id that an owner, this enrolment or another one may have left.
func drawn(t *rapid.T) edge.Stored {
	e := edge.Edge{
		EdgeID:         "box",
		OrganizationID: rapid.SampledFrom([]string{"acme", "rival", "-"}).Draw(t, "organization"),
		EnrolmentID:    rapid.SampledFrom([]string{"", "this", "other", "-"}).Draw(t, "enrolment"),
		UpdatedAt:      noon.Add(time.Duration(rapid.IntRange(-2, 0).Draw(t, "updated")) * time.Hour),
		Revision:       int64(rapid.IntRange(1, 3).Draw(t, "revision")),
	}
	if rapid.Bool().Draw(t, "nothing") {
		e = edge.Edge{}
	}
	row := report.Row{}
	if e.Exists() {
		row.Tokens = boxtoken.Live{Current: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "hash")}
	}
	return edge.Stored{Edge: e, Row: row}
}

// TestRedeem_WhateverIsStored_ACodeTouchesOnlyWhatIsFree: the laws of a redemption and of an acceptance.
func TestRedeem_WhateverIsStored_ACodeTouchesOnlyWhatIsFree(t *testing.T) {
	e := Enrolment{ID: "this", Revision: 1, CreatedAt: noon.Add(-time.Hour)}
	rapid.Check(t, func(t *rapid.T) {
		is, named := drawn(t), rapid.Bool().Draw(t, "listed or waits")
		for name, outcome := range map[string]Outcome{
			"redeem": e.redeem("a", named, is, noon),
			"accept": e.accept("a", is, named, noon),
		} {
			mine, exists, holds := is.Edge.EnrolmentID == e.ID, is.Edge.Exists(), is.Row.Tokens.Accepts("a", noon)
			taken := name == "redeem" && is.Edge.OrganizationID == "-" && is.Edge.EnrolmentID != "" && !is.Edge.UpdatedAt.Before(e.CreatedAt)
			if outcome == Enrols && (exists || mine || !named || taken) {
				t.Fatalf("%s: registers %+v", name, is)
			}
			if (outcome == Again) != (mine && exists && holds) {
				t.Fatalf("%s: %v of %+v", name, outcome, is)
			}
			if outcome == Refused && !exists && !mine && !taken {
				t.Fatalf("%s: refuses a free id: %+v", name, is)
			}
			if outcome == Waits && named {
				t.Fatalf("%s: waits although it need not: %+v", name, is)
			}
		}
		// Whoever has a code learns nothing about unlisted ids, except those that the code registered.
		if outcome := e.redeem("a", false, is, noon); is.Edge.EnrolmentID != e.ID && outcome != Waits {
			t.Fatalf("an id that is not listed: %v of %+v", outcome, is)
		}
	})
}

func TestIDs_Accepted_AreListedOnceAndNeverTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := IDs{Listed: []string{"a", "b"}}
		for _, id := range rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "d"})).Draw(t, "accepted") {
			ids = ids.with(id)
			expect.Must(t, slices.Contains(slices.Concat(ids.Listed, ids.Accepted), id),
				"%s is missing in %+v", id, ids)
		}
		all := slices.Sorted(slices.Values(slices.Concat(ids.Listed, ids.Accepted)))
		expect.Must(t, len(slices.Compact(all)) == len(ids.Listed)+len(ids.Accepted), "twice: %+v", ids)
	})
}

func TestAccepted_MoreThanAThousand_IsRefused(t *testing.T) {
	ids := IDs{Accepted: make([]string, MostBoxes)}
	if next, err := (Kept{}).accepted(ids, noon); err != nil || next.Accepted != MostBoxes || next.Revision != 1 {
		t.Errorf("a thousand: %+v, %v", next, err)
	}
	ids.Accepted = append(ids.Accepted, "one more")
	_, err := (Kept{}).accepted(ids, noon)
	expect.That(t, err != nil, "more were accepted")
}
