package report

import (
	"strings"
	"unicode"
)

// invisible are the characters that a reader cannot see, or that change how others are shown: control
// and format characters, which the marks of writing direction are among, line and paragraph separators,
// and what is drawn with no width.
var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs,
	unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// Shown is a text that a box says, with a question mark for each character that cannot be seen.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if !visible(r) {
			return '?'
		}
		return r
	}, text)
}

func visible(r rune) bool { return !unicode.IsOneOf(invisible, r) && r != unicode.ReplacementChar }
