package input_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

func TestSHA256_IsKeptInLowerCase(t *testing.T) {
	upper := strings.Repeat("AB", 32)
	kept, code, _ := input.SHA256.Apply(upper)
	expect.That(t, code == "" && kept == strings.ToLower(upper), "upper case: kept %q, code %q", kept, code)
}

func TestRules_AcceptAndRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		rule         *input.Text
		take, refuse []string
	}{
		"Name": {input.Name, []string{"a", "9", "gateway-x", "A.b_c-d", strings.Repeat("a", 64)},
			[]string{"", "-a", ".a", "_a", "a b", "a/b", "ä", "a\n", strings.Repeat("a", 65)}},
		"Slug": {input.Slug, []string{"a", "munich-1", strings.Repeat("a", 63)},
			[]string{"", "-a", "Munich", "a_b", "a.b", strings.Repeat("a", 64)}},
		"DisplayName": {input.DisplayName, []string{"a", "Fräsen, Halle 1", strings.Repeat("ü", 200)},
			[]string{"", " \t", "a\nb", "a\x7fb", "\u200b", "a\u200bb", "a\u202eb", "\ufeffa", "a\u2028b", "a\u2066b\u2069", strings.Repeat("ü", 201)}},
		"ID": {input.ID, []string{"https://a.example", "a b", strings.Repeat("~", 512)}, []string{"", "ä", "a\tb", strings.Repeat("a", 513)}},
		"UUID": {input.UUID, []string{"0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a", "0192F0C1-6D2E-7A55-9C3B-1F2E3D4C5B6A"},
			[]string{"", "0192f0c16d2e7a559c3b1f2e3d4c5b6a", "{0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a}", "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6g"}},
		"SHA256": {input.SHA256, []string{strings.Repeat("0f", 32)},
			[]string{"", strings.Repeat("a", 63), strings.Repeat("a", 65), strings.Repeat("g", 64), strings.Repeat("a", 63) + " "}},
		"Time": {input.Time, []string{"2026-03-01T12:00:00Z", "2026-03-01T13:00:00.250+01:00", "2026-03-01T13:00:00.123456789-14:00", "0001-01-01T00:00:00Z", "2026-03-01T12:00:00.1234567890Z"},
			[]string{"", "now", "2026-03-01", "2026-03-01T12:00:00", "2026-02-30T12:00:00Z", "2026-03-01t12:00:00z", "2026-03-01T12:00:60Z"}},
	} {
		for _, text := range c.take {
			expect.That(t, c.rule.Accepts(text), "%s: %.70q was refused", name, text)
		}
		for _, text := range c.refuse {
			expect.That(t, !c.rule.Accepts(text), "%s: %.70q was accepted", name, text)
		}
	}
}

func TestParseTime_GivesTheInstant(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(r, "an offset east of UTC"))
		at := time.Unix(rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(r, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(r, "ns"))
		text := at.In(zone).Format(time.RFC3339Nano)
		if got := input.ParseTime(text); !input.Time.Accepts(text) || !got.Equal(at) || got.Location() != time.UTC {
			r.Fatalf("%s was read as %s", text, got)
		}
	})
}
