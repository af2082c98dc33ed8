package command_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/scripts/operator/command"
)

func TestNear_OffersWhatIsSpelledAlike_TheNearestFirst(t *testing.T) {
	channels := []string{"gateway-x/canary", "gateway-x/stable", "gateway-y/stable", "scanner/beta"}
	for wrong, want := range map[string][]string{
		"gateway-x/stabel": {"gateway-x/stable", "gateway-y/stable"},
		"gateway-x/sta":    {"gateway-x/stable"},
		"Gateway-X/Canary": {"gateway-x/canary"},
		"scaner/beta":      {"scanner/beta"},
		"gateway-x/stable": {"gateway-x/stable", "gateway-y/stable"},
		"something/else":   nil,
		"":                 nil,
	} {
		if got := command.Near(wrong, channels); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", wrong, got, want)
		}
	}
}

// TestLetters_AreADistance: it is 0 from a text to itself, symmetric, and satisfies the triangle inequality.
func TestLetters_AreADistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abc/")), 0, 8, -1)
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		ab := command.Letters(a, b)
		if ab != command.Letters(b, a) || (ab == 0) != (a == b) || ab > max(len(a), len(b)) || ab > command.Letters(a, c)+command.Letters(c, b) {
			t.Fatalf("%q and %q are %d apart", a, b, ab)
		}
	})
}

// TestDifferences_AreNoneExactlyBetweenEqualDocuments, except for empty values: null, and empty lists and texts.
func TestDifferences_AreNoneExactlyBetweenEqualDocuments(t *testing.T) {
	document := rapid.Custom(func(t *rapid.T) map[string]any {
		inner := rapid.MapOfN(rapid.SampledFrom([]string{"a", "a.b", "b", ""}), rapid.OneOf(rapid.Just[any](true), rapid.Just[any]("x"), rapid.Just[any](1.5), rapid.Just[any]([]any{"x", "y"})), 1, 3)
		return map[string]any{"a": inner.Draw(t, "a"), "b": []any{inner.Draw(t, "b")}, "c": "c"}
	})
	rapid.Check(t, func(t *rapid.T) {
		var texts [2][]byte
		for i := range texts {
			text, err := json.Marshal(document.Draw(t, "document"))
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = text
		}
		if lines := command.Differences(texts[0], texts[0]); len(lines) > 0 {
			t.Fatalf("%s differs from itself: %q", texts[0], lines)
		}
		if lines := command.Differences(texts[0], texts[1]); (len(lines) == 0) != (string(texts[0]) == string(texts[1])) {
			t.Fatalf("%s and %s: %q", texts[0], texts[1], lines)
		}
	})
}

func TestDifferences_ThatAreMany_AreCutInAQuestion(t *testing.T) {
	text, err := json.Marshal(map[string]any{"list": make([]map[string]int, 0), "wide": wide(100)})
	if err != nil {
		t.Fatal(err)
	}
	if lines := command.Differences([]byte("{}"), text); len(lines) != 31 || !strings.Contains(lines[30], "and 70 more") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func wide(n int) map[string]int {
	m := map[string]int{}
	for i := range n {
		m[strings.Repeat("x", i+1)] = i
	}
	return m
}

// FuzzWithoutComments checks that a document without comments stays unchanged, and that only whole lines are dropped.
func FuzzWithoutComments(f *testing.F) {
	f.Add([]byte("// what for\n{\n  // and why\n  \"a\": \"// not this\"\n}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := string(command.WithoutComments(text))
		was, is := strings.Split(string(text), "\n"), strings.Split(got, "\n")
		if len(was) != len(is) {
			t.Fatalf("%q has other lines: %q", text, got)
		}
		for i := range is {
			if comment := strings.HasPrefix(strings.TrimSpace(was[i]), "//"); is[i] != was[i] && !comment || comment && is[i] != "" {
				t.Fatalf("line %d of %q is %q", i, text, is[i])
			}
		}
	})
}
