// Command census measures on Amazon's DynamoDB Local what it takes to know what boxes run: the units of a box and
// release, and a count of all boxes of a channel. From these it says what a box costs a year, beside the list
// prices of AWS IoT.
//
//	./scripts/benchmarks/run census     BOXES=… sets the largest channel (1000000)
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/fleet/progress"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
	"wavegate/shared/platform/request"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

const (
	edgeType = "gateway-x"
	shards   = report.Shards(32)
)

func main() {
	if err := run(admission.Unlimited(context.Background())); err != nil {
		fmt.Fprintln(os.Stderr, "census:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	largest := 1_000_000
	if s := os.Getenv("BOXES"); s != "" {
		var err error
		if largest, err = strconv.Atoi(s); err != nil || largest < 1000 {
			return fmt.Errorf("the number BOXES=%s makes no sense", s)
		}
	}
	store, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := dynamolocal.CreateTables(ctx, store.Client()); err != nil {
		return err
	}
	for _, table := range dynamo.Tables {
		name, value, _ := strings.Cut(dynamolocal.Environment(table.ID)[0], "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	m := &metered{API: store.Client()}
	db := dynamo.Open(m, time.Now)
	if err := oneBox(ctx, m, db); err != nil {
		return err
	}
	rolloutID, err := rolling(ctx, db)
	if err != nil {
		return err
	}
	fmt.Print("\n## A count of the boxes of a channel\n\n" +
		"One query for each of 32 shards, 16 at a time, and the last calls of a sample of 1,000 boxes. Half of the boxes were\n" +
		"offered the rollout's version.\n\n" +
		"| boxes | requests | read units | seconds |\n|---:|---:|---:|---:|\n")
	from := 0
	for size := 1000; size <= largest; size *= 10 {
		began := time.Now()
		if err := seed(ctx, store.Client(), rolloutID, from, size); err != nil {
			return err
		}
		from = size
		fmt.Fprintf(os.Stderr, "census: %d boxes after %s\n", size, time.Since(began).Round(time.Second))
		m.reset()
		began = time.Now()
		// A store of its own answers with no count that is not old enough: none is there.
		p, err := progress.NewStore(dynamo.Open(m, later(size)), progress.Settings{Shards: shards, PollInterval: time.Minute, GuardInterval: time.Minute},
			func(context.Context, string) (time.Time, error) { return time.Now(), nil }).Rollout(ctx, rolloutID, false, true)
		if err != nil {
			return err
		}
		took := time.Since(began)
		if n := progress.Total(p.Stages); n.Expected != size || n.Offered+n.Installed != size/2 {
			return fmt.Errorf("of %d boxes, %+v were counted", size, n)
		}
		fmt.Printf("| %d | %d | %.0f | %.1f |\n", size, m.requests, m.read, took.Seconds())
	}
	perYear()
	return nil
}

// later is a clock that is minutes ahead for each size, so that no count is answered with the one before.
func later(size int) func() time.Time {
	ahead := time.Duration(len(strconv.Itoa(size))) * time.Hour
	return func() time.Time { return time.Now().Add(ahead) }
}

// oneBox counts the units of a box that is brought one version.
func oneBox(ctx context.Context, m *metered, db *dynamo.DB) error {
	reports := report.NewStore(db, shards)
	g := report.Registration{EdgeID: "box-one", EdgeType: edgeType, Channel: "other", At: time.Now().UTC().Truncate(time.Millisecond)}
	steps := []struct {
		name  string
		event report.Poll
	}{
		{"it said what it runs", report.Poll{Told: "1.0.0", Running: "1.0.0", Subject: "s", At: time.Now()}},
		{"it is offered a version", report.Poll{Told: "1.1.0", RolloutID: "r", Stage: 10, Running: "1.0.0", Subject: "s", At: time.Now()}},
		{"it says that it runs it", report.Poll{Told: "1.1.0", RolloutID: "r", Stage: 10, Running: "1.1.0", Subject: "s", At: time.Now()}},
		{"it says so again without its receipt", report.Poll{Told: "1.1.0", RolloutID: "r", Stage: 10, Running: "1.1.0", Subject: "s", At: time.Now()}},
	}
	fmt.Print("## A box and a release\n\nThe first row is once in a box's life. A poll whose answer is 304 takes none of this.\n\n" +
		"| poll | requests | read units | write units |\n|---|---:|---:|---:|\n")
	for _, s := range steps {
		m.reset()
		if _, err := reports.Observe(ctx, g, s.event); err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %.1f | %.1f |\n", s.name, m.requests, m.read, m.write)
	}
	return nil
}

// rolling starts a rollout on the channel that is counted.
func rolling(ctx context.Context, db *dynamo.DB) (string, error) {
	for channel, version := range map[string]string{"stable": "1.0.0", "canary": "1.1.0"} {
		_, err := publication.NewStore(db).Publish(ctx, audit.Origin{}, release.Publication{EdgeType: edgeType, Channel: channel,
			CurrentVersion: version, ArtifactURL: "https://artifacts.example/" + version, SHA256: version}, request.Preconditions{})
		if err != nil {
			return "", err
		}
	}
	return rollout.NewStore(db).Start(ctx, audit.Origin{}, rollout.Plan{EdgeType: edgeType, Channel: "stable", TargetVersion: "1.1.0"}, idempotency.Claim{})
}
