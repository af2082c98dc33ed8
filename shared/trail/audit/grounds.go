package audit

import (
	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/value"
)

// Grounds are why a change was made, where that was said.
type Grounds struct {
	Reason string `json:"reason,omitempty"` // the caller's
	// OverrideReason is why the caller passed over a closed window or a freeze.
	OverrideReason string `json:"overrideReason,omitempty"`
	// Cause is what made the service itself do it.
	Cause any `json:"cause,omitempty"`
}

// ReasonRule is that of a reason, for whoever reads the audit trail.
var ReasonRule = &value.Text{Min: 1, Max: 256, Trim: true, Check: value.Printable, Says: "1 to 256 characters without control characters"}

// GroundsOf reads reason and overrideReason, both of which may be left out.
func GroundsOf(body *fields.Object) Grounds {
	var g Grounds
	g.Reason, _ = body.OptionalText("reason", ReasonRule)
	g.OverrideReason, _ = body.OptionalText("overrideReason", ReasonRule)
	return g
}
