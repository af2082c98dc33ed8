// Package ddi serves the part of hawkBit's Direct Device Integration API (DDI v1) that the clients of SWUpdate and RAUC
// use. It has no model of deployments of its own: decide.Decide says what a box is told. The rules in action.go,
// ask.go and fallback.go say what a client's calls change in the box's report row. README.md says what is served and how each client behaved in tests.
package ddi

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// A ClientCall holds what every call of a DDI client has.
type ClientCall struct {
	Tenant       string // in the path; see boxauth.Tenants
	ControllerID string // the box in the path
	Caller       auth.Principal
	Origin       audit.Origin
	// Counts also counts a gateway's call for the box. It returns the name that the fair-use limiter counts the box under,
	// or an error if the box has used up its limit.
	Counts func(context.Context, auth.Principal) (subject string, err error)
	// Heard is what the call said that was read otherwise.
	Heard []input.Heard
	// Calls returns when the box made its latest calls; see polling.Poll. Nil: unknown.
	Calls func(context.Context) []time.Time
}

// By completes a call with what only the function knows.
func (c ClientCall) By(caller auth.Principal, from audit.Origin, counts func(context.Context, auth.Principal) (string, error)) ClientCall {
	c.Caller, c.Origin, c.Counts = caller, from, counts
	return c
}

// Hearing adds what the call said that was read otherwise.
func (c ClientCall) Hearing(heard []input.Heard) ClientCall {
	c.Heard = heard
	return c
}

// Boxes answers the calls of DDI clients.
type Boxes struct {
	reports  *report.Store
	rollouts *rollout.Store
	from     *decide.Cache
	speakers *boxauth.Speakers
	settings polling.Settings
	watch    polling.Watch
	now      func() time.Time
}

// NewBoxes makes a Boxes, with one cache for the container. seen says when a box of a group was last seen.
func NewBoxes(db *dynamo.DB, settings polling.Settings, seen report.LastSeen, now func() time.Time) *Boxes {
	return &Boxes{
		reports:  report.NewStore(db, settings.Shards),
		rollouts: rollout.NewStore(db),
		from:     decide.NewCache(db, settings.ChannelCache, settings.Shards, seen, now),
		speakers: boxauth.NewSpeakers(db, settings.Shards, settings.Issuers, settings.Tenants, settings.ChannelCache, now),
		settings: settings,
		now:      now,
	}
}

// With makes the boxes poll less often that no rollout has reached, and that the guard does not look up.
func (b *Boxes) With(w polling.Watch) *Boxes {
	b.watch = w
	return b
}

// recordTime is how long a poll may take to write its report after the limiter has admitted it. It is longer than for a
// manifest's poll, since the client is told nothing new without the report.
const recordTime = 2 * time.Second

func (b *Boxes) at() time.Time { return b.now().UTC().Truncate(time.Millisecond) }

// A known is the box of a call.
type known struct {
	edge.Edge
	row     report.Row
	subject string
}

// box reads the box of a call, and returns NOT_FOUND or UNAUTHENTICATED unless the caller speaks for it, and RATE_LIMITED.
// Fresh reads it strongly consistent.
func (b *Boxes) box(ctx context.Context, c ClientCall, fresh bool) (known, error) {
	row, err := b.speakers.Find(ctx, c.Origin, c.Caller, c.Tenant, c.ControllerID, fresh)
	if err != nil {
		return known{}, err
	}
	subject, err := c.Counts(ctx, b.speakers.Counted(row))
	return known{edge.Of(row), row, subject}, err
}

// A reply is what a DDI client is told.
type reply struct {
	decide.Decision
	// is the decision, or the one that follows it: a client keeps the action that it was told before its plant closed, and must
	// not install it until then.
	is decide.Decision
}

// tell decides what a box is told.
func (b *Boxes) tell(ctx context.Context, row report.Row) (reply, error) {
	now := b.now()
	box := decide.Known(row, now)
	box.DDI = true // also in its first poll
	d, err := decide.Decide(ctx, box, b.from)
	o := reply{d, d}
	switch {
	case err != nil:
	case d.Reason == decide.StoneMissing:
		err = d.Missing()
	case d.Reason == decide.NothingPublished:
		o.is.Version = row.Has()
	case d.Waits() && row.Accepts(d.Next.Version) && deployment(row, now) != 0:
		o.is = *d.Next
	}
	return o, err
}

// A Base is the answer to a poll.
type Base struct {
	// Sleep is how long the client should wait before its next poll. Each box has its own value, up to a fifth more or
	// less, so that boxes that start together do not keep polling together.
	Sleep time.Duration
	// Identify asks the client what the box is and runs. SWUpdate does nothing else in that poll, so Deployment and Cancel
	// are 0.
	Identify bool
	// Deployment and Cancel are actions; 0: none. At most one of them is set.
	Deployment, Cancel int64
	// Door is the URL of the box at the door; empty: it may not poll there.
	Door string
	// Unrecorded is why the poll could not be recorded. If set, the client is told nothing new.
	Unrecorded error
	// Frequent is set if it was noted that the box calls too often.
	Frequent *polling.Frequent
}

