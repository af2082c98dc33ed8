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
		} else if got := input.Cleaned(text); got != "a\ufffdb" {
			t.Errorf("%s is cleaned to %q", name, got)
		}
	}
	for _, text := range []string{"", "Fräsen, Halle 1", "铣削", "фреза", "⚙ 🔧", "a b", "ﷺ", "\ufffd"} {
		expect.That(t, input.Visible(text) && input.Cleaned(text) == text, "%q is refused or changed", text)
	}
}

func TestTextForPeople_IsKeptInNFC(t *testing.T) {
	kept, code, _ := input.DisplayName.Apply(" Fra\u0308sen ")
	expect.That(t, code == "" && kept == "Fr\u00e4sen", "kept %q, code %q", kept, code)
}

func TestCleaned_CanBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Co), rapid.Rune())).Draw(t, "text")
		if got := input.Cleaned(text); !input.Visible(got) || !norm.NFC.IsNormalString(got) || input.Cleaned(got) != got {
			t.Fatalf("%q is cleaned to %q", text, got)
		}
	})
}
