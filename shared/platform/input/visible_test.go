package input_test

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

func TestVisible_RefusesWhatCannotBeSeen(t *testing.T) {
	for name, c := range map[string]rune{
		"a control character": 0x07, "a line break": '\n', "delete": 0x7f, "a C1 control": 0x85, "a soft hyphen": 0xad,
		"a zero-width space": 0x200b, "a zero-width joiner": 0x200d, "a mark of direction": 0x200f, "a line separator": 0x2028,
		"an override of direction": 0x202e, "an isolate": 0x2066, "a byte order mark": 0xfeff, "a filler": 0x3164,
		"a code point that is not a character": 0xfdd0, "the last of a plane": 0x1ffff, "the last but one of the last plane": 0x10fffe, "a tag": 0xe0041,
	} {
		if text := "a" + string(c) + "b"; input.Visible(text) {
			t.Errorf("%s is accepted", name)
		} else if got := input.Cleaned(text); got != "a?b" {
			t.Errorf("%s is cleaned to %q", name, got)
		}
	}
	for _, text := range []string{"", "Fräsen, Halle 1", "铣削", "фреза", "⚙ 🔧", "a b", "ﷺ", "\ufffd"} {
		expect.That(t, input.Visible(text) && input.Cleaned(text) == text, "%q is refused or changed", text)
	}
}

// TestVisible_WhereAScriptNeedsThem_TakesJoiners: they are those of RFC 5892, Appendix A.1 and A.2.
func TestVisible_WhereAScriptNeedsThem_TakesJoiners(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		where string // empty: it is visible
	}{
		"Persian":                              {"می\u200cخواهم", ""},
		"Persian, after a mark":                {"نَ\u200cنا", ""},
		"Hindi, a half consonant":              {"क्\u200dष", ""},
		"Hindi, no ligature":                   {"क्\u200cष", ""},
		"Sinhala":                              {"ශ්\u200dරී", ""},
		"a Japanese place":                     {"葛\U000e0100城市", ""},
		"an emoji":                             {"⚠\ufe0f hot", ""},
		"a Mongolian selector":                 {"ᠠ\u180bᠠ", ""},
		"Braille":                              {"⠓⠑⠇⠇⠕\u2800⠺", ""},
		"between Latin letters":                {"ab\u200cc", "character 3 is U+200C, a joiner, where it joins nothing"},
		"a joiner after Arabic":                {"ب\u200dب", "character 2 is U+200D, a joiner, where it joins nothing"},
		"after a letter that does not join":    {"ا\u200cب", "character 2 is U+200C, a joiner, where it joins nothing"},
		"at the end":                           {"می\u200c", "character 3 is U+200C, a joiner, where it joins nothing"},
		"a selector alone":                     {"\ufe0f", "character 1 is U+FE0F, a variation selector without a character before it"},
		"two selectors":                        {"葛\ufe00\U000e0100", "character 3 is U+E0100, a variation selector without a character before it"},
		"only blanks of braille":               {" \u2800\u2800", "character 2 is U+2800, a blank, and nothing else can be seen"},
		"a line break":                         {"a\nb", "character 2 is U+000A, a line break"},
		"a mark of direction, after an umlaut": {"ä\u200f", "character 2 is U+200F, which cannot be seen"},
	} {
		expect.Equal(t, input.Where(c.text), c.where, "%s", name)
		expect.Equal(t, input.Visible(c.text), c.where == "", "%s is visible", name)
	}
	_, _, detail := input.DisplayName.Apply("Halle\u200b 1")
	expect.Equal(t, detail, "must be "+input.DisplayName.Says+"; character 6 is U+200B, which cannot be seen", "the refusal")
}

func TestTextForPeople_IsKeptInNFC(t *testing.T) {
	kept, code, _ := input.DisplayName.Apply(" Fra\u0308sen ")
	expect.That(t, code == "" && kept == "Fr\u00e4sen", "kept %q, code %q", kept, code)
}

func TestCleaned_CanBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Co, unicode.Arabic, unicode.Devanagari, unicode.Variation_Selector), rapid.Rune())).Draw(t, "text")
		if got := input.Cleaned(text); !input.Visible("a"+got) || !norm.NFC.IsNormalString(got) || input.Cleaned(got) != got {
			t.Fatalf("%q is cleaned to %q", text, got)
		}
	})
}
