package input

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Text is the rule of a string value. The contract's tests compare every rule with the published
// contract.
type Text struct {
	// Pattern is a regular expression that the whole value must match. Empty accepts any value.
	Pattern string
	// Min and Max bound the length after trimming, in Unicode code points. Max 0 means no bound.
	Min, Max int
	// Trim is for names and other texts for people: it removes white space at both ends, and brings
	// the text into Unicode's normal form NFC, before the value is checked and stored.
	Trim bool
	// Lower stores the value in lower case.
	Lower bool
	// Fit, if set, returns what a value means, before it is checked and stored.
	Fit func(string) string
	// Says describes the accepted values to a caller, for example "64 hexadecimal digits".
	Says string
	// Check, if set, is called last; false refuses the value with Says.
	Check func(string) bool
	// Hint says more about a value that was refused for its format; empty: nothing. Without it, Where does.
	Hint func(string) string

	once   sync.Once
	regexp *regexp.Regexp
}

// Accepts reports whether a value is valid.
func (t *Text) Accepts(value string) bool {
	_, code, _ := t.Apply(value)
	return code == ""
}

// Apply returns the value to store, or a fault's code and detail.
func (t *Text) Apply(value string) (kept, code, detail string) {
	if t.Trim {
		value = norm.NFC.String(strings.TrimSpace(value))
	}
	if t.Fit != nil {
		value = t.Fit(value)
	}
	n := utf8.RuneCountInString(value)
	switch {
	case n < t.Min, t.Max > 0 && n > t.Max:
		return "", "length", fmt.Sprintf("must have %s, not %d", t.length(), n)
	case t.Pattern != "" && !t.matches(value), t.Check != nil && !t.Check(value):
		return "", "format", t.refusal(value)
	}
	if t.Lower {
		value = strings.ToLower(value)
	}
	return value, "", ""
}

func (t *Text) refusal(value string) string {
	more := Where
	if t.Hint != nil {
		more = t.Hint
	}
	if hint := more(value); hint != "" {
		return "must be " + t.Says + "; " + hint
	}
	return "must be " + t.Says
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

// matches compiles the pattern at its first use, to keep a function's start-up short.
func (t *Text) matches(value string) bool {
	t.once.Do(func() { t.regexp = regexp.MustCompile(`\A(?:` + t.Pattern + `)\z`) })
	return t.regexp.MatchString(value)
}
