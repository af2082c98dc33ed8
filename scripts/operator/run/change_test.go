package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/scripts/operator/run"
)

// TestDifferences_AreNoneExactlyBetweenEqualDocuments, except for empty values: null, and empty lists and texts.
func TestDifferences_AreNoneExactlyBetweenEqualDocuments(t *testing.T) {
	document := rapid.Custom(func(t *rapid.T) string {
		inner := rapid.MapOfN(rapid.SampledFrom([]string{"a", "a.b", "b", ""}),
			rapid.OneOf(rapid.Just[any](true), rapid.Just[any]("x"), rapid.Just[any](1.5), rapid.Just[any]([]any{"x", "y"})),
			1, 3)
		text, _ := json.Marshal(map[string]any{"a": inner.Draw(t, "a"), "b": []any{inner.Draw(t, "b")}, "c": "c"}) // it can be encoded
		return string(text)
	})
	rapid.Check(t, func(t *rapid.T) {
		was, is := document.Draw(t, "was"), document.Draw(t, "is")
		if lines := run.Differences([]byte(was), []byte(was)); len(lines) > 0 {
			t.Fatalf("%s differs from itself: %q", was, lines)
		}
		if lines := run.Differences([]byte(was), []byte(is)); (len(lines) == 0) != (was == is) {
			t.Fatalf("%s and %s: %q", was, is, lines)
		}
	})
}

func TestDifferences_ThatAreMany_AreCutInAQuestion(t *testing.T) {
	text := "{"
	for i := range 100 {
		text += `"` + strings.Repeat("x", i+1) + `":1,`
	}
	lines := run.Differences([]byte("{}"), []byte(strings.TrimSuffix(text, ",")+"}"))
	if len(lines) != 31 || !strings.Contains(lines[30], "and 70 more") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
