package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"wavegate/shared/fleet/release"
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
	// PollIntervalSeconds is how long the box is asked to wait before its next poll.
	PollIntervalSeconds int `json:"pollIntervalSeconds"`
}

// Encode gives the manifest's bytes and their entity tag, which is strong: the same bytes have the same
// tag, on every container, and other bytes another.
func (m Manifest) Encode() (body json.RawMessage, etag string, err error) {
	if body, err = json.Marshal(m); err != nil {
		return nil, "", fmt.Errorf("edge: encode a manifest: %w", err)
	}
	sum := sha256.Sum256(body)
	return body, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, nil
}

// Polls answers polls. In the common case a poll reads half a unit and nothing else: the box, eventually
// consistent. The row of its channel comes from Channels. A poll that finds no row there, one in 2 s a
// channel and container, reads it after the box, since it is the box that names the channel. Where a
// rollout gives the version, the same holds of the version's release, which says where the bytes are.
//
// What the cheap read means: a box that was moved to another channel follows it from its next poll on,
// if that comes about a second or more after the move was answered; a poll that comes sooner may still
// be told of the old channel. Polls are a minute apart, so a strongly consistent read would double the
// cost of every poll for what hardly any meets. A box that was registered a moment ago is not told that
// it does not exist: before that is said, the box is read again, strongly consistent.
type Polls struct {
	edges    *Store
	channels *Channels
	interval time.Duration
	issuers  Issuers
}

// NewPolls makes what answers polls, with one cache of channels for the container.
func NewPolls(db *dynamo.DB, settings Settings, now func() time.Time) *Polls {
	return &Polls{
		edges:    NewStore(db),
		channels: NewChannels(release.NewStore(db), settings.ChannelCache, now),
		interval: settings.PollInterval,
		issuers:  settings.Issuers,
	}
}

// Manifest resolves a box's release; installed is what the box says it runs, or empty, and issuer is that of
// the box's own token, or empty for anyone else who may look. It returns NOT_FOUND for a box that is not
// registered, for one that the issuer does not speak for, and for a channel that nothing is published on.
func (p *Polls) Manifest(ctx context.Context, id, installed, issuer string) (Manifest, error) {
	e, err := p.edges.polled(ctx, id)
	if err != nil {
		return Manifest{}, err
	}
	if issuer != "" && !p.issuers.SpeaksFor(e, issuer) {
		return Manifest{}, problem.Missing()
	}
	row, err := p.channels.Row(ctx, e.EdgeType, e.Channel, installed)
	if err != nil {
		return Manifest{}, err
	}
	r, ok := Resolve(e, installed, row)
	if !ok {
		return Manifest{}, problem.New(problem.NotFound, "Nothing is published on the release channel %s, which the box follows.", e.Pair())
	}
	if r.Source != FromChannel {
		if r.Target, err = p.channels.Target(ctx, e.EdgeType, r.Target); err != nil {
			return Manifest{}, err
		}
	}
	return Manifest{
		EdgeID: e.EdgeID, EdgeType: e.EdgeType, Channel: e.Channel,
		Version: r.Version, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256,
		Source: r.Source, RolloutID: r.RolloutID,
		PollIntervalSeconds: int(p.interval / time.Second),
	}, nil
}
