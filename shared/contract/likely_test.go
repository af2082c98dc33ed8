package contract_test

import (
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

// odd are characters that text rules treat differently: white space of every kind and its neighbours, control
// characters, and characters of more than one unit in UTF-8 or UTF-16.
var odd = []rune{
	' ', '\t', '\n', '\v', '\f', '\r', 0, 8, 0x0e, 0x1f, 0x20, '!', '~', 0x7f, 0x80, 0x84, 0x85, 0x86, 0x9f, 0xa0, 0xa1, 0xac, 0xad, 0xae, 0x61b, 0x61c, 0x61d, 0x180d, 0x180e, 0x180f, 0x167f, 0x1680, 0x1681,
	0x1fff, 0x2000, 0x2009, 0x200a, 0x200b, 0x200f, 0x2010, 0x2027, 0x2028, 0x2029, 0x202a, 0x202e, 0x202f, 0x205f, 0x2060, 0x206f, 0x2070, 0x2fff, 0x3000, 0x3001, 0xfeff, 0xff00, 0xfff8, 0xfff9, 0xfffb, 0xfffc, 'é', '😀',
	0x1bca0, 0x1d17a, 0x1d17b, 0x1fffe, 0x20000, 0xdffff, 0xe0000, 0xe0041, 0xe1000, 0xf0000, 0x10fffd,
}

// likely yields texts on which a rule and a pattern are likely to differ: every odd character at every
// place of a short text, and some of them at the bounds of length.
func likely(rule *input.Text) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, length := range []int{0, 1, 2, 3} {
			for text := range around(length, odd) {
				if !yield(text) {
					return
				}
			}
		}
		for _, bound := range slices.Compact([]int{rule.Min, rule.Max}) {
			for _, length := range []int{bound - 1, bound, bound + 1} {
				for text := range around(length, []rune{' ', 0, 0x2003, 'é', '😀'}) {
					if !yield(text) {
						return
					}
				}
			}
		}
	}
}

// around yields texts of a length with some characters before them, behind them, around them, and in
// their places.
func around(length int, some []rune) iter.Seq[string] {
	return func(yield func(string) bool) {
		if length < 0 {
			return
		}
		plain := strings.Repeat("a", length)
		if !yield(plain) {
			return
		}
		for _, r := range some {
			all := []string{string(r) + plain, plain + string(r), string(r) + plain + string(r), strings.Repeat(string(r), length)}
			for _, place := range []int{0, length / 2, length - 1} {
				if place >= 0 && place < length {
					all = append(all, plain[:place]+string(r)+plain[place+1:])
				}
			}
			for _, text := range all {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// TestLikely_FindsWhatAPatternForgets: each pattern is almost that of a name of 1 to 200 characters.
func TestLikely_FindsWhatAPatternForgets(t *testing.T) {
	const (
		hidden  = `\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180e}\x{200b}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{fdd0}-\x{fdef}\x{feff}\x{ffa0}\x{fff0}-\x{fffb}\x{fffe}\x{ffff}`
		space   = `[\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*`
		visible = `[^\x00-\x20\x7f-\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}` + hidden + `]`
		any     = `[^\x00-\x1f\x7f-\x9f\x{2028}\x{2029}` + hidden + `]`
	)
	rule := input.DisplayName
	right, unseen := `^`+space+visible+`(`+any+`{0,198}`+visible+`)?`+space+`$`, document(t).Components.Schemas["Unseen"].Value.Pattern
	found := disagreements(right, unseen, 0, math.MaxInt, rule)
	expect.That(t, found == nil, "the right pattern: %v", found)
	for name, not := range map[string]string{"everything above U+FFFF is seen": "", "nothing above U+FFFF is seen": `[\x{10000}-\x{10ffff}]`, "private use is seen": `[\x{e0000}-\x{effff}]`} {
		expect.That(t, disagreements(right, not, 0, math.MaxInt, rule) != nil, "%s: nothing was found", name)
	}
	for name, pattern := range map[string]string{
		"one more":             `^` + space + visible + `(` + any + `{0,199}` + visible + `)?` + space + `$`,
		"one less":             `^` + space + visible + `(` + any + `{0,197}` + visible + `)?` + space + `$`,
		"empty":                `^` + space + `(` + visible + `(` + any + `{0,198}` + visible + `)?)?` + space + `$`,
		"no single character":  `^` + space + visible + any + `{0,198}` + visible + space + `$`,
		"no space before":      `^` + visible + `(` + any + `{0,198}` + visible + `)?` + space + `$`,
		"no space behind":      `^` + space + visible + `(` + any + `{0,198}` + visible + `)?$`,
		"control characters":   `^` + space + visible + `((?s:.){0,198}` + visible + `)?` + space + `$`,
		"spaces are counted":   `^` + any + `{1,200}$`,
		"spaces of ASCII only": `^[\t-\r ]*[^\x00-\x20\x7f-\x9f](` + any + `{0,198}[^\x00-\x20\x7f-\x9f])?[\t-\r ]*$`,
		"no C1 controls":       `^` + space + visible + `([^\x00-\x1f\x7f]{0,198}` + visible + `)?` + space + `$`,
		"no emoji":             `^` + space + visible + `([^\x00-\x1f\x7f-\x9f\x{10000}-\x{10ffff}]{0,198}` + visible + `)?` + space + `$`,
		"anything":             ``,
	} {
		expect.That(t, disagreements(pattern, unseen, 0, math.MaxInt, rule) != nil, "%s: nothing was found", name)
	}
}

// TestUnseen_OfEveryCharacterBeyondFFFF_SaysWhatTheCodeSays checks all of them, not only the likely ones.
func TestUnseen_OfEveryCharacterBeyondFFFF_SaysWhatTheCodeSays(t *testing.T) {
	unseen := regexp.MustCompile(document(t).Components.Schemas["Unseen"].Value.Pattern)
	for r := rune(0x10000); r <= unicode.MaxRune; r++ {
		if text := string(r); !depends(r) && unseen.MatchString(text) == input.Visible(text) {
			t.Fatalf("%U is unseen: %v in the contract, %v in the code", r, unseen.MatchString(text), !input.Visible(text))
		}
	}
	for r := rune(0); r <= 0xffff; r++ {
		expect.Must(t, !unseen.MatchString(string(r)), "%U is unseen, which the patterns beside it say", r)
	}
}
