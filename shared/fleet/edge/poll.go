package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"wavegate/shared/access/auth"
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
	// Bell is where a box that asks for it listens for changes; nil: it did not ask, or the stage has no bell.
	Bell *Address `json:"bell,omitempty"`
}

// Encode gives the manifest's bytes and their entity tag. The tag is strong: the same bytes for the same
// caller have the same tag, on every container. Other bytes have another one, and so has another caller.
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
	// Listens is set if the box asks where to listen, and polls less often then.
	Listens bool
	// Caller names who polls, and Tag is the entity tag of the last answer, as the caller sent it.
	Caller, Tag string
	// Speaker is the caller as the box. It is the zero Principal if somebody looks who may see every box.
	Speaker auth.Principal
	// Subject is what the fair-use limiter counts a box under. It is empty where somebody else looks at a
	// box's manifest: that is no report.
	Subject string
}

// A Reply is what a poll is answered with.
type Reply struct {
	Manifest Manifest
	// Body is the manifest as it is sent.
	Body json.RawMessage
	// ETag is the tag of the manifest. It is empty if what this answer tells and what the poll told could not be
	// written into the box's report row.
	ETag        string
	NotModified bool
	// Unrecorded is why the report could not be written.
	Unrecorded error
	// NoBell is why a box that asked is not told where to listen. It polls as boxes do that do not listen.
	NoBell error
}

// Polls answers polls. In the common case a poll reads half a unit and nothing else: the box's report row,
// eventually consistent. It says what the registration says, too. The row of its channel comes from
// Channels. A poll that finds no row there, one in 2 s a channel and container, reads it after the box,
// since it is the box that names the channel. Where a rollout gives the version, the same holds of the
// version's release, which says where the bytes are.
//
// The poll is the report. If the row says what the poll says and what the answer tells, nothing is new.
// Otherwise the row is read strongly consistent, and written if it changes, before the answer. Whether
// something is new is never decided by the tag that the box sends: a box whose state falls back sends an
// old tag together with what it ran then.
//
// What the cheap read means: a box that was moved to another channel follows it from its next poll on,
// if that comes about a second or more after the move was answered; a poll that comes sooner may still
// be told of the old channel. Polls are a minute apart, so a strongly consistent read would double the
// cost of every poll for a case that rarely occurs. A box that was registered a moment ago is not told that
// it does not exist: before that is said, the box is read again, strongly consistent.
type Polls struct {
	box
	channels *Channels
	settings Settings
	bell     Listening
	now      func() time.Time
}

// NewPolls makes what answers polls, with one cache of channels for the container.
func NewPolls(db *dynamo.DB, settings Settings, now func() time.Time) *Polls {
	return &Polls{
		box:      box{report.NewStore(db, settings.Shards)},
		channels: NewChannels(release.NewStore(db), settings.ChannelCache, now),
		settings: settings,
		now:      now,
	}
}

// With makes the polls tell boxes where to listen, if the stage has a bell.
func (p *Polls) With(l Listening) *Polls {
	p.bell = l
	return p
}

// recordTime is how long a poll waits for its report. It starts when the limiter has admitted the poll.
const recordTime = 200 * time.Millisecond

// Answer answers a poll. It returns NOT_FOUND for a box that is not registered, for one that the speaker does not speak for,
// and for a channel that nothing is published on, and UNAUTHENTICATED for a token that is not valid any more. A report that
// cannot be written never fails a poll.
func (p *Polls) Answer(ctx context.Context, poll Poll) (Reply, error) {
	found, err := p.resolve(ctx, poll)
	if err != nil {
		return Reply{}, err
	}
	event := p.event(found.box.EdgeType, found.Resolution, poll)
	by := report.By{Input: event, SHA256: poll.Speaker.Credential}
	next, news := report.Next(found.box, by)
	news = news && poll.Subject != ""
	reply := Reply{Manifest: found.manifest}
	if poll.Listens && p.bell.url != "" {
		reply.NoBell = p.bell.tell(ctx, &reply.Manifest, p.settings, found.channel, next, event.At)
	}
	if reply.Body, reply.ETag, err = reply.Manifest.Encode(poll.Caller); err != nil {
		return Reply{}, err
	}
	if !news {
		reply.NotModified = reply.ETag == poll.Tag
		return reply, nil
	}
	if err := admission.Wait(ctx); err != nil {
		return Reply{}, err
	}
	if reply.Unrecorded = p.record(ctx, found.box, by); reply.Unrecorded != nil {
		reply.ETag = ""
	}
	return reply, nil
}

// A found is what a poll finds: the box's report row, the row of its channel, and what the box is told.
type found struct {
	box     report.Row
	channel release.ChannelRow
	Resolution
	manifest Manifest
}

// resolve finds what a box is told.
func (p *Polls) resolve(ctx context.Context, poll Poll) (found, error) {
	box, err := p.find(ctx, poll.EdgeID)
	if err != nil {
		return found{}, err
	}
	if poll.Speaker.Issuer != "" {
		if err := p.settings.Issuers.Allow(poll.Speaker, box, p.now()); err != nil {
			return found{}, err
		}
	}
	e := Of(box)
	row, err := p.channels.Row(ctx, e.EdgeType, e.Channel, poll.Installed)
	if err != nil {
		return found{}, err
	}
	r, ok := Resolve(e, poll.Installed, row)
	if !ok {
		return found{}, problem.New(problem.NotFound, "Nothing is published on the release channel %s, which the box follows.", e.Pair())
	}
	if r.Source != FromChannel {
		if r.RolloutTarget, err = p.channels.Target(ctx, e.EdgeType, r.RolloutTarget); err != nil {
			return found{}, err
		}
	}
	return found{box, row, r, Manifest{
		EdgeID: e.EdgeID, EdgeType: e.EdgeType, Channel: e.Channel,
		Version: r.Version, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256,
		Source: r.Source, RolloutID: r.RolloutID, Installed: poll.Installed,
		PollIntervalSeconds: int(p.settings.Interval(row, p.now()) / time.Second),
	}}, nil
}

// event is what a poll and its answer say.
func (p *Polls) event(edgeType string, r Resolution, poll Poll) report.Polled {
	event := report.Polled{Told: r.Version, Running: report.Shown(poll.Installed), Subject: poll.Subject, At: p.now().UTC().Truncate(time.Millisecond)}
	if r.Source == FromRollout {
		event.RolloutID, event.Stage = r.RolloutID, cohort.FirstStage(edgeType, r.Version, poll.EdgeID)
	}
	return event
}

// record writes an event into the box's report row, if that changes it.
func (p *Polls) record(ctx context.Context, known report.Row, event report.Input) error {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	_, err := p.reports.Observe(ctx, Of(known).Registration(), event)
	return err
}
