package cache

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/expect"
	_ "wavegate/shared/testing/raced" // few cases under the race detector
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A shelf is a cache over a store that counts its reads and answers with the number of the read as
// the channel's revision, at a time that the test sets.
type shelf struct {
	*Of[release.ChannelRow]
	keep  time.Duration
	at    instant
	reads int64
	// during is called while a read is under way.
	during func()
	err    error
}

func newShelf(keep time.Duration) *shelf {
	s := &shelf{at: instant{wall: noon}, keep: keep}
	s.Of = newAt(func() instant { return s.at }, func(_ context.Context, edgeType, channel string) (release.ChannelRow, error) {
		s.reads++
		row := release.ChannelRow{Channel: release.Channel{EdgeType: edgeType, Channel: channel, Revision: s.reads}}
		if s.during != nil {
			s.during()
		}
		return row, s.err
	})
	return s
}

func (s *shelf) pass(wall, monotonic time.Duration) {
	s.at = instant{wall: s.at.wall.Add(wall), monotonic: s.at.monotonic + monotonic}
}

// revision gets a row, and returns the number of the read that it came from.
func (s *shelf) revision(t interface {
	Context() context.Context
	Fatal(...any)
}, channel string) int64 {
	row, err := s.Get(t.Context(), "gateway-x", channel, s.keep)
	if err != nil {
		t.Fatal(err)
	}
	if row.ID() != "gateway-x/"+channel {
		t.Fatal("got the row of", row.ID())
	}
	return row.Revision
}

func TestCache_IsKeptForLessThanTwoSecondsByBothClocks(t *testing.T) {
	const almost, all = 2*time.Second - time.Nanosecond, 2 * time.Second
	cases := map[string]struct {
		wall, monotonic time.Duration
		kept            bool
	}{
		"immediately": {0, 0, true},
		"almost 2 s":  {almost, almost, true},
		"2 s":         {all, all, false},
		"frozen: the monotonic clock stood still":        {all, 0, false},
		"frozen for an hour":                             {time.Hour, time.Millisecond, false},
		"the wall clock was set back":                    {-time.Minute, time.Second, false},
		"the wall clock was set back, the row is old":    {-time.Minute, time.Minute, false},
		"the wall clock was set back to where it was":    {time.Second, time.Minute, false},
		"the wall clock was set ahead, the row is fresh": {time.Hour, time.Second, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newShelf(2 * time.Second)
			s.revision(t, "stable")
			s.pass(c.wall, c.monotonic)
			expect.Equal(t, s.revision(t, "stable") == 1, c.kept, "kept")
		})
	}
}

func TestCache_ItsAgeCountsFromTheStartOfItsRead(t *testing.T) {
	s := newShelf(2 * time.Second)
	s.during = func() { s.pass(1500*time.Millisecond, 1500*time.Millisecond) }
	s.revision(t, "stable")
	s.during = nil
	s.pass(600*time.Millisecond, 600*time.Millisecond)
	expect.That(t, s.revision(t, "stable") == 2, "a row whose read began 2.1 s ago was served")
}

func TestCache_KeptForNoTime_IsReadEachTime(t *testing.T) {
	s := newShelf(0)
	for n := range int64(5) {
		got := s.revision(t, "stable")
		expect.Must(t, got == n+1, "read %d served at poll %d", got, n+1)
	}
}

func TestCache_ReadFails_ServesNothingOldAndTriesAgain(t *testing.T) {
	s := newShelf(2 * time.Second)
	s.revision(t, "stable")
	s.pass(2*time.Second, 2*time.Second)
	s.err = errors.New("no answer")
	if row, err := s.Get(t.Context(), "gateway-x", "stable", s.keep); !errors.Is(err, s.err) || row.Revision != 0 {
		t.Fatalf("got %+v, %v", row, err)
	}
	s.err = nil
	expect.That(t, s.revision(t, "stable") == 3, "the failed read was kept")
}

func TestCache_MoreChannelsThanAreKept_AreServedAllTheSame(t *testing.T) {
	s := newShelf(2 * time.Second)
	for i := range 3 * mostKept {
		s.revision(t, fmt.Sprintf("c%d", i))
		expect.Must(t, len(s.kept) <= mostKept, "%d rows are kept", len(s.kept))
	}
}

// TestCache_NeverOlderThanPromised lets any time pass between polls while either clock goes wrong in any way, and
// checks each served row against the true time.
func TestCache_NeverOlderThanPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShelf(2 * time.Second)
		wallIsWrong := rapid.Bool().Draw(t, "the wall clock is the wrong one")
		step, jump := rapid.Int64Range(0, int64(3*time.Second)), rapid.Int64Range(-int64(time.Minute), int64(time.Minute))
		readAt := map[int64]time.Duration{}
		var truth time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "polls") {
			passed := time.Duration(step.Draw(t, "passed"))
			truth += passed
			if wallIsWrong {
				s.pass(time.Duration(jump.Draw(t, "jump")), passed)
			} else {
				s.pass(passed, time.Duration(rapid.Int64Range(0, int64(passed)).Draw(t, "ran"))) // it may stand still
			}
			before := s.reads
			served := s.revision(t, "stable")
			if s.reads > before {
				readAt[served] = truth
			}
			age := truth - readAt[served]
			expect.Must(t, age < 2*time.Second, "served a row that is %v old", age)
		}
	})
}
