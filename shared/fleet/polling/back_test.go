package polling_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
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
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A lineage is two channels of an edge type, with boxes that are pinned, moved and told versions.
type lineage struct {
	*rapid.T
	db       *dynamo.DB
	now      time.Time
	edgeType string
	registry *edge.Registry
	boxes    []*homed
	started  []string
	requires map[string]string // stones
}

// A homed is a box: what it runs, where it is, and whether somebody's word allows that it is sent back.
type homed struct {
	id, channel, runs, organization string
	excused                         bool
}

// versions are in the order of their releases. 2 is a fix of the line of 1 and published last.
var (
	versions = []string{"1", "2", "3", "4"}
	orders   = map[string]int64{"1": 10, "2": 11, "3": 20, "4": 30}
)

// TestBoxes_PinsMovesEndsFixesAndStones_NobodyIsSentBackWithoutAWord: random histories of two channels. A box is told a
// lower order only after a publication on its channel, the start, resumption or adoption of a rollout to a lower order, the return of
// the one that brought what it runs, or allowDowngrade; and no version before it has passed what that requires.
func TestBoxes_PinsMovesEndsFixesAndStones_NobodyIsSentBackWithoutAWord(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		dynamotest.Check(t, func(t *rapid.T) {
			l := &lineage{T: t, now: time.Now().Truncate(time.Millisecond), edgeType: "t-" + uuid.NewString()}
			l.db = dynamo.Open(client, func() time.Time { return l.now })
			l.registry = edge.NewRegistry(l.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})
			l.requires = map[string]string{"3": rapid.SampledFrom([]string{"", "1"}).Draw(t, "before 3"), "4": rapid.SampledFrom([]string{"", "3", "3"}).Draw(t, "before 4"),
				"2": rapid.SampledFrom([]string{"", "1"}).Draw(t, "before 2")}
			for _, v := range []string{"1", "3", "4", "2"} {
				l.publish("lab", v)
			}
			l.publish("canary", "1")
			l.publish("stable", "1")
			for i := range 6 {
				b := &homed{id: fmt.Sprintf("%s-%d", l.edgeType, i), channel: "stable", runs: "0", organization: []string{"acme", "rival"}[i%2]}
				l.boxes = append(l.boxes, b)
				l.put(b, edge.Assignment{})
			}
			for range rapid.IntRange(1, 20).Draw(t, "steps") {
				l.step()
				l.now = l.now.Add(time.Duration(rapid.Int64Range(1, 3*3600*1000).Draw(t, "time")) * time.Millisecond)
				for _, b := range l.boxes {
					if rapid.IntRange(0, 2).Draw(t, "polls") > 0 {
						l.poll(b)
					}
				}
			}
		})
	})
}

func (l *lineage) step() {
	b := rapid.SampledFrom(l.boxes).Draw(l.T, "box")
	channel := rapid.SampledFrom([]string{"canary", "stable"}).Draw(l.T, "channel")
	version := rapid.SampledFrom(append(versions, "4", "4", "4")).Draw(l.T, "version")
	back := rapid.IntRange(0, 3).Draw(l.T, "allowed") == 0
	switch step := rapid.SampledFrom([]string{"publish", "start", "start", "raise", "raise", "fail", "fail", "halt", "resume", "leave out", "complete", "return", "pin", "pin", "unpin", "move", "move", "allow"}).Draw(l.T, "step"); step {
	case "publish":
		l.publish(channel, version)
	case "start":
		id, err := rollout.NewStore(l.db).Start(admission.Unlimited(l.Context()), audit.Origin{}, rollout.Plan{EdgeType: l.edgeType, Channel: channel, TargetVersion: version}, idempotency.Claim{})
		if err == nil {
			l.started = append(l.started, id)
			l.excuse(rollout.Rollout{Channel: channel, TargetVersion: version})
		}
	case "raise", "halt", "resume", "leave out", "complete", "return":
		l.moveRollout(step)
	case "fail": // while boxes are on their way
		l.moveRollout("raise")
		for _, b := range l.boxes {
			l.poll(b)
		}
		l.moveRollout("halt")
	case "pin":
		until := l.now.Add(time.Duration(rapid.Int64Range(100, 9*3600*1000).Draw(l.T, "until")) * time.Millisecond)
		if l.put(b, edge.Assignment{Pin: &edge.PinRequest{Version: version, Reason: "a test", Until: &until, AllowDowngrade: back}}) {
			b.excused = back
		}
	case "unpin":
		row, err := report.NewStore(l.db, 1).Get(l.Context(), b.id)
		if err != nil {
			l.Fatal(err)
		}
		if l.put(b, edge.Assignment{Pin: &edge.PinRequest{Remove: true}}) && row.Pin != nil {
			b.excused = false
		}
	case "move":
		if b.channel != channel {
			b.channel = channel
			l.put(b, edge.Assignment{AllowDowngrade: back})
			b.excused = back
		}
	case "allow":
		l.put(b, edge.Assignment{AllowDowngrade: true})
		b.excused = true
	}
}

