// Package polling answers the polls of boxes: which version a box should run, and where it listens for changes. A release
// reaches the fleet only through these polls, and through those of package ddi.
package polling

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
)

// RunningRule accepts the version that a box says it has installed. The version is only compared for equality, so a
// box may report whatever it was built with, and an odd name does not prevent its update. Empty means that the box did
// not say.
var RunningRule = &input.Text{
	Max: 128, Check: input.Printable,
	Says: "at most 128 characters without control characters",
}

// InstalledRule is RunningRule for a query. There, + means a blank, and boxes send it as it is: 1.4.0+7 arrives as 1.4.0 7.
// No release's name has a blank.
var InstalledRule = &input.Text{Max: RunningRule.Max, Check: RunningRule.Check, Says: RunningRule.Says, Fit: plus}

var between = regexp.MustCompile(`([^ ]) ([^ ])`)

func plus(text string) string {
	for between.MatchString(text) { // a b c has two of them, which overlap
		text = between.ReplaceAllString(text, "$1+$2")
	}
	return text
}

// A Manifest is the answer to a poll: which version a box should run, and where its bytes are.
type Manifest struct {
	EdgeID   string `json:"edgeId"`
	EdgeType string `json:"edgeType"`
	Channel  string `json:"channel"`
	// Version is the release's name, or the box's own text for it if the box runs that release. Release is then its name.
	Version     string        `json:"version"`
	Release     string        `json:"release,omitempty"`
	ArtifactURL string        `json:"artifactUrl,omitempty"`
	SHA256      string        `json:"sha256,omitempty"`
	Source      decide.Source `json:"source"`
	// OpensAt is when the box's plant takes updates next; only for a box that waits, and if that is known.
	OpensAt   *time.Time `json:"opensAt,omitempty"`
	RolloutID string     `json:"rolloutId,omitempty"`
	// Towards is the version that the box is told once it runs this one; empty: this one is what it should run in the end.
	Towards string `json:"towards,omitempty"`
	// Installed is what the box said it runs, so that the entity tag also covers what was reported.
	Installed string `json:"installed,omitempty"`
	// PollIntervalSeconds is how long the box should wait before its next poll.
	PollIntervalSeconds int `json:"pollIntervalSeconds"`
	// Bell is where a box that asks for it listens for changes; nil: it did not ask, or the deployment has no bell.
	Bell *Address `json:"bell,omitempty"`
	// Health are the names of the health numbers that the box is asked to say with its polls; nil: none.
	Health []string `json:"health,omitempty"`
	// Door is the base URL of the door, where the box may poll and report with its token instead of at the API; empty: it
	// has no token of its own, or the deployment has no door.
	Door string `json:"door,omitempty"`
}

// Encode returns the manifest's bytes and their entity tag. The tag is strong: the same bytes for the same caller have
// the same tag in every container. Other bytes have a different tag, and so does another caller.
func (m Manifest) Encode(caller string) (body json.RawMessage, etag string, err error) {
	encode := json.Marshal
	if m.OpensAt != nil {
		encode = timestamp.JSON
	}
	if body, err = encode(m); err != nil {
		return nil, "", fmt.Errorf("edge: encode a manifest: %w", err)
	}
	sum := sha256.Sum256(append([]byte(caller+"\n"), body...))
	return body, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, nil
}

// A Poll holds what a poll says.
type Poll struct {
	EdgeID    string
	Installed string // what the box says it runs, or empty
	Text      string // the same, as it was sent
	// Listens is set if the box asks where to listen. It then polls less often.
	Listens bool
	// Heard is what the poll said that was read otherwise.
	Heard []input.Heard
	// Said are the health numbers that the box says, as it sent them; see report.NumbersOf.
	Said []string
	// Caller names who polls, and Tag is the entity tag of the last answer, as the caller sent it.
	Caller, Tag string
	// Speaker is the caller as the box. It is the zero Principal if the caller is a person who may see every box.
	Speaker auth.Principal
	// Subject is the name that the fair-use limiter counts a box under. It is empty if a person views a box's manifest,
	// which is not a report.
	Subject string
	// Calls returns when the box made its latest calls, the newest first, once the limiter has decided; nil: unknown.
	Calls func(context.Context) []time.Time
}

