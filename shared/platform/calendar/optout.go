package calendar

import (
	"time"

	"wavegate/shared/platform/input"
)

// An OptOut is what somebody has said for a plant whose boxes shall not be told releases.
type OptOut struct {
	Of     Scope      `json:"of"`
	Reason string     `json:"reason"`
	By     Signer     `json:"by"`
	At     time.Time  `json:"at"`
	Until  *time.Time `json:"until,omitempty"` // nil: until somebody ends it
}

// A Signer is the person who has said something.
type Signer struct {
	Issuer string `json:"issuer" stored:"identity"`
	UserID string `json:"userId" stored:"identity"`
}

// A Scope says which releases an opt-out is of.
type Scope string

// Scopes. A manufacturer may also allow OfNone to the boxes of an edge type.
const (
	OfNone     Scope = "none"
	OfOrdinary Scope = "ordinary" // all but those for security
	OfAll      Scope = "all"
)

var (
	scopeRule = &input.Text{Pattern: `ordinary|all`, Says: "ordinary or all"}
	// AllowedRule accepts what a manufacturer allows customers to opt out of.
	AllowedRule = &input.Text{Pattern: `none|ordinary|all`, Says: "none, ordinary or all"}
)

// readOptOut reads an opt-out; nil: it stays.
func readOptOut(o *input.Object, reasons *input.Text) *OptOut {
	var wish OptOut
	given, null := o.ClearableObject("optOut", func(o *input.Object) {
		wish.Of, wish.Reason = Scope(o.Text("of", scopeRule)), o.Text("reason", reasons)
		if until, given := o.OptionalText("until", input.Time); given {
			wish.Until = new(input.ParseTime(until).Truncate(time.Millisecond))
		}
	})
	if !given && !null {
		return nil
	}
	return &wish
}

// with is the opt-out after a wish. It returns what is wrong with its end; empty: nothing. Who repeats what was said does not
// sign it.
func (o *OptOut) with(wish OptOut, by Signer, at time.Time) (next *OptOut, fault string) {
	switch {
	case wish.Of == "":
		return nil, ""
	case wish.Until != nil && !wish.Until.After(at):
		return o, "must be in the future; optOut null ends it"
	case o != nil && o.Of == wish.Of && o.Reason == wish.Reason && sameTime(o.Until, wish.Until):
		return o, ""
	}
	wish.By, wish.At = by, at
	return &wish, ""
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// holds reports whether the opt-out has not ended.
func (o *OptOut) holds(at time.Time) bool { return o != nil && (o.Until == nil || o.Until.After(at)) }

// keeps reports whether the opt-out keeps a release from boxes. A faulty scope keeps nothing.
func (o *OptOut) keeps(h Haste, at time.Time) bool {
	return o.holds(at) && (o.Of == OfAll || o.Of == OfOrdinary && !h.Security)
}

// OptedOut reports whether an opt-out holds.
func (u *Updates) OptedOut(at time.Time) bool { return u != nil && u.OptOut.holds(at) }

// Within returns the updates with no more of an opt-out than the manufacturer allows; empty: all.
func (u *Updates) Within(allowed Scope) *Updates {
	if u == nil || u.OptOut == nil || allowed == "" || allowed == OfAll || allowed == u.OptOut.Of {
		return u
	}
	next := *u
	if next.OptOut = nil; allowed == OfOrdinary {
		less := *u.OptOut
		less.Of, next.OptOut = allowed, &less
	}
	return &next
}
