package box

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return noon.Add(d) }

// middle makes every wait exactly its average.
func middle() float64 { return 0.5 }

func tells(version string) Manifest {
	return Manifest{Version: version, ArtifactURL: "https://a.example/" + version, SHA256: "digest of " + version, RolloutID: "r-" + version,
		PollIntervalSeconds: 21_600, Bell: &Bell{URL: "https://bell.example/b/x/y/z", Call: "me"}}
}

// settled is a box that runs 1.0.0, has polled at noon, and heard the sound "a" since.
func settled() *State {
	s := &State{Timing: DefaultTiming, Random: middle}
	s.Started("1.0.0", noon.Add(-time.Hour))
	s.Told(tells("1.0.0"), "tag", "1.0.0", noon.Add(-time.Minute))
	s.Heard(Ring{Sound: "a", Tag: "a", Interval: 5 * time.Minute}, noon.Add(-time.Minute))
	s.Told(tells("1.0.0"), "tag", "1.0.0", noon)
	return s
}

func TestNext_AfterWhatHappened(t *testing.T) {
	anHour := Advice{RetryAfter: time.Hour}
	for name, c := range map[string]struct {
		happens func(*State)
		after   time.Duration
		want    Deed
		until   time.Duration // for Wait
	}{
		"nothing new":          {func(*State) {}, 0, Wait, 4 * time.Minute},
		"the interval is over": {func(*State) {}, 4 * time.Minute, Listen, 0},
		"the heartbeat is due": {func(s *State) { s.Unchanged(7*time.Hour, at(0)) }, 6 * time.Hour, Poll, 0},
		"the same sound":       {func(s *State) { s.Heard(Ring{Sound: "a", Tag: "a", Interval: time.Minute}, at(0)) }, 0, Wait, time.Minute},
		"another sound, at once": {func(s *State) { s.Heard(Ring{Sound: "b", Tag: "b", Interval: time.Minute}, at(0)) }, 0,
			Wait, 4500 * time.Millisecond},
		"another sound, settled": {func(s *State) { s.Heard(Ring{Sound: "b", Tag: "b", Interval: time.Minute}, at(0)) },
			5 * time.Second, Poll, 0},
		"its own code": {func(s *State) {
			s.Heard(Ring{"a", "a.1", time.Minute, []string{"other", "me"}},
				at(0))
		}, 5 * time.Second, Poll, 0},
		"its own code as before": {func(s *State) {
			s.Heard(Ring{"a", "a.1", time.Minute, []string{"me"}}, at(-time.Second))
			s.NotModified("1.0.0", at(0))
			s.Heard(Ring{"a", "a.1", time.Minute, []string{"me"}}, at(0))
		}, 5 * time.Second, Wait, time.Minute},
		"another box's code": {func(s *State) { s.Heard(Ring{"a", "a.1", time.Minute, []string{"other"}}, at(0)) },
			5 * time.Second, Wait, time.Minute},
		"told another version":      {func(s *State) { s.Told(tells("1.1.0"), "tag", "1.0.0", at(0)) }, 0, Fetch, 0},
		"told it a while ago":       {func(s *State) { s.Told(tells("1.1.0"), "tag", "1.0.0", at(-time.Minute)) }, 0, Poll, 0},
		"told it by a clock ahead":  {func(s *State) { s.Told(tells("1.1.0"), "tag", "1.0.0", at(time.Hour)) }, 0, Poll, 0},
		"downloads for a while":     {func(s *State) { s.Told(tells("1.1.0"), "tag", "1.0.0", at(-time.Minute)); s.Fetch() }, 0, Wait, 4 * time.Minute},
		"told so again a while ago": {func(s *State) { downloads(s, "1.1.0"); s.NotModified("1.0.0", at(-time.Minute)) }, 0, Poll, 0},
		"told, and not recorded":    {func(s *State) { s.Told(tells("1.1.0"), "", "1.0.0", at(0)) }, 0, Wait, time.Minute},
		"downloads":                 {func(s *State) { s.Told(tells("1.1.0"), "tag", "1.0.0", at(0)); s.Fetch() }, 0, Wait, 4 * time.Minute},
		"downloaded":                {func(s *State) { downloads(s, "1.1.0") }, 0, Poll, 0},
		"downloaded, told so again": {func(s *State) { downloads(s, "1.1.0"); s.NotModified("1.0.0", at(0)) }, 0, Activate, 0},
		"downloaded, then halted": {func(s *State) {
			downloads(s, "1.1.0")
			s.Told(tells("1.0.0"), "tag", "1.0.0",
				at(0))
		}, 0, Wait, 4 * time.Minute},
		"downloaded, then another": {func(s *State) { downloads(s, "1.1.0"); s.Told(tells("1.2.0"), "tag", "1.0.0", at(0)) }, 0, Fetch, 0},
		"another was begun since": {func(s *State) {
			downloads(s, "1.1.0")
			s.Told(tells("1.2.0"), "tag", "1.0.0", at(0))
			s.Fetch()
			s.Told(tells("1.1.0"), "tag", "1.0.0", at(0))
		}, 0, Fetch, 0},
		"downloaded, no answer":   {func(s *State) { downloads(s, "1.1.0"); s.Refused(0, at(0)) }, 0, Wait, time.Minute},
		"activated":               {func(s *State) { activates(s); s.Activated(at(0)) }, 0, Wait, 3 * time.Second},
		"activated, settled":      {func(s *State) { activates(s); s.Activated(at(0)) }, 3 * time.Second, Poll, 0},
		"failed":                  {func(s *State) { activates(s); s.Attempt(failed, at(0)) }, 0, Tell, 0},
		"the report is not taken": {func(s *State) { activates(s); s.Attempt(failed, at(0)); s.Untold(0, at(0)) }, 0, Poll, 0},
		"the report is stale":     {func(s *State) { activates(s); s.Attempt(failed, at(0)); s.Stale(at(0)) }, 0, Poll, 0},
		"to wait for an hour":     {func(s *State) { fails(s, anHour, at(0)) }, 5 * time.Minute, Listen, 0},
		"the hour is over":        {func(s *State) { fails(s, anHour, at(0)) }, time.Hour, Poll, 0},
		"the next attempt":        {func(s *State) { fails(s, anHour, at(-time.Hour)); s.NotModified("1.0.0", at(0)) }, 0, Fetch, 0},
		"told too early":          {func(s *State) { fails(s, anHour, at(0)); s.NotModified("1.0.0", at(0)) }, 0, Wait, 4 * time.Minute},
		"to give up": {func(s *State) {
			fails(s, Advice{GiveUp: true}, at(-time.Hour))
			s.NotModified("1.0.0", at(0))
		}, 0, Wait, 4 * time.Minute},
		"gave up, and another rollout": {func(s *State) {
			fails(s, Advice{GiveUp: true}, at(0))
			m := tells("1.1.0")
			m.RolloutID = "another"
			s.Told(m, "tag", "1.0.0", at(0))
		}, 0, Fetch, 0},
		"a new address": {func(s *State) {
			m := tells("1.0.0")
			m.Bell = &Bell{URL: "https://bell.example/b/x/y/new", Call: "me"}
			s.Told(m, "tag", "1.0.0", at(0))
		}, 0, Listen, 0},
		"no bell any more": {func(s *State) {
			m := tells("1.0.0")
			m.Bell, m.PollIntervalSeconds = nil, 300
			s.Told(m, "tag", "1.0.0", at(0))
		}, 0, Wait, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled()
			c.happens(s)
			got := s.Next(at(c.after))
			if got.Deed != c.want || c.want == Wait && !got.Until.Equal(at(c.until)) {
				t.Errorf("got %d until %v, want %d until %v", got.Deed, got.Until, c.want, at(c.until))
			}
		})
	}
}