// PollOf reads a poll: the path parameter edgeId, and the query parameters installed, bell and health.
func PollOf(in *input.Reader) Poll {
	in.Hears()
	p := Poll{EdgeID: in.Path("edgeId", input.EdgeID)}
	p.Installed, p.Text = in.QuerySaid("installed", InstalledRule)
	p.Listens = in.Flag("bell")
	p.Said = in.QueryTexts("health") // which never fails a poll
	p.Heard = in.Heard()
	return p
}

// own is what the box says it runs, as it was sent, but with the plus signs that a query makes blanks.
func (p Poll) own() string {
	if RunningRule.Fitted(p.Text) == p.Installed {
		return p.Text
	}
	return p.Installed
}

// A Reply is the answer to a poll.
type Reply struct {
	Manifest Manifest
	// Body is the manifest as sent.
	Body json.RawMessage
	// ETag is the tag of the manifest. It is empty if the poll and its answer could not be written to the box's report
	// row.
	ETag        string
	NotModified bool
	// Unrecorded is why the report could not be written.
	Unrecorded error
	// Frequent is set if it was noted that the box calls too often.
	Frequent *Frequent
	// NoBell is why a box that asked is not told where to listen. It polls like boxes that do not listen.
	NoBell error
}

// Polls answers polls. In the common case a poll reads only the box's report row, eventually consistent, for half a
// read unit. The row also holds the registration. The row of the channel comes from Channels. A poll that finds no row
// there, one in 2 s per channel and container, reads it after the box, since the box names the channel. If a rollout
// gives the version, the same is true of the version's release, which says where the bytes are. If the version has
// stones, it is true of the releases of the stone and of what the box runs.
//
// The poll is the report. If the row already holds what the poll and its answer say, nothing is new. Otherwise the row
// is read strongly consistent, and written if it changes, before the answer. The tag that the box sends never decides
// whether something is new: a box that was restored to an old state sends an old tag with an old version.
//
// Consequences of the cheap read: a box that was moved to another channel follows it from its next poll on, if that
// comes at least about a second after the move was answered. An earlier poll may still get the old channel. Polls are a
// minute apart, so a strongly consistent read would double the cost of every poll for a case that rarely occurs. A box
// that was registered a moment ago never gets NOT_FOUND: the box is read again first, strongly consistent.
type Polls struct {
	boxauth.Finder
	from     *decide.Cache
	settings Settings
	bell     Listening
	now      func() time.Time
}

// NewPolls makes Polls, with one cache for the container. seen says when a box of a group was last seen.
func NewPolls(db *dynamo.DB, settings Settings, seen report.LastSeen, now func() time.Time) *Polls {
	return &Polls{
		Finder:   boxauth.Finder{Reports: report.NewStore(db, settings.Shards)},
		from:     decide.NewCache(db, settings.ChannelCache, settings.Shards, seen, now),
		settings: settings,
		now:      now,
	}
}

// With makes the polls tell boxes where to listen, if the deployment has a bell.
func (p *Polls) With(l Listening) *Polls {
	p.bell = l
	return p
}

// recordTime is how long a poll waits for its report to be written. It starts when the limiter has admitted the poll.
const recordTime = 200 * time.Millisecond

