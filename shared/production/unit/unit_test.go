package unit_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/production/unit"
	"wavegate/shared/testing/expect"
)

// cases lists codes and whether UCUM has them; testdata/README.md says where they come from.
//
//go:embed testdata/cases.tsv
var cases string

func TestValid_AgreesWithUCUM(t *testing.T) {
	n := 0
	for line := range strings.Lines(cases) {
		want, code, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		expect.Equal(t, unit.Valid(code), (want == "yes"), "Valid(%q) =", code)
		n++
	}
	expect.That(t, n == 221, "%d cases were read, not 221", n)
}

func TestValid_AnExponentIsAWholeNumber(t *testing.T) {
	for code, valid := range map[string]bool{"m2": true, "m-2": true, "m+2": true, "m10": true,
		"m0": false, "m-0": false, "m+0": false, "m02": false, "m-": false, "m+": false, "m--2": false, "m-+2": false, "m2-": false, "-2": false, "+2": false} {
		expect.Equal(t, unit.Valid(code), valid, "Valid(%q) =", code)
	}
}

func TestCheck_LengthIsBounded(t *testing.T) {
	longest := strings.Repeat("m.", 19) + "mm"
	expect.That(t, len(longest) == unit.MaxLength && unit.Valid(longest), "%q is refused", longest)
	for _, code := range []string{"", longest + "m"} {
		expect.That(t, !unit.Valid(code), "%q is accepted", code)
	}
}

func TestCheck_CommonMistake_IsAnsweredWithTheLikelyCode(t *testing.T) {
	for code, want := range map[string]string{
		"degC": "Cel", "°C": "Cel", "°F": "[degF]", "RPM": "/min", "rpm": "/min", "µm": "um", "μm": "um", "m²": "m2",
		"m/s²": "m/s2", "Nm": "N.m", "kWh": "kW.h", "mm/sec": "mm/s", "l/hr": "l/h", "pcs": "{piece}", "ppm": "[ppm]",
		"psi": "[psi]", "Ω": "Ohm", "W/m²": "W/m2", "kg·m": "kg.m", "inch": "[in_i]",
	} {
		err := unit.Check(code)
		expect.That(t, err != nil && strings.Contains(err.Error(), "did you mean "+want+"?"),
			"Check(%q) says %v, want %s", code, err, want)
	}
	for code, word := range map[string]string{"Cel/min": "K/min", "florps": "ucum.org"} {
		if err := unit.Check(code); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("Check(%q) says %v, without %s", code, err, word)
		}
	}
}

// term draws a code by UCUM's grammar, from atoms with a ratio scale.
func term(t *rapid.T, depth int) string {
	component := func() string {
		switch kind := rapid.IntRange(0, 9).Draw(t, "component"); {
		case kind == 0:
			return "{" + rapid.StringMatching("[!-z|~]{0,3}").Draw(t, "annotation") + "}"
		case kind == 1 && depth < 3:
			return "(" + term(t, depth+1) + ")"
		case kind == 2:
			return rapid.StringMatching("[1-9][0-9]?").Draw(t, "factor")
		}
		symbol := rapid.SampledFrom([]string{"m", "kg", "um", "MPa", "min", "%", "[psi]", "m[H2O]", "10*", "Ohm", "''"}).Draw(t, "symbol")
		symbol += rapid.SampledFrom([]string{"", "", "2", "-1", "+3"}).Draw(t, "exponent")
		return symbol + rapid.SampledFrom([]string{"", "", "", "{a}"}).Draw(t, "annotation")
	}
	code := component()
	for range rapid.IntRange(0, 2).Draw(t, "more") {
		code += rapid.SampledFrom([]string{".", "/"}).Draw(t, "operator") + component()
	}
	return code
}

func TestValid_AcceptsEveryCodeOfTheGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom([]string{"", "/"}).Draw(t, "solidus") + term(t, 0)
		if len(code) <= unit.MaxLength && !unit.Valid(code) {
			t.Fatalf("%q is refused: %v", code, unit.Check(code))
		}
	})
}

func FuzzCheck(f *testing.F) {
	for line := range strings.Lines(cases) {
		_, code, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		err := unit.Check(code)
		if err != nil {
			if _, better, found := strings.Cut(err.Error(), "did you mean "); found && !unit.Valid(strings.TrimSuffix(better, "?")) {
				t.Errorf("the hint for %q is not a code: %v", code, err)
			}
			return
		}
		expect.That(t, !strings.ContainsFunc(code, func(c rune) bool { return c < '!' || c > '~' }),
			"%q is accepted", code)
		if strings.Count(code, "(") != strings.Count(code, ")") && !slices.Contains([]byte(code), '{') && !slices.Contains([]byte(code), '[') {
			t.Errorf("%q is accepted with unbalanced parentheses", code)
		}
		if !unit.Valid(code+"{x}") && len(code)+3 <= unit.MaxLength && !strings.HasSuffix(code, "}") {
			t.Errorf("%q is accepted, but not with an annotation", code)
		}
	})
}
