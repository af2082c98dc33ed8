package rollout

import (
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
	"wavegate/shared/trail/audit"
)

// A PlanRequest is a Plan and what else a caller says about it.
type PlanRequest struct {
	Plan
	OwnPolicy bool // the caller says how the guard judges the rollout, or that it does not
	audit.Grounds
}

var newBoxesRule = &input.Text{Pattern: release.OfTarget, Says: release.OfTarget}

// PlanOf reads a request to start a rollout by the deployment's settings; see guard.Settings.
func PlanOf(body *input.Object, settings *setting.Values) PlanRequest {
	r := PlanRequest{Plan: Plan{
		EdgeType:      body.Text("edgeType", input.Name),
		Channel:       body.Text("channel", input.Name),
		TargetVersion: body.Text("targetVersion", release.VersionRule),
		Policy:        new(guard.Open()),
	}}
	given, null := body.ClearableObject("policy", func(o *input.Object) { *r.Policy = guard.ReadFor(o, settings) })
	if r.OwnPolicy = given; null {
		r.Policy = nil
	}
	r.NewBoxes, _ = body.OptionalText("newBoxes", newBoxesRule)
	r.Grounds = audit.GroundsOf(body)
	r.Urgent = urgent(body, r.Grounds)
	if r.Urgent && r.Policy != nil && len(r.Policy.Approvals.Before) > 0 {
		body.Fault("urgent", "exclusive", "must not be given with a policy that asks for approvals: a second person can make the rollout urgent")
	}
	return r
}

// urgent reads whether plants need not be open, for which a reason is required.
func urgent(body *input.Object, g audit.Grounds) bool {
	is := body.Boolean("urgent")
	if is && g.Reason == "" {
		body.Fault("reason", "required", "is required with urgent")
	}
	return is
}

// A MoveRequest is a Move and its grounds.
type MoveRequest struct {
	Move
	Everywhere bool // halt the version on every channel of the edge type
	audit.Grounds
}

// MoveOf reads a move.
func MoveOf(body *input.Object) MoveRequest {
	var r MoveRequest
	percent, raises := body.OptionalInteger("staged_percent", stageRule)
	if raises {
		r.StagedPercent = new(int(percent))
	}
	status, _ := body.OptionalText("status", statusRule)
	r.Status, r.Grounds = Status(status), audit.GroundsOf(body)
	if ids, given := body.OptionalTexts("without", input.Name, 0, release.MostWithout); given {
		r.Without = append([]string{}, ids...)
		if r.Status != Active {
			body.Fault("without", "exclusive", "must only be given together with the status active")
		}
	}
	if r.Everywhere = body.Boolean("everywhere"); r.Everywhere && r.Status != Halted {
		body.Fault("everywhere", "exclusive", "must only be given together with the status halted")
	}
	if r.Return = body.Boolean("return"); r.Return && r.Status != Halted {
		body.Fault("return", "exclusive", "must only be given together with the status halted")
	}
	if r.Urgent = urgent(body, r.Grounds); r.Urgent && (raises || r.Status != "" && !r.Return) {
		body.Fault("urgent", "exclusive", "must be given alone or together with return")
	}
	if r.Seen = body.Boolean("seen"); r.Seen && (raises || r.Status != "" || r.Urgent) {
		body.Fault("seen", "exclusive", "must be given alone")
	}
	body.RequireAny("staged_percent", "status", "urgent", "seen")
	if raises && r.Status == Active {
		body.Fault("status", "exclusive", "active must not be given together with staged_percent")
	}
	return r
}

// An ApprovalRequest is a person's approval of a stage.
type ApprovalRequest struct {
	Stage  int
	Reason string
}

// ApprovalOf reads an approval.
func ApprovalOf(body *input.Object) ApprovalRequest {
	a := ApprovalRequest{Stage: int(body.Integer("stage", guard.StageRule))}
	a.Reason, _ = body.OptionalText("reason", audit.ReasonRule)
	return a
}
