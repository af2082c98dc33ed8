package audit

import (
	"wavegate/shared/platform/input"
)

// Grounds say why a change was made, if the caller said so.
type Grounds struct {
	Reason string `json:"reason,omitempty"` // the caller's reason
	// OverrideReason is why the caller overrode a closed window or a freeze.
	OverrideReason string `json:"overrideReason,omitempty"`
	// Cause is why the service itself made the change.
	Cause any `json:"cause,omitempty"`
}

// ReasonRule is the rule of a reason. Readers of the audit trail see it.
var ReasonRule = &input.Text{Min: 1, Max: 256, Trim: true, Check: input.Visible, Says: "1 to 256 characters without control characters and invisible characters"}

// GroundsOf reads the optional fields reason and overrideReason.
func GroundsOf(body *input.Object) Grounds {
	var g Grounds
	g.Reason, _ = body.OptionalText("reason", ReasonRule)
	g.OverrideReason, _ = body.OptionalText("overrideReason", ReasonRule)
	return g
}
