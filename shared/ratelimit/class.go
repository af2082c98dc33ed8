package ratelimit

// A Class says which limits a call counts against.
type Class string

const (
	// Ordinary calls count against the user's limit and, unless the caller is a box, against the
	// organization's.
	Ordinary Class = "ordinary"
	// Copilot calls count against the ordinary limits and against the copilot's own limits.
	Copilot Class = "copilot"
	// Reserved calls count like ordinary ones. If those limits refuse them, they can still be
	// admitted from the caller's reserve. Halting a rollout, withdrawing a method or removing an
	// override must not have to wait, and neither must a box's report of a failure.
	Reserved Class = "reserved"
)
