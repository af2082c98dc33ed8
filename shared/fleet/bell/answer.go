package bell

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Response is what the bell says.
type Response struct {
	// Sound changes if something changed that all boxes of the channel must ask about.
	Sound string `json:"sound"`
	// IntervalSeconds is how long a box is asked to wait before it listens again.
	IntervalSeconds int `json:"intervalSeconds"`
	// Calls are the codes of boxes that must ask about a change of their own.
	Calls []string `json:"calls"`
	// ETag is the sound and, after a dot, a part that changes with the calls. So a box that has the answer of the current
	// ETag has missed nothing, even behind a cache.
	ETag string `json:"-"`
}

// A Scene is the input of a channel's answer.
type Scene struct {
	// Row is the entity tag of the channel's row, and ChangedAt when something there last changed.
	Row       string
	ChangedAt time.Time
	Rings     Rings
}

// Pace is how often boxes listen: at Busy for an hour after a change to the channel, otherwise at Idle.
type Pace struct{ Busy, Idle time.Duration }

// attentive is how long after a change boxes listen often.
const attentive = time.Hour

// At is the interval at now, on a channel that last changed at changed.
func (p Pace) At(now, changed time.Time) time.Duration {
	if now.Sub(changed) < attentive {
		return p.Busy
	}
	return max(p.Busy, p.Idle)
}

// Answer is what the bell says at an address that was made with the secret. The calls are sorted by code, which reveals
// nothing.
func (s Secret) Answer(scene Scene, pace Pace, now time.Time) Response {
	a := Response{
		Sound:           s.sound(scene.Row, scene.Rings.N),
		IntervalSeconds: int(pace.At(now, scene.ChangedAt) / time.Second),
		Calls:           []string{},
	}
	a.ETag = `"` + a.Sound + `"`
	var set []string
	for _, id := range scene.Rings.called(now) {
		code := s.Call(id)
		a.Calls = append(a.Calls, code)
		// A box that is called again while it is called gets another tag.
		set = append(set, code+strconv.FormatInt(scene.Rings.Calls[id], 10))
	}
	if len(set) > 0 {
		slices.Sort(a.Calls)
		slices.Sort(set)
		a.ETag = `"` + a.Sound + "." + s.cut(setBytes, sets, strings.Join(set, " ")) + `"`
	}
	return a
}