// Answer answers a poll. It returns NOT_FOUND for a box that is not registered, for one that the speaker does not speak
// for, and for a channel that nothing is published on, and UNAUTHENTICATED for a token that is no longer valid. A
// report that cannot be written never fails a poll.
func (p *Polls) Answer(ctx context.Context, poll Poll) (Reply, error) {
	found, err := p.resolve(ctx, poll)
	if err != nil {
		return Reply{}, err
	}
	event := p.event(found, poll)
	if asked := found.manifest.Health; asked != nil {
		event.Numbers, event.NumbersFor = report.NumbersOf(poll.Said, asked), found.Channel.Rollout.TargetVersion
	}
	if poll.Calls != nil {
		event.Calls, event.Every = poll.Calls(ctx), found.every
	}
	by := report.By{Input: event, SHA256: poll.Speaker.Credential, Way: report.ByPoll, Heard: poll.Heard}
	next, news := report.Next(found.box, by)
	news = news && poll.Subject != ""
	reply := Reply{Manifest: found.manifest}
	if poll.Listens && p.bell.url != "" {
		reply.NoBell = p.bell.tell(ctx, &reply.Manifest, p.settings, found, next, event.At)
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
	if reply.Unrecorded = p.record(ctx, found.box, by, found.Turn); reply.Unrecorded != nil {
		if found.Turn != nil { // another box of the group may be told now
			return Reply{}, problem.Wrap(reply.Unrecorded, problem.Unavailable, "Another box of the group is told something at this moment; poll again.").After(time.Second)
		}
		reply.ETag = ""
		return reply, nil
	}
	reply.Frequent = Noted(found.box, next)
	return reply, nil
}

// A found holds a box's report row, and what the box is told.
type found struct {
	box  report.Row
	runs string // what the box means by what it says
	decide.Decision
	manifest Manifest
	every    time.Duration // see Settings.Every
}

// next is the time until the next poll of the box, which is told to wait an interval.
func (f found) next(interval time.Duration, now time.Time) time.Duration {
	return f.Wait.Until(UntilEnd(f.box.Pin, interval, now), report.Place(f.box.EdgeID), now)
}

// resolve finds what a box is told.
func (p *Polls) resolve(ctx context.Context, poll Poll) (found, error) {
	box, err := p.Find(ctx, poll.EdgeID)
	if err != nil {
		return found{}, err
	}
	if poll.Speaker.Issuer != "" {
		if err := p.settings.Issuers.Allow(ctx, poll.Speaker, box, p.now()); err != nil {
			return found{}, err
		}
	}
	now := p.now()
	runs, err := decide.Means(ctx, box, input.Cleaned(poll.Installed), p.from)
	if err != nil {
		return found{}, err
	}
	d, err := decide.Decide(ctx, decide.Saying(box, runs, now), p.from)
	if err == nil {
		d.RolloutTarget, err = p.target(ctx, box, d)
	}
	if err != nil {
		return found{}, err
	}
	row := d.Channel
	asked := row.Asked()
	if asked != nil && !p.bell.among(ctx, *row.Rollout, box, bell.Sizes.Asked) {
		asked = nil
	}
	f, near := found{box: box, Decision: d, runs: runs}, p.bell.Near(ctx, row, box)
	interval := f.next(p.settings.Interval(row, now, near), now)
	f.every = p.settings.Every(row, interval, now, near)
	f.manifest = Manifest{
		EdgeID: box.EdgeID, EdgeType: box.EdgeType, Channel: box.Channel,
		Version: d.Version, ArtifactURL: d.ArtifactURL, SHA256: d.SHA256,
		Source: d.Source(), RolloutID: d.RolloutID, Towards: d.Towards(), Installed: poll.Installed,
		PollIntervalSeconds: wholeSeconds(interval),
		Door:                boxauth.DoorFor(ctx, poll.Speaker, p.settings.Door),
		OpensAt:             d.Wait.OpensAt(),
		Health:              asked,
	}
	if own := poll.own(); d.Version == runs && runs != "" && own != runs {
		f.manifest.Version, f.manifest.Release = own, runs
	}
	return f, nil
}

// target is what a box is told, with the address where the bytes are now. It returns an error if the box can be told nothing.
func (p *Polls) target(ctx context.Context, box report.Row, d decide.Decision) (release.RolloutTarget, error) {
	switch {
	case d.Reason == decide.NothingPublished:
		return d.RolloutTarget, problem.New(problem.NotFound, "Nothing is published on the release channel %s, which the box follows.", release.Pair(box.EdgeType, box.Channel))
	case d.Reason == decide.Imported:
		return d.RolloutTarget, problem.New(problem.NotFound, "The box comes from another server. Poll with installed, so that it is known what the box runs.")
	case d.Reason == decide.StoneMissing:
		return d.RolloutTarget, d.Missing()
	case d.Waits():
		has, err := p.from.Release(ctx, box.EdgeType, d.Version)
		is := has.Target()
		is.Version = d.Version
		return is, err
	case d.Source() != decide.FromChannel:
		return p.from.Target(ctx, box.EdgeType, d.RolloutTarget)
	}
	return d.RolloutTarget, nil
}

// event is the report of a poll and its answer.
func (p *Polls) event(f found, poll Poll) report.Polled {
	event := f.Polled(f.box)
	event.Running, event.Text, event.Subject, event.At = f.runs, input.Cleaned(poll.Installed), poll.Subject, p.now().UTC().Truncate(time.Millisecond)
	return event
}

// record writes an event to the box's report row, if it changes the row.
func (p *Polls) record(ctx context.Context, known report.Row, event report.Input, turn []dynamo.TransactItem) error {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	_, err := p.Reports.Observe(ctx, edge.Of(known).Registration(), event, turn...)
	return err
}
