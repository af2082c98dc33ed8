package factory_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var (
	origin = audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "olga"}, SourceIP: "192.0.2.7", RequestID: "r"}
	member = auth.Principal{Issuer: "https://people.example", UserID: "max", OrganizationID: "acme"}
)

func TestPut_NewThenSameThenRenamed_GivesThreeResults(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s := factory.NewStore(dynamo.Open(client, func() time.Time { return now }))
		slug := uuid.NewString()
		put := func(organization, name string) (bool, error) {
			return s.Put(admission.Unlimited(t.Context()), origin, slug, factory.Registration{OrganizationID: organization, Name: name}, input.Preconditions{})
		}
		is := func(name string, revision int64, updated time.Time) {
			t.Helper()
			f, err := s.Readable(t.Context(), member, slug)
			want := factory.Factory{FactoryID: slug, OrganizationID: "acme", Name: name,
				CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), UpdatedAt: updated, Revision: revision}
			expect.Must(t, err == nil && f == want, "got %+v, %v\nwant %+v", f, err, want)
		}
		if created, err := put("acme", "One"); err != nil || !created {
			t.Fatalf("new: %v, %v", created, err)
		}
		is("One", 1, now)
		first := now
		// The clock of the next container is behind, but the change must come after the previous
		// one.
		now = now.Add(-time.Second)
		if created, err := put("acme", "One"); err != nil || created {
			t.Fatalf("the same: %v, %v", created, err)
		}
		is("One", 1, first)
		if created, err := put("acme", "Two"); err != nil || created {
			t.Fatalf("renamed: %v, %v", created, err)
		}
		is("Two", 2, first.Add(time.Millisecond))
		_, err := put("rival", "Two")
		expect.Must(t, problem.Has(err, problem.Conflict), "another organization: %v", err)
		is("Two", 2, first.Add(time.Millisecond))
	})
}

func TestReadableAndOwned(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		s := factory.NewStore(dynamo.Open(client, time.Now))
		slug := uuid.NewString()
		if _, err := s.Put(admission.Unlimited(t.Context()), origin, slug, factory.Registration{OrganizationID: "acme", Name: "One"}, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
		cases := []struct {
			name        string
			caller      auth.Principal
			reads, owns bool
		}{
			{"member", member, true, true},
			{"another organization", auth.Principal{OrganizationID: "rival"}, false, false},
			{"no organization", auth.Principal{}, false, false},
			{"platform owner", auth.Principal{OrganizationID: "wavegate", Roles: []auth.Role{auth.PlatformOwner}}, true, false},
		}
		for _, c := range cases {
			if _, err := s.Readable(t.Context(), c.caller, slug); (err == nil) != c.reads || err != nil && !problem.Has(err, problem.NotFound) {
				t.Errorf("%s reads: %v", c.name, err)
			}
			if _, err := s.Owned(t.Context(), c.caller, slug); (err == nil) != c.owns || err != nil && !problem.Has(err, problem.NotFound) {
				t.Errorf("%s owns: %v", c.name, err)
			}
			_, err := s.Readable(t.Context(), c.caller, uuid.NewString())
			expect.That(t, problem.Has(err, problem.NotFound), "%s reads what does not exist: %v", c.name, err)
		}
	})
}
