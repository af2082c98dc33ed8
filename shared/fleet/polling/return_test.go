package polling_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// returned gives a box a rollout's target, and returns the rollout after something else.
func (p *place) returned(t *testing.T, after func()) (id string) {
	t.Helper()
	rollouts, id := p.rollOut(t, "1.1.0")
	for _, installed := range []string{"1.0.0", "1.1.0"} {
		expect.Equal(t, p.ask(t, installed, "").Manifest.Version, "1.1.0", "told before")
	}
	after()
	_, err := rollouts.Move(admission.Unlimited(t.Context()), audit.Origin{}, id, rollout.Move{Status: rollout.Halted, Return: true}, input.Preconditions{})
	expect.OK(t, err)
	p.forget()
	return id
}

// entries is what the index has of the box's channel.
func (p *place) entries(t *testing.T) (boxes, traces []report.IndexEntry) {
	t.Helper()
	expect.OK(t, p.reports.Each(t.Context(), p.box.EdgeType+"/"+p.box.Channel, 0, func(e report.IndexEntry) {
		if e.Trace {
			traces = append(traces, e)
			return
		}
		boxes = append(boxes, e)
	}, func(err error) { t.Error(err) }))
	return boxes, traces
}

func TestPoll_AfterAReturn_TheBoxGoesBack_AndWhatItDidStays(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		id := p.returned(t, func() {})
		m := p.ask(t, "1.1.0", "").Manifest
		expect.Equal(t, m.Version+" "+string(m.Source), "1.0.0 channel", "told after")
		clear(p.calls)
		p.ask(t, "1.1.0", "")
		expect.Equal(t, len(p.calls), 1, "a repeated poll reads its row: %v", p.calls)
		expect.Equal(t, p.row(t).ReturnedFrom, id, "why it was offered 1.0.0")
		p.ask(t, "1.0.0", "")
		expect.Equal(t, p.row(t).Offer.State, report.Installed, "once it runs 1.0.0 again, not reverted")
		expect.Until(t, "one trace lies in the index", func() bool {
			_, traces := p.entries(t)
			return len(traces) == 1 && traces[0].RolloutID == id && traces[0].State == report.Installed
		})
	})
}

func TestPoll_AfterAReturn_PinnedAndHeldBoxesStay(t *testing.T) {
	for source, pin := range map[decide.Source]*edge.PinRequest{
		decide.FromPin:  {Version: "1.1.0", Reason: "a test"},
		decide.FromHold: {Remove: true},
	} {
		t.Run(string(source), func(t *testing.T) {
			polled(t, func(t *testing.T, p *place) {
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // orders are times in seconds
				p.returned(t, func() {
					p.box.Pin = &edge.PinRequest{Version: "1.1.0", Reason: "a test"}
					p.register(t)
					p.box.Pin = pin
					p.register(t)
				})
				m := p.ask(t, "1.1.0", "").Manifest
				expect.Equal(t, m.Version+" "+string(m.Source), "1.1.0 "+string(source), "told after")
			})
		})
	}
}

func TestPoll_AfterAReturn_ABoxOnAStoneLeavesATrace(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		old, stone, target := "0-"+p.id, "1-"+p.id, "2-"+p.id
		for i, version := range []string{stone, target, old} {
			channel := []string{"lab-" + p.box.Channel, "lab-" + p.box.Channel, p.box.Channel}[i]
			_, err := publication.NewStore(p.db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: p.box.EdgeType, Channel: channel,
				CurrentVersion: version, SHA256: version, Lineage: release.Lineage{Order: []int64{2, 3, 1}[i], Requires: []string{"", stone, ""}[i]}}, input.Preconditions{})
			expect.OK(t, err)
		}
		ctx, rollouts := admission.Unlimited(t.Context()), rollout.NewStore(p.db)
		id, err := rollouts.Start(ctx, audit.Origin{}, rollout.Plan{EdgeType: p.box.EdgeType, Channel: p.box.Channel, TargetVersion: target}, idempotency.Claim{})
		expect.OK(t, err)
		for _, percent := range []int{10, 50, 100} {
			_, err = rollouts.Move(ctx, audit.Origin{}, id, rollout.Move{StagedPercent: &percent}, input.Preconditions{})
			expect.OK(t, err)
		}
		p.forget()
		expect.Equal(t, p.ask(t, old, "").Manifest.Version, stone, "told first")
		polls := p.polls
		_, err = rollouts.Move(ctx, audit.Origin{}, id, rollout.Move{Status: rollout.Halted, Return: true}, input.Preconditions{})
		expect.OK(t, err)
		p.polls = polls // of a container that has not read the return yet
		expect.Equal(t, p.ask(t, stone, "").Manifest.Version, target, "told then")
		p.forget()
		expect.Equal(t, p.ask(t, stone, "").Manifest.Version, old, "told after the return")
		expect.Until(t, "one trace lies in the index", func() bool {
			_, traces := p.entries(t)
			return len(traces) == 1 && traces[0].RolloutID == id
		})
	})
}
