package cache_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A source is the stored row of a channel, at a time that the test sets, with a count of its reads.
type source struct {
	row       release.ChannelRow
	wall      time.Time
	monotonic time.Duration
	reads     int
}

// container is one more container that serves polls from the source.
func (s *source) container() *cache.Channels {
	return cache.ChannelsAt(2*time.Second, func() (time.Time, time.Duration) { return s.wall, s.monotonic }, func(context.Context, string, string) (release.ChannelRow, error) {
		s.reads++
		return s.row, nil
	})
}

func (s *source) pass(d time.Duration) {
	s.wall, s.monotonic = s.wall.Add(d), s.monotonic+d
}

func (s *source) publish(version string) {
	s.row = s.row.Publish(release.Publication{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: version,
		ArtifactURL: "https://a.example/" + version, SHA256: version}, s.wall)
}

// poll returns what a container tells a box, given by its number, that has a version installed.
func (s *source) poll(t interface {
	Context() context.Context
	Fatal(...any)
}, c *cache.Channels, box int, installed string) string {
	row, err := c.Row(t.Context(), "gateway-x", "stable", installed)
	if err != nil {
		t.Fatal(err)
	}
	of := report.Row{EdgeID: fmt.Sprintf("box-%d", box), EdgeType: "gateway-x", Channel: "stable"}
	d, err := decide.Resolve(decide.Saying(of, installed, time.Time{}), row, nil)
	if err != nil || d.Version == "" {
		t.Fatal("nothing is published", err)
	}
	return d.Version
}

// TestRow_BoxThatHasTheTarget_IsSentBackByNoContainer starts and raises rollouts of new versions while the boxes poll
// containers that read the row at different times. A box polls at least 250 ms after its last poll, and installs what
// it is told. It is never sent back from its own version.
func TestRow_BoxThatHasTheTarget_IsSentBackByNoContainer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &source{wall: noon}
		s.publish("0")
		containers := make([]*cache.Channels, 4)
		for i := range containers {
			containers[i] = s.container()
		}
		type box struct {
			installed int
			polled    time.Time
		}
		boxes := make([]box, 12)
		target := 0
		for range rapid.IntRange(10, 120).Draw(t, "steps") {
			s.pass(time.Duration(rapid.IntRange(1, 300).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				target++
				s.row = s.row.Begin(release.Carried{ID: fmt.Sprint(target), TargetVersion: fmt.Sprint(target), StagedPercent: 50, Active: true, Revision: 1})
			case 1:
				target++
				s.publish(fmt.Sprint(target))
			default:
				i := rapid.IntRange(0, len(boxes)-1).Draw(t, "box")
				if s.wall.Sub(boxes[i].polled) < cache.UnknownKeep {
					continue
				}
				told := s.poll(t, containers[rapid.IntRange(0, 3).Draw(t, "container")], i, fmt.Sprint(boxes[i].installed))
				boxes[i].polled = s.wall
				var version int
				expect.Value(fmt.Sscan(told, &version))(t)
				if version < boxes[i].installed {
					t.Fatalf("box %d has %d and is told %d; the row is %+v", i, boxes[i].installed, version, s.row)
				}
				boxes[i].installed = version
			}
		}
	})
}

// TestRow_PublicationToAMillionBoxes_IsReadAFewTimes lets the boxes of one container poll once each within a minute
// after a publication, with the version that they have.
func TestRow_PublicationToAMillionBoxes_IsReadAFewTimes(t *testing.T) {
	const boxes = 1_000_000
	for name, c := range map[string]struct {
		installed string
		most      int // reads in a minute
	}{
		"the version before":             {"1.0.0", 30},
		"what was never published":       {"factory-image", 240},
		"nothing is reported":            {"", 30},
		"the target of an ended rollout": {"1.5.0", 240},
	} {
		t.Run(name, func(t *testing.T) {
			s := &source{wall: noon}
			s.publish("1.0.0")
			s.row = s.row.Begin(release.Carried{ID: "r", TargetVersion: "1.5.0", StagedPercent: 100, Active: true, Revision: 1})
			container := s.container()
			s.publish("2.0.0")
			for range boxes {
				row, err := container.Row(t.Context(), "gateway-x", "stable", c.installed)
				if err != nil || row.CurrentVersion != "2.0.0" {
					t.Fatal(row, err)
				}
				s.pass(time.Minute / boxes)
			}
			t.Logf("%d polls in a minute made %d reads of the row", boxes, s.reads)
			expect.That(t, s.reads <= c.most, "%d reads, want %d at most", s.reads, c.most)
		})
	}
}

// TestRow_StartThatAContainerDoesNotKnowOf_KeepsTheBox: the container read the row before a start, and the box has the
// target from another container.
func TestRow_StartThatAContainerDoesNotKnowOf_KeepsTheBox(t *testing.T) {
	s := &source{wall: noon}
	s.publish("1.0.0")
	late := s.container()
	in := 0
	for !cohort.Of("gateway-x", "2.0.0", fmt.Sprintf("box-%d", in)).In(10) {
		in++
	}
	s.poll(t, late, in, "1.0.0")
	s.row = s.row.Begin(release.Carried{ID: "r", TargetVersion: "2.0.0", StagedPercent: 10, Active: true, Revision: 1})
	if got := s.poll(t, s.container(), in, "1.0.0"); got != "2.0.0" {
		t.Fatalf("the other container says %s", got)
	}
	s.pass(cache.UnknownKeep)
	expect.Equal(t, s.poll(t, late, in, "2.0.0"), "2.0.0", "the box is sent back to")
}