func (l *lineage) moveRollout(step string) {
	if len(l.started) == 0 {
		return
	}
	id := rapid.SampledFrom(l.started[max(0, len(l.started)-2):]).Draw(l.T, "rollout")
	move := map[string]rollout.Move{"halt": {Status: rollout.Halted}, "resume": {Status: rollout.Active},
		"leave out": {Status: rollout.Active, Without: []string{"acme"}}, "complete": {Status: rollout.Completed},
		"return": {Status: rollout.Halted, Return: true}}[step]
	moves := []rollout.Move{move}
	if step == "raise" {
		moves = nil
		for _, percent := range cohort.Stages[:rapid.IntRange(2, len(cohort.Stages)).Draw(l.T, "stages")] {
			moves = append(moves, rollout.Move{StagedPercent: &percent})
		}
	}
	for _, move := range moves { // those that the rollout cannot make are refused
		r, err := rollout.NewStore(l.db).Move(admission.Unlimited(l.Context()), audit.Origin{}, id, move, input.Preconditions{})
		if err == nil && (r.Status == rollout.Active && move.Status == rollout.Active || step == "complete" && r.Adopted) {
			l.excuse(r)
		}
		for _, b := range l.boxes {
			brought := b.runs == r.TargetVersion || b.runs == l.requires[r.TargetVersion]
			b.excused = b.excused || err == nil && step == "return" && b.channel == r.Channel && brought
		}
	}
}

// excuse notes that a rollout brings a lower order, as somebody asked for, but not to those that it leaves out.
func (l *lineage) excuse(r rollout.Rollout) {
	for _, b := range l.boxes {
		b.excused = b.excused || b.channel == r.Channel && orders[r.TargetVersion] < orders[b.runs] && !slices.Contains(r.Without, b.organization)
	}
}

func (l *lineage) publish(channel, version string) {
	_, err := publication.NewStore(l.db).Publish(admission.Unlimited(l.Context()), audit.Origin{}, release.Publication{EdgeType: l.edgeType, Channel: channel,
		CurrentVersion: version, ArtifactURL: "https://a.example/" + version, SHA256: strings.Repeat("a", 64), Lineage: release.Lineage{Order: orders[version], Requires: l.requires[version]}}, input.Preconditions{})
	if err != nil {
		l.Fatal(err)
	}
	for _, b := range l.boxes {
		if b.channel == channel {
			b.excused = true
		}
	}
}

// put changes a box, and reports whether that was accepted.
func (l *lineage) put(b *homed, a edge.Assignment) bool {
	a.EdgeType, a.Channel, a.OrganizationID = l.edgeType, b.channel, b.organization
	_, err := l.registry.Put(admission.Unlimited(l.Context()), audit.Origin{}, b.id, a, input.Preconditions{})
	if err != nil && !problem.Has(err, problem.DowngradeRefused) {
		l.Fatal(err)
	}
	return err == nil
}

// poll lets a box poll with an empty cache, and install what it is told.
func (l *lineage) poll(b *homed) {
	row, err := report.NewStore(l.db, 1).Get(l.Context(), b.id)
	if err != nil {
		l.Fatal(err)
	}
	if row.Pin != nil && !row.Pin.Holds(l.now) && (row.Hold == nil || row.Pin.Until.After(row.Hold.Since)) && !published(l, b.channel, row.Pin.Until) {
		b.excused = false // the pin has ended: what was said before does not count
	}
	polls := polling.NewPolls(l.db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Second, Shards: 1}, nil, func() time.Time { return l.now })
	reply, err := polls.Answer(admission.Unlimited(l.Context()), polling.Poll{EdgeID: b.id, Installed: b.runs, Caller: "the box", Subject: b.id})
	if err != nil {
		l.Fatal(err)
	}
	m := reply.Manifest
	channel, err := release.NewStore(l.db).Row(l.Context(), l.edgeType, b.channel)
	if err != nil {
		l.Fatal(err)
	}
	asked := m.Source == decide.FromRollout && orders[cmp.Or(m.Towards, m.Version)] < orders[channel.CurrentVersion]
	if orders[m.Version] < orders[b.runs] && !b.excused && !asked {
		l.Fatalf("%s on %s runs %s, and is told %s by %s; its pin is %+v, its hold %+v", b.id, b.channel, b.runs, m.Version, m.Source, row.Pin, row.Hold)
	}
	if stone := l.requires[m.Version]; m.Version != b.runs && orders[b.runs] < orders[stone] {
		l.Fatalf("%s runs %s, and is told %s, which requires %s", b.id, b.runs, m.Version, stone)
	}
	if pinned := row.Pin.Holds(l.now); pinned != (m.Source == decide.FromPin) {
		l.Fatalf("%s is pinned: %t, and told %s by %s", b.id, pinned, m.Version, m.Source)
	}
	if m.Version != b.runs && rapid.Bool().Draw(l.T, "installs") {
		b.runs, b.excused = m.Version, false
	}
}

// published reports whether a version was published on a channel since a time.
func published(l *lineage, channel string, since time.Time) bool {
	row, err := release.NewStore(l.db).Row(l.Context(), l.edgeType, channel)
	if err != nil {
		l.Fatal(err)
	}
	return !row.PublishedAt.Before(since)
}
