// Package release is about release channels and what is published on them.
//
// A channel is the pair (edge type, channel name). Publishing sets the version that the boxes of the
// channel resolve at their next poll. A version never changes its bytes: the first publication of a
// version of an edge type binds it to its digest for ever, on every channel.
package release

import (
	"slices"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/value"
)

// Rules of what a publication holds.
var (
	// VersionRule takes any scheme of versions: they are compared for equality only.
	VersionRule = &value.Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._+-]{0,63}`,
		Says:    "1 to 64 letters, digits, dots, underscores, plus signs or hyphens, the first a letter or digit",
	}
	// ArtifactURLRule takes an absolute https URL that a box can fetch without being given secrets. The
	// pattern is the whole rule, as RFC 3986 has it, so that the published contract can say the same.
	ArtifactURLRule = &value.Text{
		Pattern: `https://([A-Za-z0-9._~-]+|\[(` + ipv6 + `)\])(:(` + port + `))?([/?]([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?`,
		Max:     2048,
		Says:    "an absolute https URL with a host, without user information and fragment",
	}
)

// An address of IPv6 without an embedded one of IPv4 (RFC 3986, section 3.2.2), by where it is shortened,
// and the numbers that a port can be.
const (
	h16  = `[0-9A-Fa-f]{1,4}`
	ipv6 = `(` + h16 + `:){7}(` + h16 + `|:)|(` + h16 + `:){6}((:` + h16 + `){1,1}|:)|(` + h16 + `:){5}((:` + h16 + `){1,2}|:)|(` +
		h16 + `:){4}((:` + h16 + `){1,3}|:)|(` + h16 + `:){3}((:` + h16 + `){1,4}|:)|(` + h16 + `:){2}((:` + h16 + `){1,5}|:)|` +
		h16 + `:((:` + h16 + `){1,6}|:)|:((:` + h16 + `){1,7}|:)`
	port = `[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]`
)

// A Channel is what is published on a pair.
type Channel struct {
	EdgeType       string    `json:"edgeType"`
	Channel        string    `json:"channel"`
	CurrentVersion string    `json:"currentVersion"`
	ArtifactURL    string    `json:"artifactUrl"`
	SHA256         string    `json:"sha256"`
	Revision       int64     `json:"revision"` // counts publications from 1; 0: there is no such channel
	UpdatedAt      time.Time `json:"updatedAt"`
}

// ID names the channel in the audit trail and in messages.
func (c Channel) ID() string { return Pair(c.EdgeType, c.Channel) }

// Pair is the text form of an edge type and a channel. Neither can hold a slash.
func Pair(edgeType, channel string) string { return edgeType + "/" + channel }

// A Wave is the present or last rollout of a channel, as the channel's row carries it: all that a
// poll needs, so that a poll reads one item. It is a copy of the rollout, written in the same
// transactions, and no part of the Channel that callers see.
type Wave struct {
	ID            string `json:"id"`
	TargetVersion string `json:"targetVersion"`
	ArtifactURL   string `json:"artifactUrl"`
	SHA256        string `json:"sha256"`
	StagedPercent int    `json:"stagedPercent"`
	Active        bool   `json:"active"`
	Revision      int64  `json:"revision"`
	// ChangedAt is when the rollout last changed.
	ChangedAt time.Time `json:"changedAt"`
}

// A Target is a version that a rollout brought to boxes, and where its bytes are.
type Target struct {
	Version     string `json:"version"`
	ArtifactURL string `json:"artifactUrl"`
	SHA256      string `json:"sha256"`
}

// Target is the wave's.
func (w Wave) Target() Target {
	return Target{Version: w.TargetVersion, ArtifactURL: w.ArtifactURL, SHA256: w.SHA256}
}

// A Row is a channel, the wave that it remembers, and the targets of the waves before that one. Boxes
// may hold those still; they stay remembered until a publication, or a rollout that reached everyone,
// says where such boxes go. Without them the start of a rollout would send boxes back that hold the
// target of an earlier one which was halted.
type Row struct {
	Channel
	Wave    *Wave    `json:"wave,omitempty"`
	Earlier []Target `json:"earlier,omitempty"` // each version once, MostEarlier at most
}

