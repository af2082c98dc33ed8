package report

import "time"

// A box that comes from another server runs something that this service has not told it. It is told nothing new until it says what
// that is, or somebody says it for the box; otherwise the first poll would install what most boxes already have.

// Imported says that a box comes from another server.
type Imported struct {
	Since time.Time `json:"since" stored:"identity"`
	// ActionsAbove is at least the highest number of an action at the other server. The box's own actions are above it.
	ActionsAbove int64 `json:"actionsAbove"`
	// Version is what somebody says the box runs; empty: nobody does.
	Version string `json:"version,omitempty"`
}

// Actions of imported boxes are above LeastAction. MostAction leaves room for a billion actions in the 32 bits that clients use.
const (
	LeastAction = 1 << 20
	MostAction  = 1 << 30
)

// After is what holds of a box of which the one was said, and then the other; nil: nothing was said.
func (i *Imported) After(was *Imported, at time.Time) *Imported {
	switch {
	case i == nil:
		return was
	case was == nil:
		next := *i
		next.Since = at
		return &next
	}
	next := *was
	next.ActionsAbove = max(next.ActionsAbove, i.ActionsAbove)
	if i.Version != "" {
		next.Version = i.Version
	}
	return &next
}

// Unsaid is what holds of a box once what somebody said it runs no longer does.
func (i *Imported) Unsaid() *Imported {
	if i == nil {
		return nil
	}
	next := *i
	next.Version = ""
	return &next
}

// Unproven reports whether the box comes from another server, and nobody knows what it runs.
func (r Row) Unproven() bool { return r.Imported != nil && r.Running == "" && r.Written == "" }

// SaysOtherwise reports whether the box itself has said that it runs another version.
func (r Row) SaysOtherwise(version string) bool {
	return version != "" && r.Running != "" && !r.Assumed && r.Running != version
}

// AssumedSentence says to a person that the box itself has not said what it runs; empty: it has.
func (r Row) AssumedSentence() string {
	if !r.Assumed {
		return ""
	}
	return " It counts as running " + r.Running + " because somebody said so; the box has not."
}

// arrives takes what is said of an imported box into its row.
func (r *Row) arrives(is *Imported) {
	r.Imported = is
	if is == nil {
		r.Assumed = false
		return
	}
	r.Revision = max(r.Revision, is.ActionsAbove)
	if (r.Running == "" || r.Assumed) && is.Version != "" {
		r.Running, r.Assumed = is.Version, true
	}
}
