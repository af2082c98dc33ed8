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

// WishOf reads reason and until.
func WishOf(body *input.Object) Wish {
	w := Wish{Reason: body.Text("reason", audit.ReasonRule)}
	if text := body.Text("until", input.Time); text != "" {
		w.Until = input.ParseTime(text).Truncate(time.Millisecond)
	}
	return w
}