// Poll answers a poll. It reads the box's report row, for half a read unit, and the row of the channel if the container
// has not cached it. As long as the box is told the same as before, nothing is written. Otherwise the report row, which
// numbers the action, is written before the answer.
//
// The read is eventually consistent; see polling.Polls. So a client may be told of an action that it has just closed.
// Deployment reads the row strongly consistent and then returns NOT_FOUND.
func (b *Boxes) Poll(ctx context.Context, c ClientCall) (Base, error) {
	e, err := b.box(ctx, c, false)
	if err != nil {
		return Base{}, err
	}
	row := e.row
	has := row.Has()
	t, err := b.tell(ctx, row)
	if err != nil {
		return Base{}, err
	}
	at := b.at()
	near := b.watch.Near(ctx, t.Channel, row)
	interval := polling.UntilEnd(row.Pin, b.settings.Interval(t.Channel, at, near), at)
	base := Base{Sleep: t.Wait.Until(spread(e.EdgeID, interval), report.Place(e.EdgeID), at)}
	if door := boxauth.DoorFor(ctx, c.Caller, b.settings.Door); door != "" {
		base.Door = door + "/" + c.Tenant + "/controller/v1/" + c.ControllerID
	}
	var event report.Input = Contact{Subject: e.subject, At: at}
	first := !row.DDI
	if first {
		t.Turn = nil // the box is told nothing yet
	} else {
		polled := t.polled(row, e.subject, at)
		if c.Calls != nil {
			polled.Calls, polled.Every = c.Calls(ctx), b.settings.Every(t.Channel, base.Sleep, at, near)
		}
		event = polled
	}
	event = report.By{Input: event, SHA256: c.Caller.Credential}
	if _, changed := report.Next(row, event); changed {
		if err := admission.Wait(ctx); err != nil {
			return Base{}, err
		}
		row, base.Unrecorded = b.record(ctx, e.Edge, event, t.Turn)
		base.Frequent = polling.Noted(e.row, row)
	}
	if base.Unrecorded == nil && row.Has() == has { // otherwise the box has reported something else meanwhile
		base.link(row, first, at)
	}
	return base, nil
}

// link sets what the client should do next, given the box's row after the poll.
func (b *Base) link(row report.Row, first bool, at time.Time) {
	if b.Identify = first || asked(row, at, b.Sleep); b.Identify {
		return
	}
	if b.Cancel = cancellation(row, at); b.Cancel == 0 {
		b.Deployment = deployment(row, at)
	}
}

// polled is the report of a poll.
func (t reply) polled(row report.Row, subject string, at time.Time) polled {
	p := t.is.Polled(row)
	p.Subject, p.Waits, p.Turn, p.At = subject, t.Waits(), t.Turn != nil, at
	return polled{p, row.Has()}
}

func (b *Boxes) record(ctx context.Context, e edge.Edge, event report.Input, turn []dynamo.TransactItem) (report.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	return b.reports.Observe(ctx, e.Registration(), event, turn...)
}

// A Deployment is an action that a box is told to carry out.
type Deployment struct {
	Action  int64
	Release release.Release
	// Windowed is set if the box's plant has windows, and Closed if the box must not install now. Without its turn in its
	// group it must not either, until its next poll.
	Windowed, Closed bool
}

// Deployment returns an action of a box, or NOT_FOUND if the box is not told it now.
func (b *Boxes) Deployment(ctx context.Context, c ClientCall, action int64) (Deployment, error) {
	e, err := b.box(ctx, c, true)
	if err != nil {
		return Deployment{}, err
	}
	row := e.row
	t, err := b.tell(ctx, row)
	if err != nil {
		return Deployment{}, err
	}
	if action == 0 || deployment(row, b.at()) != action || t.is.Version != row.Offer.Version {
		return Deployment{}, problem.Missing()
	}
	return Deployment{Action: action, Release: t.is.Release, Windowed: t.Updates.Windowed(), Closed: t.Waits() || t.Turn != nil}, nil
}

// Cancel returns nil if a box is asked to give up an action, otherwise NOT_FOUND.
func (b *Boxes) Cancel(ctx context.Context, c ClientCall, action int64) error {
	e, err := b.box(ctx, c, true)
	if err == nil && (action == 0 || e.row.Cancel != action) {
		err = problem.Missing()
	}
	return err
}

// Report takes a box's feedback on an action. A report on a closed action, or on one that never existed, changes nothing but
// is not an error: SWUpdate would keep repeating a refused report, and do nothing else.
func (b *Boxes) Report(ctx context.Context, c ClientCall, f Feedback) error {
	e, err := b.box(ctx, c, false)
	if err != nil {
		return err
	}
	_, err = b.reports.Observe(ctx, e.Registration(), report.By{Input: f, SHA256: c.Caller.Credential, Way: report.ByFeedback, Heard: c.Heard})
	return polling.Outdated(err)
}

// State takes what a box says about itself.
func (b *Boxes) State(ctx context.Context, c ClientCall, statement Statement) error {
	e, err := b.box(ctx, c, false)
	if err != nil {
		return err
	}
	statement.DecideWithin = guard.Default().Guard.DecideWithin.Length()
	if o := e.row.Offer; o != nil && o.WrittenAt != nil && o.RolloutID != "" {
		p, err := b.policy(ctx, o.RolloutID)
		if err != nil {
			return err
		}
		statement.DecideWithin = p.Guard.DecideWithin.Length()
	}
	if statement.Running == "" {
		of, err := b.from.Settings(ctx, e.row.EdgeType)
		if err != nil {
			return err
		}
		statement.says(of.VersionAttribute)
	}
	statement.Text = statement.Running
	if statement.Running, err = decide.Means(ctx, e.row, statement.Text, b.from); err != nil {
		return err
	}
	statement.At = b.at()
	_, err = b.reports.Observe(ctx, e.Registration(), report.By{Input: statement, SHA256: c.Caller.Credential, Way: report.ByConfigData, Heard: c.Heard})
	return polling.Outdated(err)
}

// policy returns a rollout's policy, or the default if it has none.
func (b *Boxes) policy(ctx context.Context, rolloutID string) (guard.Policy, error) {
	r, err := b.rollouts.Get(ctx, rolloutID)
	if err != nil || r.Terms == nil {
		return guard.Default(), err
	}
	return r.Terms.Policy, nil
}
