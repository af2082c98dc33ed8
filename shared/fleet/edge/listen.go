package edge

import (
	"context"
	"strings"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// A Bell answers boxes that listen for changes of their channel. It is safe for concurrent use.
type Bell struct {
	channels *Channels
	rings    *cache[bell.Rings]
	keep     time.Duration
	pace     bell.Pace
	now      func() time.Time
}

// BellSettings are those of NewBell.
var BellSettings = []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.ChannelCacheSeconds}

// NewBell makes a bell, with one cache for the container. What the caches hold rings as late as a poll tells it.
func NewBell(db *dynamo.DB, r *setting.Values, now func() time.Time) *Bell {
	keep := seconds(r, setting.ChannelCacheSeconds)
	return &Bell{
		channels: NewChannels(release.NewStore(db), keep, now),
		rings: newCache(instants(now), func(ctx context.Context, edgeType, channel string) (bell.Rings, error) {
			return bell.Get(ctx, db, edgeType, channel)
		}),
		keep: keep, pace: bell.Pace{Busy: seconds(r, setting.PollIntervalSeconds), Idle: seconds(r, setting.IdlePollIntervalSeconds)}, now: now,
	}
}

// Ask is what the bell says at an address that was made with the secret. It returns UNAVAILABLE.
func (b *Bell) Ask(ctx context.Context, with bell.Secret, at bell.Address) (bell.Response, error) {
	var row release.ChannelRow
	var rings bell.Rings
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			row, err = b.channels.Row(ctx, at.EdgeType, at.Channel, "")
			return err
		},
		func(ctx context.Context) (err error) {
			rings, err = b.rings.get(ctx, at.EdgeType, at.Channel, b.keep)
			return err
		})
	if err != nil {
		return bell.Response{}, err
	}
	return with.Answer(bell.Scene{Row: row.ETag(), ChangedAt: row.LastChange(), Rings: rings}, b.pace, b.now()), nil
}

// An Address is where a box listens, and the code by which it is called there.
type Address struct {
	URL  string `json:"url"`
	Call string `json:"call"`
}

// CountSizes tells how many boxes each stage of a rollout has by its last count; nil if there is none.
type CountSizes func(ctx context.Context, rolloutID string) (bell.Sizes, error)

// BellKeys give the secret that addresses are made with; see package keys.
type BellKeys interface {
	// Present returns UNAVAILABLE if the secret cannot be read.
	Present(ctx context.Context) (bell.Secret, error)
	// Missing reports whether no secret is named.
	Missing() bool
}

// Listening is what polls of boxes that listen need beside those of others. The zero Listening is of a stage without a
// bell.
type Listening struct {
	url       string
	heartbeat time.Duration
	keys      BellKeys
	sizes     *cache[bell.Sizes]
}

// ListeningSettings are those of NewListening and of its keys.
var ListeningSettings = append([]setting.Name{setting.BellURL, setting.HeartbeatSeconds}, bell.KeySettings...)

// NewListening makes a Listening of the settings.
func NewListening(r *setting.Values, keys BellKeys, count CountSizes, now func() time.Time) Listening {
	l := Listening{url: strings.TrimSuffix(r.Text(setting.BellURL), "/"), heartbeat: seconds(r, setting.HeartbeatSeconds), keys: keys}
	if l.url != "" && keys.Missing() {
		r.Fault("%s must be set with %s", setting.BellSecretID, setting.BellURL)
	}
	l.sizes = newCache(instants(now), func(ctx context.Context, rolloutID, _ string) (bell.Sizes, error) {
		return count(ctx, rolloutID)
	})
	return l
}

const (
	// sizesKeep is how long a container keeps the sizes of a rollout's stages.
	sizesKeep = 10 * time.Second
	// attentiveOffer is how long a box that was offered a version polls often, at the most.
	attentiveOffer = time.Hour
)

// tell adds to a manifest what a box that listens is told. row is the box's once the poll is recorded.
func (l Listening) tell(ctx context.Context, m *Manifest, s Settings, channel release.ChannelRow, row report.Row, now time.Time) error {
	secret, err := l.keys.Present(ctx)
	if err != nil {
		return err
	}
	m.Bell = &Address{URL: l.url + secret.Address(m.EdgeType, m.Channel).Path(), Call: secret.Call(m.EdgeID)}
	m.PollIntervalSeconds = int(s.ListenInterval(l.heartbeat, l.watched(ctx, channel, row, now), row.Offer, now) / time.Second)
	return nil
}

// ListenInterval is how often a box that listens polls while nothing rings.
func (s Settings) ListenInterval(heartbeat time.Duration, watched bool, offer *report.Offer, now time.Time) time.Duration {
	quiet := max(s.PollInterval, s.IdlePollInterval)
	undecided := offer != nil && (offer.State == report.Offered || offer.State == report.Working)
	switch {
	case watched:
		return quiet // whatever it was told: the guard compares those who were with those who were not
	case undecided && now.Sub(offer.Since) < attentiveOffer:
		return s.PollInterval
	}
	return max(quiet, heartbeat)
}

// watched reports whether the guard may look when the box was last seen. If the sizes of the stages cannot be read, all
// boxes are watched.
func (l Listening) watched(ctx context.Context, channel release.ChannelRow, row report.Row, now time.Time) bool {
	c := channel.Rollout
	if c == nil || !c.Active && now.Sub(c.ChangedAt) >= bell.AfterEnd(l.heartbeat) {
		return false
	}
	sizes, err := l.sizes.get(ctx, c.ID, "", sizesKeep)
	if err != nil {
		sizes = nil
	}
	return sizes.Watched(row.EdgeID, cohort.FirstStage(row.EdgeType, c.TargetVersion, row.EdgeID))
}
