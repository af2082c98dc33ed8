package freeze

import (
	"time"

	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
)

// A Wish is what a caller asks for: a freeze until a time, and why.
type Wish struct {
	Reason string
	Until  time.Time
}

// Body is the body of a freeze.
var Body = &input.Shape{Fields: input.Fields{
	{Name: "reason", Is: audit.ReasonRule, Required: true},
	{Name: "until", Is: input.Time, Required: true},
}}

// WishOf reads reason and until.
func WishOf(body *input.Object) Wish {
	w := Wish{Reason: body.Text("reason")}
	if text := body.Text("until"); text != "" {
		w.Until = input.ParseTime(text).Truncate(time.Millisecond)
	}
	return w
}
