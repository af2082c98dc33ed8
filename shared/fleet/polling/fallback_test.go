package polling_test

import (
	"testing"

	"wavegate/shared/fleet/polling"
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

func (p *place) publish(t *testing.T, channel, version string) {
	t.Helper()
	_, err := publication.NewStore(p.db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: p.box.EdgeType, Channel: channel,
		CurrentVersion: version, ArtifactURL: "https://a.example/" + version, SHA256: version}, input.Preconditions{})
	expect.OK(t, err)
}

// rollOut starts a rollout that offers a version to all boxes of the channel.
func (p *place) rollOut(t *testing.T, version string) (rollouts *rollout.Store, id string) {
	t.Helper()
	ctx := admission.Unlimited(t.Context())
	p.publish(t, "lab-"+p.box.Channel, version)
	rollouts = rollout.NewStore(p.db)
	id, err := rollouts.Start(ctx, audit.Origin{}, rollout.Plan{EdgeType: p.box.EdgeType, Channel: p.box.Channel, TargetVersion: version}, idempotency.Claim{})
	for _, percent := range []int{10, 50, 100} {
		if err == nil {
			_, err = rollouts.Move(ctx, audit.Origin{}, id, rollout.Move{StagedPercent: &percent}, input.Preconditions{})
		}
	}
	expect.OK(t, err)
	p.forget()
	return rollouts, id
}

// A snapshot is all that a box stores: what it runs, and the tag of its last answer.
type snapshot struct{ running, tag string }

// poll is a poll of a box that stores the tag in its snapshot.
func (p *place) poll(t *testing.T, box snapshot) (snapshot, polling.Reply) {
	t.Helper()
	reply := p.ask(t, box.running, box.tag)
	box.tag = reply.ETag
	return box, reply
}

// TestPoll_WholeStateFallsBack_IsSeen lets the box wrongly store the tag with the system that falls back.
func TestPoll_WholeStateFallsBack_IsSeen(t *testing.T) {
	for name, ended := range map[string]bool{"while the rollout is active": false, "after it was halted": true} {
		t.Run(name, func(t *testing.T) {
			polled(t, func(t *testing.T, p *place) {
				before, _ := p.poll(t, snapshot{running: "1.0.0"})
				rollouts, id := p.rollOut(t, "2.0.0")
				told, reply := p.poll(t, before)
				expect.Must(t, reply.Manifest.Version == "2.0.0", "told %+v", reply.Manifest)
				after, _ := p.poll(t, snapshot{"2.0.0", told.tag})
				_, reply = p.poll(t, after)
				expect.Must(t, reply.NotModified, "it runs what it is told: %+v", reply)
				back := told
				if ended {
					if _, err := rollouts.Move(admission.Unlimited(t.Context()), audit.Origin{}, id, rollout.Move{Status: rollout.Halted}, input.Preconditions{}); err != nil {
						t.Fatal(err)
					}
					p.forget()
					back = before
				}
				_, reply = p.poll(t, back)
				if row := p.row(t); reply.NotModified || row.Running != "1.0.0" || row.Offer.State != report.Reverted {
					t.Errorf("it fell back: %+v; the row is %+v", reply, row.Offer)
				}
				_, reply = p.poll(t, back)
				expect.That(t, reply.NotModified, "the next poll is not new: %+v", reply)
			})
		})
	}
}

func TestEncode_AnotherCaller_AnotherTag(t *testing.T) {
	m := polling.Manifest{EdgeID: "box-1", Version: "1.0.0"}
	_, one, _ := m.Encode("box-1")
	_, other, _ := m.Encode("olga")
	expect.That(t, other != one, "one tag for two callers")
}
