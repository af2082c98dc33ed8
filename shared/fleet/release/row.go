package release

import (
	"slices"
	"strconv"
	"time"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// A Carried is the present or last rollout of a channel, as stored in the channel's row: all that a poll needs, so that
// a poll reads one item. It is a copy of the rollout, written in the same transactions.
type Carried struct {
	ID            string `json:"id" stored:"identity"`
	TargetVersion string `json:"targetVersion"`
	ArtifactURL   string `json:"artifactUrl"` // at the start; see Release for where the bytes are now
	SHA256        string `json:"sha256"`
	StagedPercent int    `json:"staged_percent"`
	Active        bool   `json:"active"`
	Revision      int64  `json:"revision"`
	// Guard is the guard's mode, or none.
	Guard string `json:"guard"`
	// ChangedAt is when the rollout last changed.
	ChangedAt time.Time `json:"changedAt"`
	StartedAt time.Time `json:"startedAt"`
	Telling
}

// A Telling restricts whom a rollout tells its target, once it is not adopted.
type Telling struct {
	// Stopped is set if only boxes that were told before are told.
	Stopped bool `json:"stopped,omitempty"`
	// Without are organizations whose boxes are not told.
	Without []string `json:"without,omitempty"`
	// Haste is what the target may pass by in plants.
	calendar.Haste
	// Asks are the health numbers that boxes are asked for.
	Asks []string `json:"asks,omitempty"`
	// DecideWithin is the policy's, in seconds, if it is longer than usual.
	DecideWithin int `json:"decideWithin,omitempty"`
	Young
}

// A RolloutTarget is a version that a rollout brought to boxes, and where its bytes were when it started.
type RolloutTarget struct {
	Version     string `json:"version" stored:"identity"`
	ArtifactURL string `json:"artifactUrl"`
	SHA256      string `json:"sha256"`
}

// Target returns the rollout's target.
func (c Carried) Target() RolloutTarget {
	return RolloutTarget{Version: c.TargetVersion, ArtifactURL: c.ArtifactURL, SHA256: c.SHA256}
}

// A ChannelRow is a channel, the rollout that it carries, and the targets of earlier rollouts. Boxes may still run such
// targets. They are remembered until a publication, or the completion of a rollout that reached everyone, gives all
// boxes a version. Without them, the start of a rollout would send back boxes that run the target of an earlier, halted
// one.
type ChannelRow struct {
	Channel
	// Rollout is the rollout that the row carries.
	Rollout *Carried        `json:"rollout,omitempty"`
	Earlier []RolloutTarget `json:"earlier,omitempty"` // each version once, MostEarlier at most
	// Kept are the boxes that adopted rollouts left out.
	Kept []Kept `json:"kept,omitempty"`
	// Returned are the rollouts that were returned; see Return.
	Returned []Returned `json:"returned,omitempty"`
	// Haste is what the channel's version may pass by in plants; nil: nothing.
	Haste *calendar.Haste `json:"haste,omitempty"`
	// Past are versions that were the channel's before, the latest first; MostPast at most. See Knows.
	Past []string `json:"past,omitempty"`
	// PublishedAt is when a version was last published on the channel.
	PublishedAt time.Time `json:"publishedAt"`
	// Ways are those of the versions that boxes of the channel are told; see Showing.
	Ways []Path `json:"ways,omitempty"`
	dynamo.Unknown
}

// A Returned is a rollout that was returned: boxes that run its target are told the channel's version.
type Returned struct {
	RolloutID string `json:"rolloutId" stored:"identity"`
	Version   string `json:"version"`
	Urgent    bool   `json:"urgent,omitempty"` // plants need not be open
}

// hasteOf returns what a version may pass by; nil if nothing.
func hasteOf(h calendar.Haste) *calendar.Haste {
	if h == (calendar.Haste{}) {
		return nil
	}
	return &h
}

// returned returns what the row remembers of a returned rollout; false: nothing.
func (r ChannelRow) returned(rolloutID string) (is Returned, found bool) {
	i := slices.IndexFunc(r.Returned, func(b Returned) bool { return b.RolloutID == rolloutID })
	if i < 0 {
		return Returned{}, false
	}
	return r.Returned[i], true
}

// ReturnedUrgently reports whether boxes of a returned rollout go back at once.
func (r ChannelRow) ReturnedUrgently(rolloutID string) bool {
	is, _ := r.returned(rolloutID)
	return is.Urgent
}

// Passes is what a version may pass by in plants: that of a rollout, or else the channel's.
func (r ChannelRow) Passes(rolloutID string) calendar.Haste {
	switch {
	case r.Rollout != nil && rolloutID == r.Rollout.ID:
		return r.Rollout.Haste
	case rolloutID == "" && r.Haste != nil:
		return *r.Haste
	}
	return calendar.Haste{}
}

// Tells reports whether the row's rollout tells its target to a box of an organization; offered is set if it was told
// before.
func (r ChannelRow) Tells(organizationID string, offered bool) bool {
	return r.Rollout == nil || !slices.Contains(r.Rollout.Without, organizationID) && (offered || !r.Rollout.Stopped)
}

// Asked are the health numbers that the row's rollout asks boxes for.
func (r ChannelRow) Asked() []string {
	if r.Rollout == nil || !r.Rollout.Active {
		return nil
	}
	return r.Rollout.Asks
}

// LastChange is when something on the channel was last published, started, moved or ended.
func (r ChannelRow) LastChange() time.Time {
	if r.Rollout != nil && r.Rollout.ChangedAt.After(r.UpdatedAt) {
		return r.Rollout.ChangedAt
	}
	return r.UpdatedAt
}

const (
	// MostEarlier limits the targets that a row remembers, and so the size of a poll's read.
	MostEarlier = 16
	// MostPast limits the former versions of a channel in its row.
	MostPast = 8
)

// Remembered lists the targets that boxes may run and that are not the channel's version. The row keeps remembering
// them when another rollout replaces its own.
func (r ChannelRow) Remembered() []RolloutTarget {
	list := []RolloutTarget{}
	if r.Rollout != nil {
		list = append(list, r.Rollout.Target())
	}
	for _, t := range r.Earlier {
		if !slices.ContainsFunc(list, func(u RolloutTarget) bool { return u.Version == t.Version }) {
			list = append(list, t)
		}
	}
	return slices.DeleteFunc(list, func(t RolloutTarget) bool { return t.Version == r.CurrentVersion || r.ReturnedBy(t.Version) != "" })
}

// Targets lists what boxes of the channel may be told, and what they may have been told since the last publication.
func (r ChannelRow) Targets() []RolloutTarget {
	list := append([]RolloutTarget{{r.CurrentVersion, r.ArtifactURL, r.SHA256}}, r.Earlier...)
	if r.Rollout != nil {
		list = append(list, r.Rollout.Target())
	}
	for _, k := range r.Kept {
		list = append(list, k.RolloutTarget)
	}
	return list
}

// ReturnedBy is the rollout of a target that was returned: boxes that run it are told the channel's version. It is empty
// for any other version, and for one that another rollout brings again.
func (r ChannelRow) ReturnedBy(version string) (rolloutID string) {
	for _, b := range r.Returned {
		if b.Version == version && (r.Rollout == nil || r.Rollout.ID == b.RolloutID || r.Rollout.TargetVersion != version) {
			return b.RolloutID
		}
	}
	return ""
}

// HasReturned reports whether a rollout was returned, as far as the row remembers.
func (r ChannelRow) HasReturned(rolloutID string) bool {
	_, found := r.returned(rolloutID)
	return found
}

// Return returns the row after a rollout was returned. next is the rollout if the row carries it, otherwise nil. The row
// must remember the target. Boxes with other versions, and those that are held, are told the same as before.
func (r ChannelRow) Return(rolloutID, version string, next *Carried, urgent bool, at time.Time) ChannelRow {
	if next != nil {
		r.Rollout = next
	}
	r.Returned = append(slices.Clone(r.Returned), Returned{rolloutID, version, urgent})
	r.Revision++
	r.UpdatedAt = at
	return r
}

// Hurried returns the row once plants need not be open for the return of a rollout, which it may carry.
func (r ChannelRow) Hurried(next Carried) ChannelRow {
	if r.Rollout != nil && r.Rollout.ID == next.ID {
		r.Rollout = &next
	}
	r.Returned = slices.Clone(r.Returned)
	for i := range r.Returned {
		r.Returned[i].Urgent = r.Returned[i].Urgent || r.Returned[i].RolloutID == next.ID
	}
	return r
}

// Knows reports whether the row explains how a box got a version: it is the channel's version, was so before, or is the
// target of a rollout that the row remembers, or a stone of one of these. A box may have got another version from a
// publication or rollout after the row was read.
func (r ChannelRow) Knows(version string) bool {
	return version == r.CurrentVersion || slices.Contains(r.Past, version) || r.IsStone(version) || r.ReturnedBy(version) != "" || r.Remembers(version)
}

// Remembers reports whether boxes that run a version keep it, although it is not the channel's.
func (r ChannelRow) Remembers(version string) bool {
	return slices.ContainsFunc(r.Remembered(), func(t RolloutTarget) bool { return t.Version == version })
}

// Publish applies a publication to a row. The published version reaches every box, so the row forgets its rollout and all
// remembered targets. To publish the same again is a change, too: it reaches boxes that keep a newer release.
func (r ChannelRow) Publish(p Publication, at time.Time) ChannelRow {
	published := Channel{
		EdgeType: p.EdgeType, Channel: p.Channel,
		CurrentVersion: p.CurrentVersion, ArtifactURL: p.ArtifactURL, SHA256: p.SHA256, Details: p.Details, Delivery: p.Delivery,
		Revision: r.Revision + 1, UpdatedAt: at,
	}
	return ChannelRow{Channel: published, Past: r.past(p.CurrentVersion), PublishedAt: at}
}

// Hastening returns the row with what its version may pass by, since it was published.
func (r ChannelRow) Hastening(urgent bool, of Urgency) ChannelRow {
	r.Haste = hasteOf(of.Haste(urgent, r.UpdatedAt))
	return r
}

// past lists the former versions after a change of the channel's version to next.
func (r ChannelRow) past(next string) []string {
	if r.Revision == 0 {
		return nil
	}
	var list []string
	for _, v := range append([]string{r.CurrentVersion}, r.Past...) {
		if v != next && !slices.Contains(list, v) && len(list) < MostPast {
			list = append(list, v)
		}
	}
	return list
}

// Begin returns the row after the start of a rollout. The targets of earlier rollouts stay remembered.
func (r ChannelRow) Begin(c Carried) ChannelRow {
	earlier := r.Remembered()
	r.Returned = slices.DeleteFunc(slices.Clone(r.Returned), func(b Returned) bool { return b.Version == c.TargetVersion })
	r.Earlier, r.Rollout = earlier, &c
	return r
}

// Adopt returns the row after the completion of a rollout that reached everyone: its target is the channel's version,
// and earlier targets are forgotten. The row carries the rollout; c is the completed one. The address of the bytes is that
// of the target's release.
func (r ChannelRow) Adopt(c Carried, target Release, at time.Time) ChannelRow {
	r.Past, r.Kept, r.Haste = r.past(c.TargetVersion), r.keeping(c.TargetVersion), hasteOf(r.Rollout.Haste)
	r.Rollout, r.Earlier, r.Returned = &c, nil, nil
	r.CurrentVersion, r.ArtifactURL, r.SHA256 = c.TargetVersion, target.At(c.Target()).ArtifactURL, c.SHA256
	r.Details, r.Delivery = target.Of(c.Target())
	r.Revision++
	r.UpdatedAt = at
	return r.Showing(target)
}

// ETag is the row's entity tag, empty if there is no channel. It changes with the channel and with the rollout that the
// row carries.
func (r ChannelRow) ETag() string {
	switch {
	case r.Revision == 0:
		return ""
	case r.Rollout == nil:
		return `"` + strconv.FormatInt(r.Revision, 10) + `"`
	}
	return `"` + strconv.FormatInt(r.Revision, 10) + "-" + r.Rollout.ID + "-" + strconv.FormatInt(r.Rollout.Revision, 10) + `"`
}

// A View is a channel as API answers show it.
type View struct {
	Channel
	Lineage                      // of the version; only if the channel is read alone, as the documents
	Documents     []Document     `json:"documents,omitempty"`
	ActiveRollout *ActiveRollout `json:"activeRollout,omitempty"`
}

// An ActiveRollout is what a channel shows of its active rollout.
type ActiveRollout struct {
	ID            string `json:"id"`
	TargetVersion string `json:"targetVersion"`
	StagedPercent int    `json:"staged_percent"`
	Revision      int64  `json:"revision"`
	Guard         string `json:"guard"`
}

// View returns the row as API answers show it.
func (r ChannelRow) View() View {
	v := View{Channel: r.Channel}
	if c := r.Rollout; c != nil && c.Active {
		v.ActiveRollout = &ActiveRollout{ID: c.ID, TargetVersion: c.TargetVersion, StagedPercent: c.StagedPercent, Revision: c.Revision, Guard: c.Guard}
	}
	return v
}
