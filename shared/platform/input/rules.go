package input

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// These rules are shared by several packages.
var (
	// Name is the rule of names that programs use: edge types, channels, machine codes and organization ids.
	Name = &Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`,
		Says:    "1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or digit",
	}
	// EdgeID is the rule of the ids of boxes. It accepts what fleets have, such as MAC addresses and serial numbers.
	EdgeID = &Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._:-]{0,127}`,
		Says:    "1 to 128 letters, digits, dots, underscores, hyphens or colons, the first a letter or digit",
	}
	// Slug is the rule of factory ids.
	Slug = &Text{
		Pattern: `[a-z0-9][a-z0-9-]{0,62}`,
		Says:    "1 to 63 lower-case letters, digits or hyphens, the first a letter or digit",
	}
	// DisplayName is the rule of names for people, of a factory, a machine or a production
	// method.
	DisplayName = &Text{
		Min: 1, Max: 200, Trim: true, Check: Visible,
		Says: "1 to 200 characters without control characters and invisible characters",
	}
	// ID is the rule of identifiers that other systems choose: issuers, users, resources of any type.
	ID = &Text{Pattern: `[ -~]{1,512}`, Says: "1 to 512 printable ASCII characters"}
	// UUID is the rule of a UUID of any version. It is stored in lower case (RFC 9562 §4).
	UUID = &Text{
		Pattern: `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`,
		Lower:   true,
		Says:    "a UUID such as 0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a",
	}
	// SHA256 is the rule of a digest in upper or lower case. It is stored in lower case.
	SHA256 = &Text{Pattern: `[0-9A-Fa-f]{64}`, Lower: true, Says: "64 hexadecimal digits"}
	// Time is the rule of times: RFC 3339 with a time zone. The date must exist. Leap seconds
	// are refused, because no clock of the service has them.
	Time = &Text{
		Pattern: `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})`,
		Max:     64,
		Check:   isTime,
		Says:    "a time with a zone such as 2026-03-01T12:00:00Z or 2026-03-01T13:00:00.250+01:00 (RFC 3339; in a query, + is sent as %2B)",
	}
)

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// ParseTime returns the instant of a text that Time accepts, in UTC, and the zero time for any
// other text.
func ParseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// Visible reports whether all characters of a text can be seen, and only in the order in which they are stored. It
// refuses what can make two texts look the same (Unicode Technical Report 36): control characters, characters without a
// width or a mark, marks of the direction of writing, line separators, and code points that are not characters. It is
// the rule of every text that people send.
func Visible(text string) bool { return !strings.ContainsFunc(text, hostile) }

func hostile(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(invisible, c) || c&0xfffe == 0xfffe
}

var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors and vowel separator
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

// Cleaned is a text that a box sends, in Unicode's normal form NFC, with U+FFFD for each character
// that Visible would refuse. What boxes say is evidence, so it is kept rather than refused.
func Cleaned(text string) string {
	return norm.NFC.String(strings.Map(func(c rune) rune {
		if hostile(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text))
}

// Printable reports whether a value contains no control characters.
func Printable(value string) bool {
	return !strings.ContainsFunc(value, unicode.IsControl)
}
