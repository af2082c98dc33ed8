package content_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/testing/expect"
)

func must(t *rapid.T, text []byte) content.Content {
	c, faults := content.Parse(text)
	expect.Must(t, len(faults) == 0, "%v in %s", faults, text)
	return c
}

// respell writes a value with its fields in a random order, with white space, and with other
// spellings of numbers and strings.
func respell(t *rapid.T, v any) string {
	space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
	switch v := v.(type) {
	case map[string]any:
		var fields []string
		for name, inner := range v {
			fields = append(fields, space+respell(t, name)+space+":"+respell(t, inner))
		}
		slices.Sort(fields)
		return "{" + strings.Join(rapid.Permutation(fields).Draw(t, "order"), ",") + space + "}"
	case []any:
		var elements []string
		for _, inner := range v {
			elements = append(elements, respell(t, inner))
		}
		return "[" + space + strings.Join(elements, ",") + "]"
	case float64:
		plain := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(plain, ".") {
			plain += ".0"
		}
		return rapid.SampledFrom([]string{plain, plain + "00", strconv.FormatFloat(v, 'E', -1, 64)}).Draw(t, "number")
	case string:
		if rapid.Bool().Draw(t, "escaped") {
			quoted := strconv.QuoteToASCII(v)
			if !strings.Contains(quoted, `\U`) && !strings.Contains(quoted, `\x`) {
				return quoted
			}
		}
	}
	return string(encoded(v))
}

func TestHash_SameContentInAnySpelling_HasTheSameHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawContent(t)
		a, b := must(t, encoded(drawn)), must(t, []byte(respell(t, drawn)))
		if a.SHA256() != b.SHA256() {
			t.Fatalf("%s\n%s", a.Bytes(), b.Bytes())
		}
	})
}

func TestHash_AnotherContent_HasAnotherHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawContent(t), drawContent(t)
		same := bytes.Equal(encoded(a), encoded(b)) // encoding/json sorts names
		if same != (must(t, encoded(a)).SHA256() == must(t, encoded(b)).SHA256()) {
			t.Fatalf("%s\n%s", encoded(a), encoded(b))
		}
	})
}

func TestParse_CanonicalBytes_AreAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := must(t, encoded(drawContent(t)))
		if again := must(t, c.Bytes()); !bytes.Equal(again.Bytes(), c.Bytes()) {
			t.Fatalf("%s\n%s", c.Bytes(), again.Bytes())
		}
	})
}

// seeds lists faults that can be put into any step.
var seeds = []struct {
	pointer string
	put     func(step map[string]any)
}{
	{"/name", func(s map[string]any) { s["name"] = "" }},
	{"/setup", func(s map[string]any) { s["setup"] = "5 min" }},
	{"/instructions", func(s map[string]any) { s["instructions"] = "\u0001" }},
	{"/colour", func(s map[string]any) { s["colour"] = "red" }},
	{"/run", func(s map[string]any) { s["run"] = "PT1M" }},
	{"/attributes/a", func(s map[string]any) { s["attributes"] = map[string]any{"a": 1} }},
	{"/outputs/0/quantity", func(s map[string]any) {
		s["outputs"] = []any{map[string]any{"material": "P", "quantity": -1, "unit": "1"}}
	}},
	{"/checks/0/unit", func(s map[string]any) {
		s["checks"] = []any{map[string]any{"id": "c", "name": "c", "max": 1, "unit": "degC"}}
	}},
}

func TestParse_SeededFaults_AreAllFoundAndNoOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContent(t)
		var want []string
		for i, s := range c["steps"].([]any) {
			for _, seed := range seeds {
				if rapid.Bool().Draw(t, "seeded") {
					seed.put(s.(map[string]any))
					want = append(want, fmt.Sprintf("/steps/%d%s", i, seed.pointer))
				}
			}
		}
		_, faults := content.Parse(encoded(c))
		var got []string
		for _, f := range faults {
			got = append(got, f.Pointer)
		}
		slices.Sort(got)
		slices.Sort(want)
		expect.Must(t, slices.Equal(got, want), "got %q\nwant %q", got, want)
	})
}

func TestDiff_Applied_GivesTheOtherContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := must(t, encoded(drawContent(t))), must(t, encoded(drawContent(t)))
		changes := expect.Value(content.Diff(a, b))(t)
		if (len(changes) == 0) != (a.SHA256() == b.SHA256()) {
			t.Fatalf("%d changes from %s to %s", len(changes), a.Bytes(), b.Bytes())
		}
		// Like a client, use the changes only as JSON.
		var sent []content.Change
		expect.OK(t, json.Unmarshal(encoded(changes), &sent))
		var tree map[string]any
		expect.OK(t, json.Unmarshal(a.Bytes(), &tree))
		apply(t, tree, sent)
		if got := must(t, encoded(tree)); got.SHA256() != b.SHA256() {
			t.Fatalf("changes %s\n from %s\n  got %s\n want %s", encoded(changes), a.Bytes(), got.Bytes(), b.Bytes())
		}
	})
}

func TestDiff_OneStepInserted_IsOneChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContent(t)
		a := must(t, encoded(c))
		steps := c["steps"].([]any)
		at := rapid.IntRange(0, len(steps)).Draw(t, "at")
		c["steps"] = slices.Insert(steps, at, any(map[string]any{"id": "new", "name": "New"}))
		changes, err := content.Diff(a, must(t, encoded(c)))
		if err != nil || len(changes) != 1 || changes[0].Op != content.Added || changes[0].Path != "/steps/new" {
			t.Fatalf("%s, %v", encoded(changes), err)
		}
	})
}

func TestDiff_OneStepMoved_IsOneChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContent(t)
		steps := c["steps"].([]any)
		for len(steps) < 3 { // with two, either may have moved
			steps = append(steps, any(map[string]any{"id": fmt.Sprintf("more%d", len(steps)), "name": "More"}))
		}
		c["steps"] = steps
		a := must(t, encoded(c))
		c["steps"] = append(slices.Clone(steps[1:]), steps[0])
		changes, err := content.Diff(a, must(t, encoded(c)))
		if err != nil || len(changes) != 1 || changes[0].Op != content.Moved {
			t.Fatalf("%s, %v", encoded(changes), err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"anodizing", "milling", "reflow"} {
		f.Add(sample(f, name))
	}
	f.Add([]byte(strings.Replace(one, "@", digest, 1)))
	f.Add([]byte(`{"form":1,"basis":{"quantity":1e-7,"unit":"m"},"steps":[{"id":"1","id":"1"}],"attributes":{"a":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, faults := content.Parse(text)
		told := problem.Invalid(faults).Document("/", "r").Errors
		expect.That(t, len(told) <= 100, "%d faults are reported", len(told))
		if len(faults) > 0 {
			return
		}
		again, faults := content.Parse(c.Bytes())
		expect.That(t, len(faults) == 0 && again.SHA256() == c.SHA256(),
			"canonical bytes have faults %v, or another hash", faults)
		changes, err := content.Diff(c, again)
		expect.That(t, err == nil && len(changes) == 0, "a content differs from itself: %v, %v", changes, err)
		c.Missing(func(string, string) bool { return false })
	})
}
