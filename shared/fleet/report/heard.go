package report

import (
	"fmt"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
)

// A Heard is something that a box said and that was read otherwise, or not at all; see input.Reader.Hears.
type Heard struct {
	Way string `json:"way"` // one of those below
	input.Heard
	dynamo.Unknown
}

// The ways in which a box says something.
const (
	ByPoll       = "poll"
	ByReport     = "report"
	ByAttributes = "attributes"
	ByConfigData = "configData"
	ByFeedback   = "feedback"
)

// mostHeard limits what a row keeps, because each write pays for it.
const mostHeard = 8

// hears notes what a call said. It takes the place of what the box said before in the same way. Reports and feedback are
// events, so one that can be read leaves the note of another.
func (r *Row) hears(way string, said []input.Heard) {
	if way == "" || len(said) == 0 && (way == ByReport || way == ByFeedback) {
		return
	}
	var all []Heard
	for _, s := range said {
		all = append(all, Heard{Way: way, Heard: s})
	}
	for _, h := range r.Heard {
		if h.Way != way {
			all = append(all, h)
		}
	}
	r.Heard = slices.Clip(all[:min(len(all), mostHeard)])
}

// Hears notes a text that was not used.
func (r *Row) Hears(way, field, said string) {
	r.hears(way, []input.Heard{{Field: field, Said: input.Shown(said)}})
}

// HeardSentence says to a person how the version that the box says was read.
func (r Row) HeardSentence() string {
	for _, h := range r.Heard {
		switch {
		case !strings.HasSuffix(h.Field, "installed"):
		case h.Read == "":
			return fmt.Sprintf(" It says `%s` as its version, which cannot be read.", h.Said)
		default:
			return fmt.Sprintf(" It says `%s`, read as %s.", h.Said, h.Read)
		}
	}
	return ""
}
