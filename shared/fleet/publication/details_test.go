package publication_test

import (
	"strings"
	"testing"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// describe publishes 1.1.0 with details.
func (f *fleet) describe(t *testing.T, channel string, d release.Details) error {
	t.Helper()
	_, err := f.publications.Publish(admission.Unlimited(t.Context()), from("describe"), release.Publication{EdgeType: f.edgeType, Channel: channel,
		CurrentVersion: "1.1.0", ArtifactURL: "https://a.example/1.1.0", SHA256: strings.Repeat("a", 64), Details: d}, input.Preconditions{})
	return err
}

func (f *fleet) details(t *testing.T) release.Details {
	t.Helper()
	r := expect.Value(f.releases.Release(t.Context(), f.edgeType, "1.1.0"))(t)
	return r.Details
}

// TestPublish_DetailsOfTwoAtOnce_NeitherIsLost: while one publication gives the size, another gives the digest.
func TestPublish_DetailsOfTwoAtOnce_NeitherIsLost(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		sha1 := strings.Repeat("1", 40)
		f.api.do = func() {
			err := f.describe(t, "other", release.Details{SHA1: sha1})
			expect.That(t, err == nil, "%v", err)
		}
		expect.OK(t, f.describe(t, "canary", release.Details{SizeBytes: 10}))
		got := f.details(t)
		expect.That(t, got == (release.Details{SizeBytes: 10, SHA1: sha1}), "kept %+v", got)
	})
}

// TestPublish_OtherDetails_AreRefused: even if another publication gives them at the same time.
func TestPublish_OtherDetails_AreRefused(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		f.api.do = func() {
			err := f.describe(t, "other", release.Details{SizeBytes: 10})
			expect.That(t, err == nil, "%v", err)
		}
		if err := f.describe(t, "canary", release.Details{SizeBytes: 11}); !problem.Has(err, problem.ReleaseImmutable) {
			t.Errorf("got %v", err)
		}
		got := f.details(t)
		expect.That(t, got.SizeBytes == 10, "kept %+v", got)
		expect.OK(t, f.describe(t, "stable", release.Details{}))
		row := f.row(t)
		expect.That(t, row.SizeBytes == 10, "the channel shows %+v", row.Channel)
	})
}