// downloads makes a box learn of a version and download it, by noon.
func downloads(s *State, version string) {
	s.Told(tells(version), "tag", "1.0.0", at(-time.Second))
	s.Fetch()
	s.Fetched(at(0))
}

var failed = Report{Outcome: Failed, Code: "boot"}

// fails makes an activation fail, and the service give advice about it.
func fails(s *State, advice Advice, at time.Time) {
	activates(s)
	s.Attempt(failed, at)
	s.Advised(advice, at)
}

func activates(s *State) {
	downloads(s, "1.1.0")
	s.NotModified("1.0.0", at(0))
	s.Activating()
}

func TestTold_AnotherArtifactThanItDownloads_EndsTheDownload(t *testing.T) {
	for told, want := range map[string]string{"1.1.0": "digest of 1.1.0", "1.0.0": "", "1.2.0": ""} {
		s := settled()
		s.Told(tells("1.1.0"), "tag", "1.0.0", at(0))
		s.Fetch()
		s.Told(tells(told), "tag", "1.0.0", at(0))
		expect.Equal(t, s.Fetching(), want, "told %s, it downloads", told)
	}
}

func TestPolls_VaryByATenth(t *testing.T) {
	for random, want := range map[float64]time.Duration{0: 324 * time.Minute, 0.5: 6 * time.Hour, 1: 396 * time.Minute} {
		s := settled()
		s.Random = func() float64 { return random }
		s.NotModified("1.0.0", at(0))
		expect.Equal(t, s.nextPoll, at(want), "with %v, the next poll is at", random)
	}
}

