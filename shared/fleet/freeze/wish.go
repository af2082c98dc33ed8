package freeze

import (
	"time"

	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/value"
	"wavegate/shared/trail/audit"
)

// A Wish is what a caller asks for: a freeze until a time, and why.
type Wish struct {
	Reason string
	Until  time.Time
}

// WishOf reads reason and until.
func WishOf(body *fields.Object) Wish {
	w := Wish{Reason: body.Text("reason", audit.ReasonRule)}
	if text := body.Text("until", value.Time); text != "" {
		w.Until = value.ParseTime(text).Truncate(time.Millisecond)
	}
	return w
}
