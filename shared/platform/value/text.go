// Package value says what the values that callers send look like: identifiers, display names, times and
// digests. Rules that only one subject needs stand beside that subject.
package value

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Text is the rule of a string value. The contract's tests compare every rule with the published
// contract.
type Text struct {
	// Pattern is a regular expression that the whole value must match; empty: any.
	Pattern string
	// Min and Max bound the length in characters (Unicode code points), after trimming; Max 0: no
	// bound.
	Min, Max int
	// Trim removes white space around the value before it is checked and kept.
	Trim bool
	// Lower keeps the value in lower case.
	Lower bool
	// Says tells a caller what is taken, for example "64 hexadecimal digits".
	Says string
	// Check, where set, has the last word; false refuses with Says.
	Check func(string) bool

	once   sync.Once
	regexp *regexp.Regexp
}

// Accepts tells whether a value follows the rule.
func (t *Text) Accepts(value string) bool {
	_, code, _ := t.Apply(value)
	return code == ""
}

// Apply returns the value as it is kept, or the code and detail of what is wrong with it.
func (t *Text) Apply(value string) (kept, code, detail string) {
	if t.Trim {
		value = strings.TrimSpace(value)
	}
	n := utf8.RuneCountInString(value)
	switch {
	case n < t.Min, t.Max > 0 && n > t.Max:
		return "", "length", fmt.Sprintf("must have %s, not %d", t.length(), n)
	case t.Pattern != "" && !t.matches(value), t.Check != nil && !t.Check(value):
		return "", "format", "must be " + t.Says
	}
	if t.Lower {
		value = strings.ToLower(value)
	}
	return value, "", ""
}

func (t *Text) length() string {
	switch {
	case t.Max == 0:
		return fmt.Sprintf("at least %d characters", t.Min)
	case t.Min == t.Max:
		return fmt.Sprintf("%d characters", t.Min)
	}
	return fmt.Sprintf("%d to %d characters", t.Min, t.Max)
}

// matches compiles the pattern at its first use, so that a function pays at start-up for none.
func (t *Text) matches(value string) bool {
	t.once.Do(func() { t.regexp = regexp.MustCompile(`\A(?:` + t.Pattern + `)\z`) })
	return t.regexp.MatchString(value)
}
