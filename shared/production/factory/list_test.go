package factory_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/factory"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/trail/audit"
)

func TestList_FactoriesOfAnOrganization_AreShownOnlyToItsReaders(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		factories := factory.NewStore(dynamo.Open(client, time.Now))
		dynamotest.Check(t, func(t *rapid.T) {
			mark := uuid.NewString()
			organizations := []string{"acme-" + mark, "rival-" + mark}
			want := map[string][]string{}
			for range rapid.IntRange(0, 12).Draw(t, "factories") {
				id, organization := uuid.NewString(), rapid.SampledFrom(organizations).Draw(t, "organization")
				if _, err := factories.Put(admission.Unlimited(context.Background()), audit.Origin{}, id, factory.Registration{OrganizationID: organization, Name: "Munich"}, input.Preconditions{}); err != nil {
					t.Fatal(err)
				}
				want[organization] = append(want[organization], id)
			}
			slices.Sort(want[organizations[0]])
			for who, mayKnow := range map[*auth.Principal]bool{
				{UserID: "eric", OrganizationID: organizations[0]}:                                             true,
				{UserID: "rita", OrganizationID: organizations[1], Roles: []auth.Role{auth.OrganizationAdmin}}: false,
				{UserID: "olga", Roles: []auth.Role{auth.PlatformOwner}}:                                       true,
				{UserID: "nemo"}: false,
			} {
				var got []string
				w := dynamo.Span{Limit: rapid.IntRange(1, 15).Draw(t, "limit")}
				for more := true; more; w.Skip += w.Limit {
					page, err := factories.List(context.Background(), *who, organizations[0], w)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range page.Items {
						got = append(got, f.FactoryID)
					}
					more = page.More
				}
				if mayKnow && !slices.Equal(got, want[organizations[0]]) || !mayKnow && len(got) > 0 {
					t.Fatalf("%s sees %q of %q", who.UserID, got, want[organizations[0]])
				}
			}
		})
	})
}
