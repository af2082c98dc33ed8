package rollout

import (
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
)

// PlanBody is the body of a request to start a rollout.
var PlanBody = &input.Shape{Fields: input.Fields{
	{Name: "edgeType", Is: input.Name, Required: true},
	{Name: "channel", Is: input.Name, Required: true},
	{Name: "targetVersion", Is: release.VersionRule, Required: true},
	{Name: "policy", Is: guard.Body, Clearable: true},
	audit.ReasonField, audit.OverrideReasonField,
}}

// MoveBody is a Move and its grounds.
var MoveBody = &input.Shape{
	Fields: input.Fields{
		{Name: "staged_percent", Is: StageRule},
		{Name: "status", Is: StatusRule},
		audit.ReasonField, audit.OverrideReasonField,
	},
	AnyOf: []string{"staged_percent", "status"},
}

// ApprovalBody is the approval of a stage.
var ApprovalBody = &input.Shape{Fields: input.Fields{
	{Name: "stage", Is: guard.StageRule, Required: true},
	audit.ReasonField,
}}
