package polling_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A world is one channel with its boxes, on a store.
type world struct {
	channel      string // unique, while the edge type, which cohorts depend on, is always the same
	releases     *release.Store
	publications *publication.Store
	rollouts     *rollout.Store
	boxes        []edge.Edge
}

// newWorld makes a channel with version 1 on it; all versions were published elsewhere before.
func newWorld(db *dynamo.DB) *world {
	w := &world{channel: "c-" + uuid.NewString(), releases: release.NewStore(db), publications: publication.NewStore(db), rollouts: rollout.NewStore(db)}
	for i := range 40 {
		w.boxes = append(w.boxes, edge.Edge{EdgeID: fmt.Sprintf("box-%d", i), EdgeType: "gateway-x", Channel: w.channel})
	}
	return w
}

// A tester has the common methods of *testing.T and *rapid.T.
type tester interface {
	Context() context.Context
	Fatal(...any)
}

func (w *world) publish(t tester, channel, version string) {
	_, err := w.publications.Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{
		EdgeType: "gateway-x", Channel: channel, CurrentVersion: version,
		ArtifactURL: "https://a.example/" + version, SHA256: strings.Repeat("0", 64),
	}, input.Preconditions{})
	if err != nil {
		t.Fatal(err)
	}
}

// move makes a move of a rollout and reports whether it was accepted.
func (w *world) move(t *rapid.T, id string, m rollout.Move) bool {
	_, err := w.rollouts.Move(admission.Unlimited(t.Context()), audit.Origin{}, id, m, input.Preconditions{})
	if err != nil && !problem.Has(err, problem.InvalidStateTransition) {
		t.Fatal(err)
	}
	return err == nil
}

func (w *world) row(t *rapid.T) release.ChannelRow {
	row := expect.Value(w.releases.Row(t.Context(), "gateway-x", w.channel))(t)
	return row
}

// told returns what a box is told, with its manifest's entity tag and bytes.
func told(t *rapid.T, e edge.Edge, installed string, row release.ChannelRow) (version, etag, body string) {
	r := expect.Value(decide.Resolve(decide.Saying(report.Row{}.Registered(e.Registration()), installed, time.Time{}), row, nil))(t)
	expect.Must(t, r.Version != "", "nothing is published")
	m := polling.Manifest{EdgeID: e.EdgeID, Version: r.Version, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256, Source: r.Source(), RolloutID: r.RolloutID}
	b, tag, err := m.Encode("box")
	expect.OK(t, err)
	return r.Version, tag, string(b)
}

var fleetVersions = []string{"1", "2", "3", "4"}

// TestFleet_AnyHistory_NobodyIsSentBackButByAPublicationWhichReachesAll runs random histories of publications, starts,
// raises, halts, resumptions and completions on the stores, and checks after each step what every box would be told,
// with any of the versions installed or none reported.
func TestFleet_AnyHistory_NobodyIsSentBackButByAPublicationWhichReachesAll(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		for _, v := range fleetVersions {
			newWorld(db).publish(t, "canary", v)
		}
		dynamotest.Check(t, func(t *rapid.T) {
			w := newWorld(db)
			w.publish(t, w.channel, "1")
			var started []string
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				before := w.row(t)
				step := rapid.SampledFrom([]string{"publish", "start", "raise", "raise", "halt", "resume", "complete"}).Draw(t, "step")
				version := rapid.SampledFrom(fleetVersions).Draw(t, "version")
				switch step {
				case "publish":
					w.publish(t, w.channel, version)
				case "start":
					id, err := w.rollouts.Start(admission.Unlimited(t.Context()), audit.Origin{}, rollout.Plan{EdgeType: "gateway-x", Channel: w.channel, TargetVersion: version}, idempotency.Claim{})
					if err == nil {
						started = append(started, id)
					} else if !problem.Has(err, problem.RolloutActive) {
						t.Fatal(err)
					}
				default:
					if len(started) == 0 {
						continue
					}
					// Mostly the last rollout, sometimes one that ended long ago.
					id := started[len(started)-1]
					if rapid.IntRange(0, 3).Draw(t, "older") == 0 {
						id = rapid.SampledFrom(started).Draw(t, "rollout")
					}
					move := map[string]rollout.Move{"raise": {}, "halt": {Status: rollout.Halted}, "resume": {Status: rollout.Active}, "complete": {Status: rollout.Completed}}[step]
					if step == "raise" {
						move.StagedPercent = new(rapid.SampledFrom(cohort.Stages).Draw(t, "percent"))
					}
					w.move(t, id, move)
				}
				w.check(t, step, before, w.row(t))
			}
		})
	})
}

// check compares what every box is told before and after a step with the promises.
func (w *world) check(t *rapid.T, step string, before, after release.ChannelRow) {
	for _, e := range w.boxes {
		for _, installed := range append(slices.Clone(fleetVersions), "") {
			was, wasTag, wasBody := told(t, e, installed, before)
			is, isTag, isBody := told(t, e, installed, after)
			about := fmt.Sprintf("%s, %s with %q installed: told %s, then %s\nbefore %+v %+v\nafter  %+v %+v",
				step, e.EdgeID, installed, was, is, before, before.Rollout, after, after.Rollout)
			expect.Must(t, (wasTag == isTag) == (wasBody == isBody), "%s: the entity tag and the bytes disagree", about)
			if step == "publish" && (is != after.CurrentVersion || after.Rollout != nil || len(after.Earlier) > 0) {
				t.Fatalf("%s: a publication reaches every box, and nothing is remembered", about)
			}
			if was == is {
				continue
			}
			active := after.Rollout != nil && after.Rollout.Active
			switch step {
			case "start", "raise", "resume":
				expect.Must(t, active && is == after.Rollout.TargetVersion,
					"%s: a start, a raise and a resumption lead nowhere but to the target", about)
			case "halt", "complete":
				// A box that is no longer told the target does not have it, or did not say so. It stays on what it has from an
				// earlier rollout, or follows the channel.
				if before.Rollout.StagedPercent == 100 && after.CurrentVersion == before.Rollout.TargetVersion {
					t.Fatalf("%s: everyone had the target, and completing changes nothing of it", about)
				}
				if was == installed || (is != after.CurrentVersion && is != installed) || !before.Rollout.Active || was != before.Rollout.TargetVersion {
					t.Fatalf("%s: the end of a rollout sends nobody back and offers nobody anything new", about)
				}
			}
		}
	}
}
