package publication_test

import (
	"strings"
	"testing"

	"wavegate/shared/access/auth"
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

// TestPublish_ByNameAlone_BringsBackWhatTheVersionWas: on another channel, with all that describes its bytes.
func TestPublish_ByNameAlone_BringsBackWhatTheVersionWas(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		ctx := admission.Unlimited(t.Context())
		known := release.Publication{EdgeType: f.edgeType, Channel: "canary", CurrentVersion: "1.1.0", ArtifactURL: "https://a.example/1.1.0",
			SHA256: strings.Repeat("a", 64), Details: release.Details{SizeBytes: 10, SHA1: strings.Repeat("1", 40)}, Delivery: release.Delivery{Part: "bApp"}}
		owner := f.publications.For(auth.Principal{UserID: "olga", Roles: []auth.Role{auth.PlatformOwner}})
		expect.Value(owner.Publish(ctx, from("describe"), known, input.Preconditions{}))(t)
		named := release.Publication{EdgeType: f.edgeType, Channel: "stable", CurrentVersion: "1.1.0", KeptAt: "https://kept.example"}
		expect.Value(owner.Publish(ctx, from("again"), named, input.Preconditions{}))(t)
		row := f.row(t)
		expect.Equal(t, []any{row.CurrentVersion, row.ArtifactURL, row.SHA256, row.Details, row.Delivery},
			[]any{"1.1.0", known.ArtifactURL, known.SHA256, known.Details, known.Delivery}, "stable has")

		named.CurrentVersion = "7.7.7"
		_, err := owner.Publish(ctx, from("unknown"), named, input.Preconditions{})
		expect.That(t, problem.Has(err, problem.ReleaseNotPublished), "a version that was never published: %v", err)

		elsewhere := auth.Principal{UserID: "ci", Roles: []auth.Role{auth.Program}}
		named.CurrentVersion = "1.1.0"
		_, err = f.publications.For(elsewhere).Publish(ctx, from("program"), named, input.Preconditions{})
		expect.That(t, problem.Has(err, problem.Forbidden), "a program of no channel: %v", err)
	})
}
