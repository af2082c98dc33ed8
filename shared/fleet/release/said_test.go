package release

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func wishOf(t *testing.T, body string) (w SaidWish, faults []string) {
	t.Helper()
	w, found := input.Parse([]byte(body), SaidWishOf)
	for _, f := range found {
		faults = append(faults, f.Pointer+" "+f.Code)
	}
	return w, faults
}

func TestSaidWish_AllFaultsAreFound(t *testing.T) {
	for body, want := range map[string]string{
		`{"supportedUntil":"2031-03-02T00:00:00Z"}`:              "",
		`{"supportedUntil":null}`:                                "",
		`{"advisories":[{"id":"CVE-2026-1","severity":"high"}]}`: "",
		`{"advisories":[{"id":"CVE-2026-1","severity":"none","notAffected":true,"reason":"not built in"}]}`: "",
		`{}`: " required",
		`{"supportedUntil":"2031-03-02","advisories":[{"id":"-","severity":"bad"}]}`:                     "/supportedUntil format, /advisories/0/id format, /advisories/0/severity format",
		`{"advisories":[{"id":"a","severity":"low","notAffected":true}]}`:                                "/advisories/0/reason required",
		`{"advisories":[{"id":"a","severity":"low","notAffected":true,"fixedIn":"1.0.1","reason":"r"}]}`: "/advisories/0/fixedIn exclusive",
		`{"documents":[{"kind":"sbom"}],"advisories":[]}`:                                                "/documents/0 required, /advisories length",
	} {
		_, faults := wishOf(t, body)
		expect.Equal(t, strings.Join(faults, ", "), want, "faults of %s", body)
	}
}

// TestSaid_WhatAWishDoesNotSay_Stays: any wishes after each other leave what the last one of each kind said, and nothing is lost
// but the oldest replaced documents.
func TestSaid_WhatAWishDoesNotSay_Stays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		var is Said
		var until string
		advisories, documents := map[string]Advisory{}, []Documents{}
		for i := range rapid.IntRange(1, 20).Draw(t, "wishes") {
			at = at.Add(time.Minute)
			var w SaidWish
			if rapid.Bool().Draw(t, "until") {
				until = rapid.SampledFrom([]string{"", "2031-03-02T00:00:00Z", "2032-03-02T00:00:00Z"}).Draw(t, "time")
				w.SupportedUntil = &until
			}
			if rapid.Bool().Draw(t, "documents") {
				w.Documents = Documents{{Kind: "sbom", URL: fmt.Sprint("https://a.example/", rapid.IntRange(0, 30).Draw(t, "sbom"))}, {Kind: "notes", URL: "https://a.example/n"}}
				documents = append(documents, w.Documents)
			}
			if rapid.Bool().Draw(t, "advisory") {
				a := Advisory{ID: fmt.Sprint("CVE-", rapid.IntRange(0, 5).Draw(t, "id")), Severity: "high", FixedIn: fmt.Sprint(i)}
				w.Advisories, advisories[a.ID] = []Advisory{a}, a
			}
			next, event, err := is.After(Named{"gateway-x", "1.0.0"}, w, at)
			expect.OK(t, err)
			again, none, err := next.After(Named{"gateway-x", "1.0.0"}, w, at.Add(time.Second))
			expect.OK(t, err)
			expect.Equal(t, none, "", "the event of the same again")
			expect.Equal(t, again.Revision, next.Revision, "the revision after the same again")
			expect.Equal(t, next.Revision-is.Revision, int64(len(event)/len("ReleaseDescribed")), "the revisions of one wish")
			is = next
		}
		expect.Equal(t, is.SupportedUntil == nil, until == "", "no end of the support")
		expect.Equal(t, len(is.Advisories), len(advisories), "the advisories")
		for _, a := range is.Advisories {
			expect.Equal(t, a, advisories[a.ID], "the advisory %s", a.ID)
		}
		var before Documents
		for _, list := range slices.Backward(documents) {
			for _, d := range list {
				if !slices.Contains(before, d) {
					before = append(before, d)
				}
			}
		}
		have := slices.Concat(is.Documents, is.Replaced)
		expect.Must(t, slices.Equal(have, before[:min(len(before), len(is.Documents)+mostReplaced)]), "documents %v, want %v", have, before)
	})
}

func TestSaid_MoreAdvisoriesThanTheLimit_AreRefused(t *testing.T) {
	var w SaidWish
	for i := range MostAdvisories {
		w.Advisories = append(w.Advisories, Advisory{ID: fmt.Sprint("CVE-", i), Severity: "low"})
	}
	n := Named{"gateway-x", "1.0.0"}
	full, _, err := Said{}.After(n, w, time.Unix(0, 0))
	expect.OK(t, err)
	_, _, err = full.After(n, SaidWish{Advisories: []Advisory{{ID: "CVE-1", Severity: "high"}}}, time.Unix(1, 0))
	expect.OK(t, err)
	_, event, err := full.After(n, SaidWish{Advisories: []Advisory{{ID: "one-more", Severity: "high"}}}, time.Unix(1, 0))
	expect.Equal(t, problem.Has(err, problem.Conflict) && event == "", true, "refused")
}