func TestStarted_RunsAnotherVersionThanItActivated_ReportsThatItDidNotBoot(t *testing.T) {
	s := settled()
	activates(s)
	again := &State{Timing: DefaultTiming, Random: middle, Memory: s.Memory}
	again.Started("1.0.0", at(0))
	expect.Equal(t, again.Next(at(time.Minute)).Deed, Tell, "it does")
	want := Report{Version: "1.1.0", RolloutID: "r-1.1.0", Attempt: 1, Outcome: Failed, Code: "boot", Detail: again.Memory.Report.Detail}
	expect.Equal(t, *again.Memory.Report, want, "it reports")
	well := &State{Timing: DefaultTiming, Random: middle, Memory: s.Memory}
	well.Started("1.1.0", at(0))
	if got := well.Next(at(time.Minute)); got.Deed != Poll || well.Memory.Report != nil {
		t.Errorf("one that runs it does %d, with the report %v", got.Deed, well.Memory.Report)
	}
}

func TestUnheard_ForTenIntervals_PollsEachHour_UntilItHearsTheBell(t *testing.T) {
	s, now := settled(), noon
	var polls []time.Time
	listened := 0
	for now.Before(at(6 * time.Hour)) {
		switch a := s.Next(now); a.Deed {
		case Wait:
			now = a.Until
		case Listen:
			listened++
			s.Unheard(0, now)
		case Poll:
			polls = append(polls, now)
			s.NotModified("1.0.0", now)
		default:
			t.Fatalf("it does %d", a.Deed)
		}
	}
	if len(polls) != 5 || polls[0].Before(at(49*time.Minute)) || polls[0].After(at(110*time.Minute)) || listened < 70 {
		t.Errorf("it called the bell %d times in six hours, and polled at %v", listened, polls)
	}
	s.Heard(Ring{Sound: "a", Tag: "a", Interval: 5 * time.Minute}, now)
	s.NotModified("1.0.0", now)
	expect.Equal(t, s.nextPoll.Sub(now), 6*time.Hour, "after it heard the bell, its next poll is in")
}

// A played box has a service with random answers.
type played struct {
	*State
	now      time.Time
	runs     string
	polled   bool   // the latest event is a poll
	told     string // by that poll
	lastPoll time.Time
	file     string // the digest of the last complete download; empty while a download has not ended
}

// TestState_AnyHistory: a box activates a version only immediately after a poll that told it, no poll comes later
// than the heartbeat, and the box never acts endlessly at one moment.
func TestState_AnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := &played{State: &State{Timing: DefaultTiming, Random: random.Float64}, now: noon, runs: "1.0.0"}
		p.Started(p.runs, p.now)
		p.lastPoll = p.now
		busy := 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			a := p.Next(p.now)
			if a.Deed != Wait {
				if busy++; busy > 20 {
					t.Fatalf("more than 20 deeds at one time, the last %d", a.Deed)
				}
			}
			p.play(t, a)
			if a.Deed == Wait {
				busy = 0
			}
		}
	})
}

