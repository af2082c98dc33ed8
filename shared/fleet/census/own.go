package census

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

// A Fleet is what an organization sees of its boxes and of the rollouts on their channels. Only its own boxes count.
type Fleet struct {
	OrganizationID string    `json:"organizationId"`
	AsOf           time.Time `json:"asOf"` // when it was counted
	Boxes          int       `json:"boxes"`
	// Channels are those with most of its boxes; MoreChannels is how many are omitted.
	Channels     []OwnChannel `json:"channels"`
	MoreChannels int          `json:"moreChannels,omitempty"`
}

// An OwnChannel is a release channel with an organization's boxes.
type OwnChannel struct {
	EdgeType       string `json:"edgeType"`
	Channel        string `json:"channel"`
	CurrentVersion string `json:"currentVersion,omitempty"` // empty: nothing is published there
	Boxes          int    `json:"boxes"`
	Unknown        int    `json:"unknown"` // of these, those that never said what they run
	// Versions are those that most of its boxes run; OtherVersions is how many boxes run another one.
	Versions      []VersionCount `json:"versions"`
	OtherVersions int            `json:"otherVersions,omitempty"`
	Pinned        int            `json:"pinned,omitempty"`
	Held          int            `json:"held,omitempty"`
	// Rollout is the channel's present or last one.
	Rollout *OwnRollout `json:"rollout,omitempty"`
}

func (c OwnChannel) pair() string { return release.Pair(c.EdgeType, c.Channel) }

// An OwnRollout is what an organization sees of a rollout: what happens to everybody, and counts of its own boxes. It has
// nothing of others: no guard's sentence or counts, no policy, and nobody's name.
type OwnRollout struct {
	ID            string         `json:"id"`
	EdgeType      string         `json:"edgeType"`
	Channel       string         `json:"channel"`
	TargetVersion string         `json:"targetVersion"`
	Status        rollout.Status `json:"status"`
	StagedPercent int            `json:"staged_percent"`
	StartedAt     time.Time      `json:"startedAt"`
	EndedAt       *time.Time     `json:"endedAt,omitempty"`
	ReturnedAt    *time.Time     `json:"returnedAt,omitempty"`
	// Action and Reason are the guard's, if it has judged the rollout as it is now.
	Action   guard.Action `json:"action,omitempty"`
	Reason   guard.Reason `json:"reason,omitempty"`
	Sentence string       `json:"sentence"`
	// LeavesOut is set if the rollout leaves out the organization's boxes.
	LeavesOut bool `json:"leavesOut,omitempty"`
	// Stages and the counts after it are missing if the channel carries another rollout by now, and until the boxes are
	// counted.
	Stages    []StageCounts              `json:"stages,omitempty"`
	Failures  map[report.FailureCode]int `json:"failures,omitempty"`
	Restless  int                        `json:"restless,omitempty"`
	Returning int                        `json:"returning,omitempty"`
	Returned  int                        `json:"returned,omitempty"`
	// Waiting says how many of the organization's boxes wait for its plants.
	Waiting *AtPlants `json:"waiting,omitempty"`
}

// ownRollout is a rollout as an organization sees it, without counts.
func ownRollout(r rollout.Rollout, organizationID string) OwnRollout {
	o := OwnRollout{
		ID: r.ID, EdgeType: r.EdgeType, Channel: r.Channel, TargetVersion: r.TargetVersion, Status: r.Status, StagedPercent: r.StagedPercent,
		StartedAt: r.StartedAt, EndedAt: r.EndedAt, ReturnedAt: r.ReturnedAt, LeavesOut: slices.Contains(r.Without, organizationID),
	}
	o.Sentence = o.says()
	return o
}

// counted adds the counts of the organization's boxes, and what the guard's last verdict decided.
func (o OwnRollout) counted(c *Census, last *Progress) OwnRollout {
	if last != nil && last.Guard != nil && last.Guard.Revision == c.of.Revision {
		o.Action, o.Reason = last.Guard.Action, last.Guard.Reason
	}
	o.Stages, o.Failures = c.Stages, c.Codes
	o.Restless, o.Returning, o.Returned = c.Restless, c.Returning, c.Returned
	o.Sentence = o.says() + " " + o.counts()
	return o
}

// says is where the rollout is.
func (o OwnRollout) says() string {
	is := map[rollout.Status]string{rollout.Active: "is", rollout.Halted: "was halted", rollout.Completed: "was completed"}[o.Status]
	if o.ReturnedAt != nil {
		is = "was returned"
	}
	return fmt.Sprintf("Rollout %s on %s %s at %d percent.", o.TargetVersion, release.Pair(o.EdgeType, o.Channel), is, o.StagedPercent)
}

// counts puts the counts of the organization's boxes into words.
func (o OwnRollout) counts() string {
	sum := Total(o.Stages)
	if o.LeavesOut {
		return fmt.Sprintf("It leaves out the organization's %s there.", boxes(sum.Expected))
	}
	undecided := sum.NotYetPolled + sum.Offered + sum.Working + sum.Deferred
	reached := undecided + sum.Installed + sum.Failed + sum.Reverted
	text := fmt.Sprintf("Of the organization's %s there, it reaches %d", boxes(sum.Expected), reached)
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{sum.Installed, "installed it"}, {sum.Failed, "failed"}, {sum.Reverted, "fell back"}, {undecided, "undecided"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text + "."
}

func boxes(n int) string {
	if n == 1 {
		return "1 box"
	}
	return fmt.Sprintf("%d boxes", n)
}

// Text is the fleet as it is stored. Boxes may claim to run anything, and a rollout may wait for many plants, so it omits
// channels with few boxes if the text were longer than an item may be.
func (f Fleet) Text() (string, error) {
	for {
		text, err := json.Marshal(f)
		if n := len(f.Channels) / 2; err == nil && len(text) > mostOwnText && n > 0 {
			f.Channels, f.MoreChannels = f.Channels[:n], f.MoreChannels+len(f.Channels)-n
			continue
		}
		return string(text), err
	}
}

const (
	// mostOwnText limits the bytes of a fleet. An item may have 400 KB.
	mostOwnText = 350_000
	// mostOwnChannels and mostOwnVersions limit a fleet, which is stored in one item.
	mostOwnChannels = 100
	mostOwnVersions = 10
)

// of returns the organization's view of a rollout: as it was counted, otherwise without counts.
func (f Fleet) of(r rollout.Rollout) OwnRollout {
	for _, c := range f.Channels {
		if c.Rollout != nil && c.Rollout.ID == r.ID {
			return *c.Rollout
		}
	}
	return ownRollout(r, f.OrganizationID)
}

// largest orders channels by their boxes, most first, and cuts the list.
func largest(all []OwnChannel) (list []OwnChannel, more int) {
	slices.SortFunc(all, func(a, b OwnChannel) int {
		return cmp.Or(cmp.Compare(b.Boxes, a.Boxes), cmp.Compare(a.EdgeType, b.EdgeType), cmp.Compare(a.Channel, b.Channel))
	})
	n := min(len(all), mostOwnChannels)
	return all[:n], len(all) - n
}

// ran is the channel with the versions that its boxes run.
func (c OwnChannel) ran(v *Versions) OwnChannel {
	c.Boxes, c.Unknown = v.Boxes(), v.Unknown()
	c.Pinned, c.Held, _ = v.Aside()
	c.Versions, c.OtherVersions = v.List(nil)
	for _, rare := range c.Versions[min(len(c.Versions), mostOwnVersions):] {
		c.OtherVersions += rare.Boxes
	}
	c.Versions = c.Versions[:min(len(c.Versions), mostOwnVersions)]
	return c
}
