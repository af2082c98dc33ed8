package report

import "unicode"

// invisible are the characters that a reader cannot see, or that change how others are shown: control
// and format characters, which the marks of writing direction are among, line and paragraph separators,
// and what is drawn with no width.
var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs,
	unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// Plain tells whether a text shows all that it holds. What a box says is shown to people beside what the
// service says, and must not be able to pass for it.
func Plain(text string) bool {
	for _, r := range text {
		if unicode.IsOneOf(invisible, r) || r == unicode.ReplacementChar {
			return false
		}
	}
	return true
}
