package boxauth_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

const (
	fleetA = "https://a.example"
	fleetB = "https://b.example"
)

func TestSpeak_OnlyTheBoxsOwnIssuer(t *testing.T) {
	for name, c := range map[string]struct {
		issuers boxauth.Issuers
		named   string // by the box
		caller  string
		want    bool
	}{
		"the only one, for a box that names none":     {fleetA, "", fleetA, true},
		"the only one, for a box that names it":       {fleetA, fleetA, fleetA, true},
		"the first of two, for a box that names none": {fleetA + " " + fleetB, "", fleetA, true},
		"the second, for a box that names none":       {fleetA + " " + fleetB, "", fleetB, false},
		"the second, for its own box":                 {fleetA + " " + fleetB, fleetB, fleetB, true},
		"the first, for a box of the second":          {fleetA + " " + fleetB, fleetB, fleetA, false},
		"a beginning of the name":                     {fleetA, "", "https://a", false},
		"nobody is set":                               {"", "", "", false},
	} {
		expect.Equal(t, c.issuers.Speak(c.named, c.caller), c.want, "%s:", name)
	}
}

// TestPoll_TokenOfAnotherFleetsIssuer_FindsNoBox, no matter what the box was told before.
func TestPoll_TokenOfAnotherFleetsIssuer_FindsNoBox(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, edgeType := dynamo.Open(client, time.Now), "gateway-"+uuid.NewString()[:8]
		ctx := admission.Unlimited(t.Context())
		what := release.Publication{EdgeType: edgeType, Channel: "stable", CurrentVersion: "1.0.0", ArtifactURL: "https://x.example/1", SHA256: "a"}
		expect.Value(publication.NewStore(db).Publish(ctx, audit.Origin{}, what, input.Preconditions{}))(t)
		polls := polling.NewPolls(db, polling.Settings{PollInterval: time.Minute, Shards: 1, Issuers: fleetA + " " + fleetB}, nil, time.Now)
		reports := polling.NewReports(db, 1, fleetA+" "+fleetB)
		boxes := edge.NewRegistry(db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})
		id := uuid.NewString()
		put := func(issuer *string) {
			t.Helper()
			a := edge.Assignment{EdgeType: edgeType, Channel: "stable", OrganizationID: "acme", Issuer: issuer}
			expect.Value(boxes.Put(ctx, audit.Origin{}, id, a, input.Preconditions{}))(t)
		}
		speaks := func(issuer string, want bool) {
			t.Helper()
			reply, err := polls.Answer(ctx, polling.Poll{EdgeID: id, Speaker: auth.Principal{Issuer: issuer, UserID: id}})
			if (err == nil) != want || err != nil && !problem.Has(err, problem.NotFound) || reply.Manifest.EdgeID != "" && !want {
				t.Errorf("a poll with a token of %q: %+v, %v", issuer, reply, err)
			}
			_, err = reports.Take(ctx, auth.Principal{Issuer: issuer, UserID: id}, id, report.Outcome{Version: "1.0.0", Attempt: 1, State: report.Working})
			if !want && !problem.Has(err, problem.NotFound) || want && !problem.Has(err, problem.ReportStale) {
				t.Errorf("a report with a token of %q: %v", issuer, err)
			}
		}
		put(nil)
		speaks(fleetA, true)
		speaks(fleetB, false)
		put(new(fleetB))
		speaks(fleetA, false)
		speaks(fleetB, true)
		put(nil) // without a value it stays the same
		speaks(fleetB, true)
		put(new(""))
		speaks(fleetA, true)
		speaks(fleetB, false)
		_, err := polls.Answer(ctx, polling.Poll{EdgeID: id})
		expect.That(t, err == nil, "a platform owner's look: %v", err)
	})
}
