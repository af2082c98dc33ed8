package publication

import (
	"context"
	"fmt"
	"strings"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/timestamp"
)

// A Count is what the last count of a channel says of boxes that a publication does not reach at their next poll. Package
// census makes it.
type Count struct {
	AsOf           time.Time `json:"asOf"` // zero: the channel was never counted
	Boxes          int       `json:"boxes"`
	Pinned         int       `json:"pinned"`
	AtClosedPlants int       `json:"atClosedPlants"`
	// ImportedUnknown are from another server, and have not said what they run.
	ImportedUnknown int        `json:"importedUnknown"`
	OptedOut        []OptedOut `json:"optedOut"`
	Versions        []Running  `json:"versions"`
}

// OptedOut is how many boxes are at plants of an organization that opted out.
type OptedOut struct {
	Of    calendar.Scope `json:"of"`
	Boxes int            `json:"boxes"`
}

// Running is how many boxes run a version.
type Running struct {
	Version string `json:"version"`
	Boxes   int    `json:"boxes"`
}

// lastCount reads the last count of a channel. A count that cannot be read refuses no publication: it is none.
func (s *Store) lastCount(ctx context.Context, edgeType, channel string) Count {
	var head struct {
		Answer Count `json:"answer"`
	}
	if _, err := s.db.GetEventually(ctx, dynamo.Progress, dynamo.Key{"subject": "channel#" + release.Pair(edgeType, channel), "part": "latest"}, &head); err != nil {
		return Count{}
	}
	return head.Answer
}

// Untold warns of boxes that are not told what was published at their next poll; empty: none is known.
func (m Made) Untold() string {
	var said []string
	if warning := m.Release.Untold(); warning != "" {
		said = append(said, warning)
	}
	switch few := m.Count.few(m.Release, m.Urgent); {
	case m.Created:
	case m.Count.AsOf.IsZero():
		said = append(said, "Not counted: how many boxes of the channel are not told "+m.Version+" at their next poll. Read the channel's progress to count them.")
	case few != "":
		said = append(said, few)
	}
	return strings.Join(said, " ")
}

// few says how many boxes of the count are not told a release, and why.
func (c Count) few(r release.Release, urgent bool) string {
	var why []string
	sum := 0
	add := func(n int, text string) {
		if n > 0 {
			why, sum = append(why, fmt.Sprint(n, " ", text)), sum+n
		}
	}
	add(c.Pinned, "pinned")
	add(c.ImportedUnknown, "that come from another server and have not said what they run")
	if !urgent {
		add(c.AtClosedPlants, "at plants that take no updates")
	}
	out := 0
	for _, o := range c.OptedOut {
		if o.Of == calendar.OfAll || !r.Security() {
			out += o.Boxes
		}
	}
	add(out, "at plants that opted out")
	if r.Requires != "" {
		others := c.Boxes // also those that never said what they run
		for _, v := range c.Versions {
			if v.Version == r.Version || v.Version == r.Requires {
				others -= v.Boxes
			}
		}
		add(others, "that are told "+r.Requires+" first if they run an older release")
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("By the count of %s, up to %d of %d boxes are not told %s at their next poll: %s. Not counted: boxes of groups that wait for their turn.",
		timestamp.Text(c.AsOf), min(sum, c.Boxes), c.Boxes, r.Version, strings.Join(why, ", "))
}