func (p *played) play(t *rapid.T, a Action) {
	if a.Deed == Activate && (!p.polled || p.told == p.runs) {
		t.Fatalf("activates, polled right before: %v, told %q, runs %q", p.polled, p.told, p.runs)
	}
	if a.Deed == Activate && p.file != p.Manifest().SHA256 {
		t.Fatalf("activates %q from the file %q", p.told, p.file)
	}
	if late := p.now.Sub(p.lastPoll); late > 6*time.Hour+36*time.Minute+time.Second {
		t.Fatalf("no poll for %v", late)
	}
	was := p.polled
	p.polled = false
	chance := func(name string, n int) bool { return rapid.IntRange(1, n).Draw(t, name) == 1 }
	if a.Deed == Poll && chance("stands still", 5) { // so it acts long after the answer
		defer func() { p.now = p.now.Add(time.Minute) }()
	}
	switch a.Deed {
	case Wait:
		if !a.Until.After(p.now) {
			t.Fatalf("waits until %v at %v", a.Until, p.now)
		}
		p.now = a.Until
		if p.Fetching() != "" && chance("downloaded", 2) {
			p.file = p.Fetching()
			p.Fetched(p.now)
		}
	case Listen:
		switch sound := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "sound"); {
		case sound == "":
			p.Unheard(time.Duration(rapid.IntRange(0, 100).Draw(t, "after"))*time.Second, p.now)
		case sound == p.RingTag():
			p.Unchanged(time.Minute, p.now)
		default:
			p.Heard(Ring{Sound: sound, Tag: sound, Interval: 5 * time.Minute}, p.now)
		}
	case Poll:
		p.lastPoll = p.now
		switch {
		case chance("refused", 4):
			p.Refused(0, p.now)
		case was && p.Tag() != "" || p.Tag() != "" && chance("same", 2):
			p.NotModified(p.runs, p.now)
			p.polled, p.told = true, p.Manifest().Version
		default:
			m, tag := tells(rapid.SampledFrom([]string{"1.0.0", "1.1.0", "1.2.0"}).Draw(t, "version")), "tag"
			if chance("unrecorded", 5) {
				tag = ""
			}
			p.Told(m, tag, p.runs, p.now)
			p.polled, p.told = tag != "", m.Version
		}
	case Fetch:
		p.file = ""
		p.Fetch()
	case Activate:
		p.Activating()
		if chance("fails", 3) {
			p.Attempt(Report{Outcome: Failed, Code: "install"}, p.now)
			return
		}
		p.runs = p.told
		p.Activated(p.now)
	case Tell:
		switch rapid.IntRange(0, 2).Draw(t, "answer") {
		case 0:
			p.Untold(0, p.now)
		case 1:
			p.Stale(p.now)
		default:
			p.Advised(Advice{RetryAfter: 5 * time.Minute, GiveUp: chance("give up", 3)}, p.now)
		}
	}
}

// TestState_HundredsOfBoxes_SpreadTheirCalls: boxes that are switched on together, and boxes that hear the same ring, do
// not poll together.
func TestState_HundredsOfBoxes_SpreadTheirCalls(t *testing.T) {
	const boxes = 500
	ring := at(2 * time.Hour)
	var starts, rings, heartbeats []time.Duration
	for i := range boxes {
		s := &State{Timing: DefaultTiming, Random: rand.New(rand.NewPCG(uint64(i), 1)).Float64}
		s.Started("1.0.0", noon)
		polls := 0
		for now := noon; now.Before(at(15 * time.Hour)); {
			sound := "a"
			if !now.Before(ring) {
				sound = "b"
			}
			switch a := s.Next(now); a.Deed {
			case Wait:
				now = a.Until
			case Listen:
				s.Heard(Ring{Sound: sound, Tag: sound, Interval: 5 * time.Minute}, now)
			case Poll:
				s.Told(tells("1.0.0"), "tag", "1.0.0", now)
				switch polls++; polls {
				case 1:
					starts = append(starts, now.Sub(noon))
				case 3: // the second followed the first sound
					rings = append(rings, now.Sub(ring))
				case 4:
					heartbeats = append(heartbeats, now.Sub(ring))
				}
			default:
				t.Fatalf("it does %d", a.Deed)
			}
		}
	}
	for name, c := range map[string]struct {
		polls       []time.Duration
		least, most time.Duration
	}{
		"first polls": {starts, 3 * time.Second, time.Minute},
		"rings":       {rings, 3 * time.Second, 336 * time.Second},
		"heartbeats":  {heartbeats, 5 * time.Hour, 7 * time.Hour},
	} {
		slices.Sort(c.polls)
		if len(c.polls) != boxes || c.polls[0] < c.least || c.polls[boxes-1] > c.most {
			t.Errorf("%s: %d polls from %v to %v", name, len(c.polls), c.polls[0], c.polls[len(c.polls)-1])
			continue
		}
		window := (c.polls[boxes-1] - c.polls[0]) / 10
		if most := together(c.polls, window); most > boxes/5 {
			t.Errorf("%s: %d of %d within %v", name, most, boxes, window)
		}
	}
}

// together returns the largest number of times within a window.
func together(times []time.Duration, window time.Duration) (most int) {
	first := 0
	for i, t := range times {
		for t-times[first] > window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
