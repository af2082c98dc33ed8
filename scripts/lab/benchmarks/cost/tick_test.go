package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"wavegate/scripts/local/storefront"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

var boxes = flag.Int("boxes", expect.Long(500, 1000), "the number of boxes of the channel")

// countedFleet is a channel with a guarded rollout, on the test's clock. Half of its boxes run the release.
type countedFleet struct {
	now      time.Time
	progress *census.Store
	rollout  string
}

const fleetIssuer = "https://fleet.example"

// client is a client of the store, directly or through the meter.
func client(endpoint, key string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint), Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: "x"}, nil
		}),
		HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	})
}

func newCountedFleet(t *testing.T, endpoint, metered string, boxes int) *countedFleet {
	t.Helper()
	for _, table := range dynamo.Tables {
		t.Setenv(table.ID.EnvName(), dynamolocal.TableName(table.ID))
	}
	ctx := admission.Unlimited(t.Context())
	f := &countedFleet{now: time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return f.now }
	direct := client(endpoint, storefront.AdminKey)
	db := dynamo.Open(direct, clock)
	settings := polling.Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute, Shards: 32}
	registry, polls := edge.NewRegistry(db, 32).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}), polling.NewPolls(db, settings, nil, clock)
	limiter := ratelimit.New(ratelimit.Config{Store: direct, Limits: ratelimit.Limits{User: 600}, Clock: clock, Deadline: 10 * time.Second})
	counted := client(metered, storefront.AccessKey("tick"))
	f.progress = census.NewStore(dynamo.Open(counted, clock),
		census.Settings{Shards: 32, PollInterval: time.Minute, GuardInterval: time.Minute}, ratelimit.LastSeen(counted))
	must := func(err error) {
		t.Helper()
		expect.OK(t, err)
	}
	for channel, version := range map[string]string{"stable": "1.0.0", "canary": "2.0.0"} {
		_, err := publication.NewStore(db).Publish(ctx, audit.Origin{}, release.Publication{EdgeType: "gateway-x", Channel: channel,
			CurrentVersion: version, ArtifactURL: "https://a.example/" + version, SHA256: version}, input.Preconditions{})
		must(err)
	}
	id := func(i int) string { return fmt.Sprintf("plant-%04d-box-%07d", i%400, i) } // 22 characters
	all := func(do func(i int) error) {
		var group errgroup.Group
		group.SetLimit(8)
		for i := range boxes {
			group.Go(func() error { return do(i) })
		}
		must(group.Wait())
	}
	poll := func(id, installed string) (string, error) {
		user := fleetIssuer + " " + id
		limiter.Admit(ctx, ratelimit.Caller{User: user, Box: true}, ratelimit.Ordinary)
		for try := 1; ; try++ {
			reply, err := polls.Answer(ctx, polling.Poll{EdgeID: id, Installed: installed, Caller: user, Subject: ratelimit.Subject(user)})
			if err == nil && reply.Unrecorded == nil {
				return reply.Manifest.Version, nil
			}
			if err != nil || try == 20 { // a busy machine may take longer than a poll waits
				return "", fmt.Errorf("%s: %w", id, errors.Join(err, reply.Unrecorded))
			}
		}
	}
	factory := "plant-of-the-north"
	runs := make([]string, boxes)
	pollTwice := func(i int) error { // it is told, and then reports that it runs it
		told, err := poll(id(i), runs[i])
		if err == nil && told != runs[i] {
			runs[i] = told
			_, err = poll(id(i), told)
		}
		return err
	}
	all(func(i int) error {
		_, err := registry.Put(ctx, audit.Origin{}, id(i),
			edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", FactoryID: &factory},
			input.Preconditions{})
		if err == nil {
			err = pollTwice(i)
		}
		return err
	})
	rollouts, policy := rollout.NewStore(db), guard.Default()
	var err error
	f.rollout, err = rollouts.Start(ctx, audit.Origin{},
		rollout.Plan{EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2.0.0", Policy: &policy}, idempotency.Claim{})
	must(err)
	for _, stage := range []int{10, 50} {
		f.now = f.now.Add(time.Hour)
		_, err := rollouts.Move(ctx, audit.Origin{}, f.rollout, rollout.Move{StagedPercent: &stage}, input.Preconditions{})
		must(err)
	}
	all(pollTwice)
	f.now = f.now.Add(25 * time.Hour) // the stage has soaked
	all(pollTwice)
	return f
}

// TestTick_ACountOfRollouts_TakesTheUnitsThatThePriceHas counts the units of an hour of ticks in the middle of a rollout,
// once its stage has soaked. fleet.go computes from these the cost of a fleet's counts. With 100,000 boxes, this
// takes some minutes:
//
//	FULL=1 go test -v ./scripts/lab/benchmarks/cost -run TestTick -boxes 100000
func TestTick_ACountOfRollouts_TakesTheUnitsThatThePriceHas(t *testing.T) {
	expect.Full(t)
	s := expect.Value(dynamolocal.Embedded())(t)
	t.Cleanup(func() { s.Close() })
	expect.OK(t, dynamolocal.CreateTables(t.Context(), s.Client()))
	m := startMeter(t, s.Endpoint)
	f := newCountedFleet(t, s.Endpoint, m.url, *boxes)

	tick := func() usage {
		f.now = f.now.Add(time.Minute)
		u := m.measure(0, func() {
			tally, err := f.progress.Tick(admission.Unlimited(t.Context()), audit.Origin{})
			if err != nil || tally.Counted != 1 || tally.Unreadable.Items > 0 {
				t.Fatalf("the tick counted %+v, %v", tally, err)
			}
		})
		return u
	}
	const minutes = 60 // as long as an item of the history grows; the guard checks for silence twice
	tick()             // it makes up for a day without one, with a survey
	var reads, writes, least, most float64
	for range minutes {
		u := tick()
		reads, writes = reads+u.Read/minutes, writes+u.Write/minutes
		if least == 0 || u.Read < least {
			least = u.Read
		}
		most = max(most, u.Read)
	}
	priced := countReads(float64(*boxes))
	t.Logf("%d boxes: %.0f read units a minute, %.0f at most, and %.1f write units; the price has %.0f and %.0f", *boxes, reads, most, writes, priced, countWrites)
	if reads > priced || reads < priced/4 || writes > countWrites {
		t.Errorf("a tick takes %.0f read units and %.0f write units, and the price has %.0f and %.0f", reads, writes, priced, countWrites)
	}
	if day := 200 * 24 * 60 * (reads*readUnits + writes*writeUnits) / 1e6; *boxes <= 2000 && day > 15 {
		t.Errorf("200 such rollouts cost %.1f dollars a day", day)
	}
	if least >= most {
		t.Errorf("a look at silence takes %.0f read units, and a tick without one %.0f", most, least)
	}
}
