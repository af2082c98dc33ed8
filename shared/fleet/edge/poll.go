package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Manifest is the answer to a poll: what a box is to run and where the bytes are.
type Manifest struct {
	EdgeID      string `json:"edgeId"`
	EdgeType    string `json:"edgeType"`
	Channel     string `json:"channel"`
	Version     string `json:"version"`
	ArtifactURL string `json:"artifactUrl"`
	SHA256      string `json:"sha256"`
	Source      Source `json:"source"`
	RolloutID   string `json:"rolloutId,omitempty"`
	// Installed is what the box said it runs, so that the entity tag covers what was reported, too.
	Installed string `json:"installed,omitempty"`
	// PollIntervalSeconds is how long the box is asked to wait before its next poll.
	PollIntervalSeconds int `json:"pollIntervalSeconds"`
}

// Encode gives the manifest's bytes and their entity tag. The tag is strong: the same bytes for the same
// caller have the same tag, on every container, and other bytes another. It is a receipt, so another
// caller's tag for the same bytes is none of theirs.
func (m Manifest) Encode(caller string) (body json.RawMessage, etag string, err error) {
	if body, err = json.Marshal(m); err != nil {
		return nil, "", fmt.Errorf("edge: encode a manifest: %w", err)
	}
	sum := sha256.Sum256(append([]byte(caller+"\n"), body...))
	return body, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, nil
}

// A Poll is what a poll says.
type Poll struct {
	EdgeID    string
	Installed string // what the box says it runs, or empty
	// Caller names who polls, and Tag is the entity tag of the last answer, as the caller sent it.
	Caller, Tag string
	// Issuer is that of the box's own token. It is empty where somebody else looks who may see every box.
	Issuer string
	// Subject is what the fair-use limiter counts a box under. It is empty where somebody else looks at a
	// box's manifest: that is no report.
	Subject string
}

// A Reply is what a poll is answered with.
type Reply struct {
	Manifest Manifest
	// ETag is the receipt: what this answer tells and what the poll told are in the box's report row. It is
	// empty where that could not be written, so that the next poll tries again.
	ETag        string
	NotModified bool
	// Unrecorded is why the report could not be written.
	Unrecorded error
}

// Polls answers polls. In the common case a poll reads half a unit and nothing else: the box, eventually
// consistent. The row of its channel comes from Channels. A poll that finds no row there, one in 2 s a
// channel and container, reads it after the box, since it is the box that names the channel. Where a
// rollout gives the version, the same holds of the version's release, which says where the bytes are.
//
// The poll is the report. A box sends the tag of its last answer. While that is the tag of this answer,
// nothing is new and nothing is read or written about it. Otherwise the box is told something new or runs
// something new: its report row is read, and written if it changes, before the answer.
//
// What the cheap read means: a box that was moved to another channel follows it from its next poll on,
// if that comes about a second or more after the move was answered; a poll that comes sooner may still
// be told of the old channel. Polls are a minute apart, so a strongly consistent read would double the
// cost of every poll for what hardly any meets. A box that was registered a moment ago is not told that
// it does not exist: before that is said, the box is read again, strongly consistent.
type Polls struct {
	edges    *Store
	reports  *report.Store
	channels *Channels
	settings Settings
	now      func() time.Time
}

// NewPolls makes what answers polls, with one cache of channels for the container.
func NewPolls(db *dynamo.DB, settings Settings, now func() time.Time) *Polls {
	return &Polls{
		edges:    NewStore(db),
		reports:  report.NewStore(db, settings.Shards),
		channels: NewChannels(release.NewStore(db), settings.ChannelCache, now),
		settings: settings,
		now:      now,
	}
}

// recordTime is how long a poll waits for its report. It starts when the limiter has admitted the poll.
const recordTime = 200 * time.Millisecond

// Answer answers a poll. It returns NOT_FOUND for a box that is not registered, for one that the poll's
// issuer does not speak for, and for a channel that nothing is published on. A report that cannot be written never fails a poll.
func (p *Polls) Answer(ctx context.Context, poll Poll) (Reply, error) {
	e, r, m, err := p.resolve(ctx, poll)
	if err != nil {
		return Reply{}, err
	}
	_, etag, err := m.Encode(poll.Caller)
	if err != nil {
		return Reply{}, err
	}
	if etag == poll.Tag {
		return Reply{Manifest: m, ETag: etag, NotModified: true}, nil
	}
	if poll.Subject == "" {
		return Reply{Manifest: m, ETag: etag}, nil
	}
	if err := admission.Wait(ctx); err != nil {
		return Reply{}, err
	}
	reply := Reply{Manifest: m, ETag: etag}
	if reply.Unrecorded = p.record(ctx, e, r, poll); reply.Unrecorded != nil {
		reply.ETag = ""
	}
	return reply, nil
}

// resolve finds what a box is told.
func (p *Polls) resolve(ctx context.Context, poll Poll) (Edge, Resolution, Manifest, error) {
	e, err := p.edges.Polled(ctx, poll.EdgeID)
	if err != nil {
		return Edge{}, Resolution{}, Manifest{}, err
	}
	if poll.Issuer != "" && !p.settings.Issuers.Speak(e.Issuer, poll.Issuer) {
		return Edge{}, Resolution{}, Manifest{}, problem.Missing()
	}
	row, err := p.channels.Row(ctx, e.EdgeType, e.Channel, poll.Installed)
	if err != nil {
		return Edge{}, Resolution{}, Manifest{}, err
	}
	r, ok := Resolve(e, poll.Installed, row)
	if !ok {
		return Edge{}, Resolution{}, Manifest{}, problem.New(problem.NotFound, "Nothing is published on the release channel %s, which the box follows.", e.Pair())
	}
	if r.Source != FromChannel {
		if r.Target, err = p.channels.Target(ctx, e.EdgeType, r.Target); err != nil {
			return Edge{}, Resolution{}, Manifest{}, err
		}
	}
	return e, r, Manifest{
		EdgeID: e.EdgeID, EdgeType: e.EdgeType, Channel: e.Channel,
		Version: r.Version, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256,
		Source: r.Source, RolloutID: r.RolloutID, Installed: poll.Installed,
		PollIntervalSeconds: int(p.settings.Interval(row, p.now()) / time.Second),
	}, nil
}

// record writes what a poll says and what it is told into the box's report row, if that changes.
func (p *Polls) record(ctx context.Context, e Edge, r Resolution, poll Poll) error {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	event := report.Poll{Told: r.Version, Running: report.Shown(poll.Installed), Subject: poll.Subject, At: p.now().UTC().Truncate(time.Millisecond)}
	if r.Source == FromRollout {
		event.RolloutID, event.Stage = r.RolloutID, cohort.FirstStage(e.EdgeType, r.Version, e.EdgeID)
	}
	_, err := p.reports.Observe(ctx, e.Registration(), event)
	return err
}
