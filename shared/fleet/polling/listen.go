package polling

import (
	"context"
	"strings"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// A Bell answers boxes that listen for changes to their channel. It is safe for concurrent use.
type Bell struct {
	channels *cache.Channels
	rings    *cache.Of[bell.Rings]
	keep     time.Duration
	pace     bell.Pace
	now      func() time.Time
}

// BellSettings lists the settings that NewBell reads.
var BellSettings = []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.ChannelCacheSeconds}

// NewBell makes a bell, with one cache for the container. A change rings as late as a poll shows it, since both read
// cached values.
func NewBell(db *dynamo.DB, r *setting.Values, now func() time.Time) *Bell {
	keep := seconds(r, setting.ChannelCacheSeconds)
	return &Bell{
		channels: cache.NewChannels(release.NewStore(db), keep, now),
		rings: cache.New(now, func(ctx context.Context, edgeType, channel string) (bell.Rings, error) {
			return bell.Get(ctx, db, edgeType, channel)
		}),
		keep: keep, pace: bell.Pace{Busy: seconds(r, setting.PollIntervalSeconds), Idle: seconds(r, setting.IdlePollIntervalSeconds)}, now: now,
	}
}

// Ask returns what the bell says at an address that was made with the secret. It returns UNAVAILABLE.
func (b *Bell) Ask(ctx context.Context, with bell.Secret, at bell.Address) (bell.Response, error) {
	var row release.ChannelRow
	var rings bell.Rings
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			row, err = b.channels.Row(ctx, at.EdgeType, at.Channel, "")
			return err
		},
		func(ctx context.Context) (err error) {
			rings, err = b.rings.Get(ctx, at.EdgeType, at.Channel, b.keep)
			return err
		})
	if err != nil {
		return bell.Response{}, err
	}
	return with.Answer(bell.Scene{Row: row.ETag(), ChangedAt: row.LastChange(), Rings: rings}, b.pace, b.now()), nil
}

// An Address is where a box listens, and the code with which it is called there.
type Address struct {
	URL  string `json:"url"`
	Call string `json:"call"`
}

// CountSizes returns how many boxes each stage of a rollout had at its last count; nil if there is none.
type CountSizes func(ctx context.Context, rolloutID string) (bell.Sizes, error)

// BellKeys give the secret that addresses are made with; see package keys.
type BellKeys interface {
	// Present returns UNAVAILABLE if the secret cannot be read.
	Present(ctx context.Context) (bell.Secret, error)
	// Missing reports whether no secret is configured.
	Missing() bool
}

// Listening is what polls of listening boxes need in addition to other polls. The zero Listening is for a deployment
// without a bell.
type Listening struct {
	url       string
	heartbeat time.Duration
	keys      BellKeys
	Watch
}

// A Watch knows which boxes the guard may look up. The zero Watch takes all for such boxes.
type Watch struct{ sizes *cache.Of[bell.Sizes] }

// NewWatch makes a Watch.
func NewWatch(count CountSizes, now func() time.Time) Watch {
	return Watch{cache.New(now, func(ctx context.Context, rolloutID, _ string) (bell.Sizes, error) {
		return count(ctx, rolloutID)
	})}
}

// Near reports whether the channel's rollout has reached a box, or the guard may compare it with boxes that it has
// reached.
func (w Watch) Near(ctx context.Context, channel release.ChannelRow, row report.Row) func() bool {
	return func() bool {
		c := channel.Rollout
		return c.Reaches(row.EdgeType, row.EdgeID, row.OrganizationID, row.FirstAt(), false) || w.among(ctx, *c, row, bell.Sizes.Watched)
	}
}

// among reports whether a box is one of those that the guard may look up. If the sizes of the stages cannot be read, every
// box is.
func (w Watch) among(ctx context.Context, c release.Carried, row report.Row, of func(s bell.Sizes, edgeID string, percent int) bool) bool {
	if w.sizes == nil {
		return true
	}
	sizes, err := w.sizes.Get(ctx, c.ID, "", sizesKeep)
	if err != nil {
		sizes = nil
	}
	return of(sizes, row.EdgeID, cohort.FirstStage(row.EdgeType, c.TargetVersion, row.EdgeID))
}

// ListeningSettings lists the settings that NewListening and its keys read.
var ListeningSettings = append([]setting.Name{setting.BellURL, setting.HeartbeatSeconds}, bell.KeySettings...)

// NewListening makes a Listening from the settings.
func NewListening(r *setting.Values, keys BellKeys, count CountSizes, now func() time.Time) Listening {
	l := Listening{url: strings.TrimSuffix(r.Text(setting.BellURL), "/"), heartbeat: seconds(r, setting.HeartbeatSeconds), keys: keys}
	if l.url != "" && keys.Missing() {
		r.Fault("%s must be set with %s", setting.BellSecretID, setting.BellURL)
	}
	l.Watch = NewWatch(count, now)
	return l
}

const (
	// sizesKeep is how long a container keeps the sizes of a rollout's stages.
	sizesKeep = 10 * time.Second
	// attentiveOffer is the longest time for which a box that was offered a version polls often.
	attentiveOffer = time.Hour
)

// tell adds to a manifest what a listening box needs. row is the box's once the poll is recorded.
func (l Listening) tell(ctx context.Context, m *Manifest, s Settings, f found, row report.Row, now time.Time) error {
	secret, err := l.keys.Present(ctx)
	if err != nil {
		return err
	}
	m.Bell = &Address{URL: l.url + secret.Address(m.EdgeType, m.Channel).Path(), Call: secret.Call(m.EdgeID)}
	m.PollIntervalSeconds = wholeSeconds(f.next(s.ListenInterval(l.heartbeat, row.Group != "" || l.watched(ctx, f.Channel, row, now), row.Offer, now), now))
	return nil
}

// ListenInterval is how often a listening box polls while nothing rings.
func (s Settings) ListenInterval(heartbeat time.Duration, watched bool, offer *report.Offer, now time.Time) time.Duration {
	quiet := max(s.PollInterval, s.IdlePollInterval)
	undecided := offer != nil && (offer.State == report.Offered || offer.State == report.Working)
	switch {
	case watched:
		return quiet // whether or not it was told: the guard compares boxes that were with boxes that were not
	case undecided && now.Sub(offer.Since) < attentiveOffer:
		return s.PollInterval
	}
	return max(quiet, heartbeat)
}

// watched reports whether the guard may look up when the box was last seen.
func (l Listening) watched(ctx context.Context, channel release.ChannelRow, row report.Row, now time.Time) bool {
	c := channel.Rollout
	if c == nil || !c.Active && now.Sub(c.ChangedAt) >= bell.AfterEnd(l.heartbeat) {
		return false
	}
	return l.among(ctx, *c, row, bell.Sizes.Watched)
}
