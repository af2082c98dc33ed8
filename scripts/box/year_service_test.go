package box_test

import (
	"math/rand/v2"
	"sort"
	"time"

	"wavegate/scripts/box"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
)

// Intervals of the service, with default settings.
var (
	busyInterval = byDefault(setting.PollIntervalSeconds)
	idleInterval = byDefault(setting.IdlePollIntervalSeconds)
	heartbeat    = byDefault(setting.HeartbeatSeconds)
	paces        = polling.Settings{PollInterval: busyInterval, IdlePollInterval: idleInterval}
)

func byDefault(name setting.Name) time.Duration {
	return time.Duration(setting.Ranges[name].Default) * time.Second
}

const (
	kept          = 2 * time.Second
	firstCount    = time.Minute // from a rollout's start to the first count of its boxes; until then all are watched
	soaks         = 24*time.Hour + 15*time.Minute
	monthlyLength = 365 * 24 * time.Hour / 12
)

// A release is a rollout under the default policy, promoted by the guard: a stage soaks for a day, and the guard
// clears it at a tick a little later.
type release struct {
	began   time.Time
	reached [4]time.Time // the stages 1, 10, 50 and 100
	over    time.Time    // completed or halted
	halted  bool
}

// A service knows what boxes hear and are told at each moment of a history of releases on one channel.
type service struct {
	releases  []release
	changes   []time.Time // changes to the channel's row; each one rings
	interval  time.Duration
	heartbeat time.Duration
}

// newYear returns a year with a number of releases.
func newYear(begin time.Time, releases int, interval, heartbeat time.Duration) service {
	s := service{interval: interval, heartbeat: heartbeat}
	for i := range releases {
		r := release{began: begin.Add(monthlyLength*time.Duration(i) + 10*24*time.Hour)}
		for stage := range r.reached {
			r.reached[stage] = r.began.Add(time.Duration(stage) * soaks)
		}
		r.over = r.began.Add(4 * soaks)
		s.add(r)
	}
	return s
}

func (s *service) add(r release) {
	s.releases = append(s.releases, r)
	s.changes = append(s.changes, r.reached[:]...)
	s.changes = append(s.changes, r.over)
}

// ring returns what the bell says at a time: the number of changes so far, and the interval.
func (s *service) ring(at time.Time) (sound int, interval time.Duration) {
	sound = sort.Search(len(s.changes), func(i int) bool { return s.changes[i].After(at) })
	var changed time.Time
	if sound > 0 {
		changed = s.changes[sound-1]
	}
	return sound, bell.Pace{Busy: busyInterval, Idle: s.interval}.At(at, changed)
}

// A resident is one box of the channel, and its part in each release.
type resident struct {
	stage   []int // 0 to 3
	watched []bool
}

// A telling decides the answer to a poll. All boxes run version 0 at first; version n is that of the n-th release.
type telling struct {
	version   int
	byRollout bool
	installed int
	interval  time.Duration
}

// tell returns the answer to a poll. offered is when the box was first offered its present version.
func (s *service) tell(r *resident, installed int, at, offered time.Time) telling {
	n := sort.Search(len(s.releases), func(i int) bool { return s.releases[i].began.After(at) })
	t := telling{version: n, installed: installed}
	if n == 0 {
		t.interval = paces.ListenInterval(s.heartbeat, false, nil, at)
		return t
	}
	last := s.releases[n-1]
	switch active := at.Before(last.over); {
	case active && !at.Before(last.reached[r.stage[n-1]]):
		t.byRollout = true
	case active, last.halted:
		t.version = n - 1
		if installed == n {
			t.version = n // nobody is sent back
		}
	}
	watched := r.watched[n-1] || at.Sub(last.began) < firstCount
	var offer *report.Offer
	if t.version != installed {
		offer = &report.Offer{State: report.Offered, Since: offered}
	}
	t.interval = paces.ListenInterval(s.heartbeat, watched && at.Before(last.over.Add(bell.AfterEnd(s.heartbeat))), offer, at)
	return t
}

// manifest returns the answer in the client's form.
func (t telling) manifest() box.Manifest {
	name := versions[t.version]
	m := box.Manifest{Version: name, SHA256: name, ArtifactURL: "https://a.example/", PollIntervalSeconds: int(t.interval / time.Second), Bell: &place}
	if t.byRollout {
		m.RolloutID = name
	}
	return m
}

var (
	place    = box.Bell{URL: "https://bell.example/b", Call: "code"}
	versions = names("version ")
	sounds   = names("sound ")
)

func names(stem string) (list []string) {
	for i := range 1000 {
		list = append(list, stem+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10)))
	}
	return list
}

// stale returns a time at which a container may have read the channel that it answers from.
func stale(at time.Time, random *rand.Rand) time.Time {
	return at.Add(-time.Duration(random.Int64N(int64(kept))))
}
