package input

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Visible reports whether all characters of a text can be seen, and only in the order in which they are stored. It
// refuses what can make two texts look the same (Unicode Technical Report 36): control characters, characters without a
// width or a mark, marks of the direction of writing, line separators, code points that are not characters, and a text that
// is only a blank of braille. Joiners are allowed where a script needs them (RFC 5892, Appendix A.1 and A.2), and variation
// selectors after a base character. It is the rule of every text that people send.
func Visible(text string) bool {
	_, _, found := hidden(text)
	return !found
}

// hidden returns the first character of a text that Visible refuses, and its position, which begins at 1.
func hidden(text string) (c rune, position int, found bool) {
	seen := false
	for i, c := range text {
		position++
		if hostile(c) && !fits(text[:i], c, text[i+utf8.RuneLen(c):]) {
			return c, position, true
		}
		seen = seen || !unicode.IsSpace(c) && c != brailleBlank
	}
	if at := strings.IndexRune(text, brailleBlank); at >= 0 && !seen {
		return brailleBlank, utf8.RuneCountInString(text[:at]) + 1, true
	}
	return 0, 0, false
}

// brailleBlank is a blank that Unicode does not call white space.
const brailleBlank = '\u2800'

// Where says which character of a text cannot be seen; empty: all can.
func Where(text string) string {
	c, position, found := hidden(text)
	if !found {
		return ""
	}
	return fmt.Sprintf("character %d is %U, %s", position, c, kind(c))
}

func kind(c rune) string {
	switch {
	case c == '\n' || c == '\r' || c == '\u2028' || c == '\u2029':
		return "a line break"
	case c == '\t':
		return "a tab"
	case unicode.IsControl(c):
		return "a control character"
	case c == brailleBlank:
		return "a blank, and nothing else can be seen"
	case c == zeroWidthNonJoiner || c == zeroWidthJoiner:
		return "a joiner, where it joins nothing"
	case unicode.Is(unicode.Variation_Selector, c):
		return "a variation selector without a character before it"
	}
	return "which cannot be seen"
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	virama             = 9 // the combining class of the marks that suppress a vowel
)

// fits reports whether a character that cannot be seen alone has an effect between others.
func fits(before string, c rune, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case before == "":
		return false
	case unicode.Is(unicode.Variation_Selector, c):
		return unicode.In(last, unicode.L, unicode.N, unicode.P, unicode.S)
	case c != zeroWidthNonJoiner && c != zeroWidthJoiner:
		return false
	case norm.NFC.PropertiesString(string(last)).CCC() == virama:
		return true
	case c == zeroWidthJoiner:
		return false
	}
	mark := func(c rune) bool { return unicode.In(c, unicode.Mn, unicode.Me) }
	left, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, mark))
	right, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, mark))
	return unicode.Is(joinLeft, left) && unicode.Is(joinRight, right)
}

// hostile reports whether a character cannot be seen alone.
func hostile(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(invisible, c) || unicode.Is(unicode.Variation_Selector, c) || c&0xfffe == 0xfffe
}

var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180e, Hi: 0x180e, Stride: 1}, // Mongolian vowel separator
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // zero-width space, joiners, direction marks
		{Lo: 0x2028, Hi: 0x202e, Stride: 1}, // line and paragraph separators, embeddings and overrides
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // word joiner, isolates, deprecated format characters
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfdd0, Hi: 0xfdef, Stride: 1}, // not characters
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // zero-width no-break space
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // annotations
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},  // controls of shorthand
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},  // controls of music
		{Lo: 0xe0000, Hi: 0x10ffff, Stride: 1}, // tags, and the planes for private use
	},
	LatinOffset: 1,
}

// Cleaned is a text that a box sends, in Unicode's normal form NFC, with a question mark for each character that Visible
// would refuse. What boxes say is evidence, so it is kept rather than refused.
func Cleaned(text string) string {
	text = norm.NFC.String(strings.ToValidUTF8(text, "?"))
	var kept strings.Builder
	for i, c := range text {
		if hostile(c) && !fits(kept.String(), c, text[i+utf8.RuneLen(c):]) {
			c = '?'
		}
		kept.WriteRune(c)
	}
	return kept.String()
}

// Printable reports whether a value contains no control characters.
func Printable(value string) bool {
	return !strings.ContainsFunc(value, unicode.IsControl)
}
