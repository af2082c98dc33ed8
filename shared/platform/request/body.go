package request

import (
	"encoding/json"
	"strings"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/strictjson"
	"wavegate/shared/platform/value"
)

// A Body is the JSON object of a request. Fields are found by their exact names.
type Body struct {
	in      *Input
	members []strictjson.Member
	asked   []string
}

// Fault adds a fault of a field that no rule of a single value finds.
func (b *Body) Fault(name, code, detail string) {
	b.in.faults = append(b.in.faults, problem.Fault{Pointer: pointer(name), Code: code, Detail: detail})
}

// pointer is the JSON pointer to a field of the body (RFC 6901).
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// find returns the field of a name. A field that comes twice is found once and reported by unknown.
func (b *Body) find(name string) (json.RawMessage, bool) {
	b.asked = append(b.asked, name)
	for _, m := range b.members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return nil, false
}

// unknown reports the fields that nobody asked for and those that came twice.
func (b *Body) unknown() []problem.Fault {
	var faults []problem.Fault
	seen := map[string]bool{}
	asked := map[string]bool{}
	for _, name := range b.asked {
		asked[name] = true
	}
	for _, m := range b.members {
		switch {
		case !seen[m.Name] && !asked[m.Name]:
			faults = append(faults, problem.Fault{Pointer: pointer(m.Name), Code: "unknown", Detail: "is not a field of this operation"})
		case seen[m.Name]:
			faults = append(faults, problem.Fault{Pointer: pointer(m.Name), Code: "duplicate", Detail: "must be given once"})
		}
		seen[m.Name] = true
	}
	return faults
}

// Text returns a required string.
func (b *Body) Text(name string, rule *value.Text) string {
	value, given := b.OptionalText(name, rule)
	if !given && b.in.fatal == nil {
		b.Fault(name, "required", "is required")
	}
	return value
}

// OptionalText returns a string that may be left out. null is not the same as left out and is refused.
func (b *Body) OptionalText(name string, rule *value.Text) (text string, given bool) {
	raw, given := b.find(name)
	if !given {
		return "", false
	}
	if kind := strictjson.KindOf(raw); kind != strictjson.String {
		b.Fault(name, "type", "must be a string, not "+string(kind))
		return "", true
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		b.Fault(name, "type", "must be a string")
		return "", true
	}
	kept, code, detail := rule.Apply(text)
	if code != "" {
		b.Fault(name, code, detail)
	}
	return kept, true
}

// ClearableText returns a string that may be left out (nil) or taken away: null gives the empty string.
func (b *Body) ClearableText(name string, rule *value.Text) *string {
	raw, given := b.find(name)
	if given && strictjson.KindOf(raw) == strictjson.Null {
		return new(string)
	}
	text, given := b.OptionalText(name, rule)
	if !given {
		return nil
	}
	return &text
}

// Integer is OptionalInteger for a number that is required.
func (b *Body) Integer(name string, rule *value.Integer) int64 {
	n, given := b.OptionalInteger(name, rule)
	if !given && b.in.fatal == nil {
		b.Fault(name, "required", "is required")
	}
	return n
}

// OptionalInteger returns a whole number that may be left out. A number is a number however it is
// written: 10, 10.0 and 1e1 are the same.
func (b *Body) OptionalInteger(name string, rule *value.Integer) (n int64, given bool) {
	raw, given := b.find(name)
	if !given {
		return 0, false
	}
	if kind := strictjson.KindOf(raw); kind != strictjson.Number {
		b.Fault(name, "type", "must be a number, not "+string(kind))
		return 0, true
	}
	n, ok := strictjson.Integer(string(raw))
	if !ok || !rule.Accepts(n) {
		b.Fault(name, "range", "must be "+rule.Says())
	}
	return n, true
}

// Require adds the fault that at least one of some fields is needed.
func (b *Body) Require(names ...string) {
	if b.in.fatal == nil {
		b.in.faults = append(b.in.faults, problem.Fault{Pointer: "", Code: "required",
			Detail: "must have at least one of " + strings.Join(names, ", ")})
	}
}
