package census

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/report"
)

// A VersionCount is how many boxes of a channel run a version.
type VersionCount struct {
	Version string `json:"version"`
	Boxes   int    `json:"boxes"`
}

// Versions counts which boxes of a channel run what.
type Versions struct {
	boxes   int
	unknown int
	by      map[string]int

	at           time.Time
	pinned, held int
	unproven     int // see report.Row.Unproven
	frequent     int // see report.Row.Often
	oldest       *OldestPin
	plants       map[string]int // boxes that are not pinned, by factory
}

// OldestPin is the pin of a channel that began first, to a second.
type OldestPin struct {
	EdgeID string    `json:"edgeId"`
	Since  time.Time `json:"since"`
}

// older is the older one of two pins.
func (p *OldestPin) older(other *OldestPin) *OldestPin {
	if p == nil || other != nil && (other.Since.Before(p.Since) || other.Since.Equal(p.Since) && other.EdgeID < p.EdgeID) {
		return other
	}
	return p
}

// NewVersions makes an empty count at a time.
func NewVersions(at time.Time) *Versions { return &Versions{at: at} }

// Aside is how many boxes are pinned and how many are held, and the oldest pin.
func (v *Versions) Aside() (pinned, held int, oldest *OldestPin) { return v.pinned, v.held, v.oldest }

// Add counts one box of the channel.
func (v *Versions) Add(e report.IndexEntry) {
	if e.Trace {
		return
	}
	v.boxes++
	if e.Frequent {
		v.frequent++
	}
	switch {
	case !e.Aside(v.at):
	case e.Unproven:
		v.unproven++
	case e.PinnedUntil.IsZero():
		v.held++
	default:
		v.pinned++
		v.oldest = v.oldest.older(&OldestPin{e.EdgeID, e.AsideSince})
	}
	if e.FactoryID != "" && (!e.Aside(v.at) || e.PinnedUntil.IsZero() && !e.Unproven) {
		v.plants = added(v.plants, e.FactoryID, 1)
	}
	if e.Running == "" {
		v.unknown++
		return
	}
	v.by = added(v.by, e.Running, 1)
}

func added(to map[string]int, name string, n int) map[string]int {
	if to == nil {
		to = map[string]int{}
	}
	to[name] += n
	return to
}

// Merge adds what was counted of other boxes.
func (v *Versions) Merge(other Versions) {
	v.boxes += other.boxes
	v.unknown += other.unknown
	v.pinned, v.held, v.oldest = v.pinned+other.pinned, v.held+other.held, v.oldest.older(other.oldest)
	v.unproven, v.frequent = v.unproven+other.unproven, v.frequent+other.frequent
	for version, n := range other.by {
		v.by = added(v.by, version, n)
	}
	for id, n := range other.plants {
		v.plants = added(v.plants, id, n)
	}
}

// MostVersions limits the versions that are listed one by one: a box may claim to run anything.
const MostVersions = 100

// List returns the versions that most boxes run, most boxes first. Those that are published come before the made-up ones of
// boxes if not all can be listed.
func (v *Versions) List(published map[string]bool) (list []VersionCount, others int) {
	list = []VersionCount{}
	for version, n := range v.by {
		list = append(list, VersionCount{version, n})
	}
	most := func(a, b VersionCount) int {
		return cmp.Or(cmp.Compare(b.Boxes, a.Boxes), cmp.Compare(a.Version, b.Version))
	}
	slices.SortFunc(list, func(a, b VersionCount) int {
		switch {
		case published[a.Version] == published[b.Version]:
			return most(a, b)
		case published[a.Version]:
			return -1
		}
		return 1
	})
	for _, rare := range list[min(len(list), MostVersions):] {
		others += rare.Boxes
	}
	list = list[:min(len(list), MostVersions)]
	slices.SortFunc(list, most)
	return list, others
}

// Among is the count of a channel whose type has some published versions.
func (v *Versions) Among(published map[string]bool) (c ChannelVersions) {
	c.Versions, c.OtherVersions = v.List(published)
	c.Cut = c.OtherVersions > 0 && !slices.ContainsFunc(c.Versions, func(v VersionCount) bool { return !published[v.Version] })
	return c
}

// Boxes is how many boxes follow the channel.
func (v *Versions) Boxes() int { return v.boxes }

// Unknown is how many of them never said what they run.
func (v *Versions) Unknown() int { return v.unknown }
