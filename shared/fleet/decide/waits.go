package decide

import (
	"context"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
)

// asks reports whether the box's plant decides when it is told: it is told something new, not by a pin, and it is not its
// first version.
func (b Box) asks(d Decision) bool {
	has := b.presumed()
	return b.FactoryID != "" && d.Source() != FromPin && d.Version != has && has != ""
}

// mayOptOut is what a plant says, with no more of an opt-out than the manufacturer allows for the box's type.
func (b Box) mayOptOut(ctx context.Context, u *calendar.Updates, from Sources) (*calendar.Updates, error) {
	if !u.OptedOut(b.At) {
		return u, nil
	}
	of, err := from.Settings(ctx, b.EdgeType)
	return u.Within(of.OptOut), err
}

// passes is what a box's plant cannot keep waiting.
func passes(d Decision) calendar.Haste {
	if d.Source() == FromRollout {
		return d.Channel.Passes(d.RolloutID)
	}
	var haste calendar.Haste
	if d.Target() == d.Channel.CurrentVersion { // and not what a box keeps
		haste = d.Channel.Passes("")
	}
	if d.ReturnedFrom != "" {
		// The way back from a release is none that customers opt out of, unless they take nothing at all.
		haste.Urgent, haste.Security = haste.Urgent || d.Channel.ReturnedUrgently(d.ReturnedFrom), true
	}
	return haste
}

// takesTurn reports whether a box whose plant is open is told something only if no box of its group blocks it.
func (b Box) takesTurn(d Decision) bool {
	return b.Group != "" && !passes(d).Urgent && !b.wasTold(d)
}

// How long a box must have run what it was told until the next one of its group is told. Below 100 percent nobody knows yet
// whether the target lasts, and a stage soaks for longer than that anyway.
const (
	proof      = 10 * time.Minute
	earlyProof = 4 * time.Hour
)

// patience is for how long one box of a group keeps the others from being told. It may take as long to install as the
// rollout's policy says.
func patience(d Decision) report.Patience {
	row, rollout := d.Channel, d.Source() == FromRollout
	p := report.Patience{Proof: proof, DecideWithin: guard.Default().Guard.DecideWithin.Length()}
	if rollout && row.Rollout.StagedPercent < 100 {
		p.Proof = earlyProof
	}
	if rollout && row.Rollout.DecideWithin > 0 {
		p.DecideWithin = time.Duration(row.Rollout.DecideWithin) * time.Second
	}
	return p
}

// wasTold reports whether the box has its turn for what it is told, and need not wait for its group again. One that waited
// since it was told, because its plant was closed, or that failed, has to take another turn.
func (b Box) wasTold(d Decision) bool {
	o := b.Offer
	return b.TurnAt != nil && o != nil && o.Version == d.Version && b.Told == d.Version && (d.Source() != FromRollout || o.RolloutID == d.RolloutID) &&
		o.State != report.Installed && o.State != report.Reverted
}