// LastChange is when something on the channel was last published, started, moved or ended.
func (r Row) LastChange() time.Time {
	if r.Wave != nil && r.Wave.ChangedAt.After(r.UpdatedAt) {
		return r.Wave.ChangedAt
	}
	return r.UpdatedAt
}

// MostEarlier bounds the targets that a row remembers, and with them what a poll reads.
const MostEarlier = 16

// Remembered lists the targets that boxes may hold and that are not the channel's version: those
// which the row remembers once another wave takes the place of its own.
func (r Row) Remembered() []Target {
	list := []Target{}
	if r.Wave != nil {
		list = append(list, r.Wave.Target())
	}
	for _, t := range r.Earlier {
		if !slices.ContainsFunc(list, func(u Target) bool { return u.Version == t.Version }) {
			list = append(list, t)
		}
	}
	return slices.DeleteFunc(list, func(t Target) bool { return t.Version == r.CurrentVersion })
}

// A Release is a version of an edge type and the bytes that it stands for.
type Release struct {
	EdgeType    string    `json:"edgeType"`
	Version     string    `json:"version"`
	ArtifactURL string    `json:"artifactUrl"` // where the bytes were last said to be
	SHA256      string    `json:"sha256"`
	PublishedAt time.Time `json:"publishedAt"` // first, on any channel
}

// A Publication is a caller's wish to put a version on a channel.
type Publication struct {
	EdgeType, Channel, CurrentVersion, ArtifactURL, SHA256 string
}

// publish decides what a publication makes of a row: the next row and the event that tells of it; no
// event where nothing changes. Rollouts that have ended are forgotten, which is the explicit way to send
// boxes back; an active one goes on. Publishing what is there already changes nothing, unless there is
// something to forget.
func (r Row) publish(p Publication, at time.Time) (next Row, event string) {
	next = r
	if r.Wave != nil && !r.Wave.Active {
		next.Wave = nil
	}
	same := r.Revision > 0 && r.CurrentVersion == p.CurrentVersion && r.ArtifactURL == p.ArtifactURL && r.SHA256 == p.SHA256
	if same && next.Wave == r.Wave && len(r.Earlier) == 0 {
		return r, ""
	}
	next.Earlier = nil
	next.Channel = Channel{
		EdgeType: p.EdgeType, Channel: p.Channel,
		CurrentVersion: p.CurrentVersion, ArtifactURL: p.ArtifactURL, SHA256: p.SHA256,
		Revision: r.Revision + 1, UpdatedAt: at,
	}
	return next, "ReleasePublished"
}

// Begin is the row once a rollout starts on the channel. The targets of those before it stay remembered.
func (r Row) Begin(w Wave) Row {
	earlier := r.Remembered()
	r.Earlier, r.Wave = nil, &w
	if len(earlier) > 0 { // an empty list is left out: the embedded store cannot keep one
		r.Earlier = earlier
	}
	return r
}

// Adopt is the row once a rollout that reached everyone is completed: its target is the channel's
// version, and what earlier rollouts brought is remembered no longer.
func (r Row) Adopt(w Wave, at time.Time) Row {
	r.Wave, r.Earlier = &w, nil
	r.CurrentVersion, r.ArtifactURL, r.SHA256 = w.TargetVersion, w.ArtifactURL, w.SHA256
	r.Revision++
	r.UpdatedAt = at
	return r
}

// allows tells whether a version that may have been published before can be published with a digest.
func (r Release) allows(p Publication) error {
	if r.SHA256 != "" && r.SHA256 != p.SHA256 {
		return problem.New(problem.ReleaseImmutable,
			"Version %s of %s was published with the digest %s; a version never changes its bytes. Publish the new bytes as a new version.",
			p.CurrentVersion, p.EdgeType, r.SHA256)
	}
	return nil
}

// published is the release once a publication says where its bytes are. The first publication binds the
// version to its digest.
func (r Release) published(p Publication, at time.Time) Release {
	next := Release{EdgeType: p.EdgeType, Version: p.CurrentVersion, ArtifactURL: p.ArtifactURL, SHA256: p.SHA256, PublishedAt: at}
	if !r.PublishedAt.IsZero() {
		next.PublishedAt = r.PublishedAt
	}
	return next
}
