package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/input"
)

const (
	// MostAttributes is how many attributes a box has by its registration, and how many by what it says.
	MostAttributes = 16
	mostOfName     = 32
	// mostOfAttributes bounds their names and values together, in bytes, because each write of a row pays for them.
	mostOfAttributes = 1024
)

var (
	// AttributeName accepts the names of attributes.
	AttributeName = &input.Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._-]{0,31}`,
		Says:    "1 to 32 letters, digits, dots, underscores or hyphens, the first a letter or digit",
	}
	// AttributeValue accepts their values.
	AttributeValue = &input.Text{
		Min: 1, Max: 64, Trim: true, Check: input.Visible,
		Says: "1 to 64 characters without control characters and invisible characters",
	}
)

// AttributesOf reads the attributes of a registration: nil if they are not given, and empty if they are null.
func AttributesOf(body *input.Object) map[string]string {
	var all map[string]string
	if _, null := body.ClearableObject("attributes", func(o *input.Object) { all = read(o) }); null {
		return map[string]string{}
	}
	return all
}

// SaidOf reads the attributes that a box says itself.
func SaidOf(body *input.Object) (said map[string]string) {
	body.Object("attributes", func(o *input.Object) {
		if !o.Hears() {
			said = read(o)
			return
		}
		said = FittedOf(o)
	})
	return said
}

// FittedOf reads the attributes that a box says itself, whatever they are. A name has an underscore for each character that a
// name cannot have, and is cut, and so is a value. Numbers and booleans are texts. In the order of the names as the box sends
// them, the first of those that have the same name then is kept, and so many as a box may have. What was changed or left
// out is noted.
func FittedOf(o *input.Object) map[string]string {
	kept := map[string]string{}
	texts, unusable := o.Others()
	for _, name := range unusable {
		o.Note(name, name, "")
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		to, value := NameOf(name), AttributeValue.Fitted(texts[name])
		_, known := kept[to]
		switch {
		case to == "" || value == "" || known || !hasRoom(kept, to, value):
			o.Note(name, name+": "+texts[name], "")
			continue
		case to != name || value != texts[name]:
			o.Note(name, name+": "+texts[name], to+": "+value)
		}
		kept[to] = value
	}
	return kept
}

// NameOf is the name that an attribute has here if a box gives it another one; empty: there is none.
func NameOf(said string) string {
	name := strings.TrimLeft(strings.Map(func(c rune) rune {
		if c < 0x80 && AttributeName.Accepts("a"+string(c)) {
			return c
		}
		return '_'
	}, strings.TrimSpace(said)), "._-")
	return name[:min(len(name), mostOfName)]
}

func hasRoom(kept map[string]string, name, value string) bool {
	return len(kept) < MostAttributes && size(kept)+len(name)+len(value) <= mostOfAttributes
}

func read(o *input.Object) map[string]string {
	all := o.Names(AttributeName, AttributeValue, MostAttributes)
	if size(all) > mostOfAttributes {
		o.Fault("", "length", fmt.Sprintf("must have names and values of at most %d bytes together", mostOfAttributes))
	}
	return all
}

func size(attributes map[string]string) (bytes int) {
	for name, value := range attributes {
		bytes += len(name) + len(value)
	}
	return bytes
}

// Fitting keeps of two sets of attributes what is valid, in the order of names, as long as there is room. The first set
// comes first. It is for programs of others, which nobody here can correct.
func Fitting(first, then map[string]string) map[string]string {
	kept := map[string]string{}
	for _, set := range []map[string]string{first, then} {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			value, _, wrong := AttributeValue.Apply(set[name])
			_, known := kept[name]
			if !known && wrong == "" && AttributeName.Accepts(name) && hasRoom(kept, name, value) {
				kept[name] = value
			}
		}
	}
	return kept
}

// A Description is what a box says about itself: its attributes. They take the place of those that it said before.
type Description struct {
	Said map[string]string
	At   time.Time
}

// When is the time of the call.
func (d Description) When() time.Time { return d.At }

// Change takes the attributes.
func (d Description) Change(next *Row, _ Row) { next.Say(d.Said) }

// Say sets what a box says. The first time that this differs after it was told of a rollout, it keeps what it said before.
func (r *Row) Say(said map[string]string) {
	if maps.Equal(r.Said, said) {
		return
	}
	if o := r.Offer; o != nil && o.RolloutID != "" && (r.Before == nil || r.Before.RolloutID != o.RolloutID) {
		r.Before = &SaidBefore{o.RolloutID, r.Said}
	}
	if r.Said = said; len(said) == 0 {
		r.Said = nil // as it is read again
	}
}

// SaidBefore are the attributes that a box said before it was told of a rollout.
type SaidBefore struct {
	RolloutID string            `json:"rolloutId" stored:"identity"`
	Said      map[string]string `json:"said,omitempty"`
}

// AttributesBefore are the box's attributes, those that it says as they were before it was told of a rollout: a release
// that changes them must not make up kinds of boxes. What the registration says wins.
func (r Row) AttributesBefore(rolloutID string) map[string]string {
	said := r.Said
	if r.Before != nil && r.Before.RolloutID == rolloutID {
		said = r.Before.Said
	}
	all := maps.Clone(said)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, r.Attributes)
	return all
}
