package report

import (
	"strings"
	"unicode"
)

// invisible lists the characters that a reader cannot see, or that change how others are shown: control and format
// characters, including marks of writing direction, line and paragraph separators, and characters without width.
var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs,
	unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// Shown returns a box's text with a question mark for each invisible character.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if !visible(r) {
			return '?'
		}
		return r
	}, text)
}

func visible(r rune) bool { return !unicode.IsOneOf(invisible, r) && r != unicode.ReplacementChar }
