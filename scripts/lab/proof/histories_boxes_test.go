package proof

import (
	"context"
	"testing"
	"time"

	"wavegate/scripts/lab/proof/history"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/idempotency"
)

// TestHistories_OfOneBox_AreLinearizable plays histories in which a box is registered, moved and
// retired while it polls and reports.
func TestHistories_OfOneBox_AreLinearizable(t *testing.T) {
	n := count(t, "PROOF_HISTORIES_BOXES", 60, 10_000)
	onEmbedded(t, n, 0, ofBoxes)
}

// TestHistories_OfOneBoxUnderFaults_AreLinearizable plays them with faults of the store.
func TestHistories_OfOneBoxUnderFaults_AreLinearizable(t *testing.T) {
	expect.Full(t)
	n := count(t, "PROOF_HISTORIES_FAULTS", 30, 2000)
	onEmbedded(t, n, 0.02, ofBoxes)
}

// TestHistories_OfOneBoxOnTheReference_AreLinearizable plays them on DynamoDB Local.
func TestHistories_OfOneBoxOnTheReference_AreLinearizable(t *testing.T) {
	expect.Full(t)
	onReference(t, func(reference *dynamolocal.Store) {
		onStore(t, reference, count(t, "PROOF_HISTORIES_FAULTS", 30, 2000), ofBoxes)
	})
}

// ofBoxes are histories of one box each. The boxes' channels never change: each has a rollout at
// 100 percent, which started before any box was registered.
var ofBoxes = kind{
	open: func(t *testing.T, faultless *dynamo.DB, edgeType string) func(*dynamo.DB, string) func(history.Input) history.Output {
		t.Helper()
		for channel, target := range history.Targets {
			rollOut(t, faultless, edgeType, channel, target)
		}
		return func(db *dynamo.DB, name string) func(history.Input) history.Output {
			s := &box{
				id: name, edgeType: edgeType, registry: edge.NewRegistry(db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}), edges: edge.NewStore(db), reports: report.NewStore(db, 1),
				taken: polling.NewReports(db, 1, fleetIssuer),
				polls: polling.NewPolls(db, polling.Settings{PollInterval: time.Minute, IdlePollInterval: time.Minute, Shards: 1, Issuers: fleetIssuer}, nil, time.Now),
			}
			return toCaller(s.answer)
		}
	},
	play:    history.PlayBox,
	answers: []problem.Code{problem.PreconditionFailed, problem.NotFound, problem.ReportStale},
}

const fleetIssuer = "https://fleet.example"

// rollOut brings a version to all boxes of a channel by a rollout.
func rollOut(t *testing.T, db *dynamo.DB, edgeType, channel, target string) {
	t.Helper()
	ctx := admission.Unlimited(t.Context())
	for where, version := range map[string]string{channel: "1.0.0", "lab": target} {
		_, err := publication.NewStore(db).Publish(ctx, from, release.Publication{EdgeType: edgeType, Channel: where, CurrentVersion: version,
			SHA256: version, ArtifactURL: "https://artifacts.example/" + version,
			Lineage: release.Lineage{Order: int64(version[0])}}, input.Preconditions{})
		expect.OK(t, err)
	}
	rollouts := rollout.NewStore(db)
	id, err := rollouts.Start(ctx, from, rollout.Plan{EdgeType: edgeType, Channel: channel, TargetVersion: target}, idempotency.Claim{})
	expect.OK(t, err)
	for _, percent := range cohort.Stages[1:] {
		expect.Value(rollouts.Move(ctx, from, id, rollout.Move{StagedPercent: &percent}, input.Preconditions{}))(t)
	}
}

// box makes a history's calls about a box to the service's packages directly.
type box struct {
	id, edgeType string
	registry     *edge.Registry
	edges        *edge.Store
	polls        *polling.Polls
	taken        *polling.Reports
	reports      *report.Store
}

func (s *box) answer(ctx context.Context, in history.Input) (out history.Output, err error) {
	ctx = admission.Unlimited(ctx)
	when := preconditions(input.Revision(in.IfMatch))
	switch in.Action {
	case history.Register:
		a := edge.Assignment{EdgeType: s.edgeType, Channel: in.Channel, OrganizationID: "acme"}
		out.Created, err = s.registry.Put(ctx, from, s.id, a, when)
	case history.Retire:
		err = s.registry.Retire(ctx, from, s.id, when)
	case history.Poll:
		var reply polling.Reply
		reply, err = s.polls.Answer(ctx, polling.Poll{EdgeID: s.id, Installed: in.Running, Caller: s.id, Speaker: auth.Principal{Issuer: fleetIssuer, UserID: s.id}, Subject: s.id})
		// Without a receipt, the answer does not show whether the poll was recorded.
		out.Told, out.Lost = reply.Manifest.Version, err == nil && reply.ETag == ""
	case history.Report:
		o := report.Outcome{Version: in.Version, Attempt: in.Attempt, State: report.State(in.Outcome), At: time.Now()}
		if o.State == report.Failed {
			o.Code = report.CodeBoot
		}
		var reply report.Advice
		reply, err = s.taken.Take(ctx, auth.Principal{Issuer: fleetIssuer, UserID: s.id}, s.id, o)
		out.GiveUp = reply.GiveUp
	case history.ReadBox:
		var e edge.Edge
		e, err = s.edges.Get(ctx, s.id)
		out.Box = history.Box{Channel: e.Channel, Revision: e.Revision}
	case history.ReadReportRow:
		var row report.Row
		row, err = s.reports.Get(ctx, s.id)
		out.ReportRow.Running = row.Running
		if o := row.Offer; o != nil {
			out.ReportRow = history.ReportRow{Running: row.Running, Offered: o.Version, State: string(o.State), Failed: o.Code != "", Attempts: o.Attempts}
		}
	}
	return out, err
}
