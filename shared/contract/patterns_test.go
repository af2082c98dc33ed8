package contract_test

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/text/unicode/norm"

	"wavegate/shared/platform/input"
)

// patternDifferences compares a rule that is only a pattern and bounds of length with the schema. If the rule is a
// choice of words, the schema may be an enum.
func patternDifferences(s *openapi3.Schema, rule *input.Text) []string {
	var differences []string
	got, want := s.Pattern, ""
	if rule.Pattern != "" {
		want = anchored(rule.Pattern)
	}
	if s.Enum != nil {
		got, want = strings.Join(words(s.Enum), "|"), rule.Pattern
	}
	if got != want || s.Enum != nil && s.Pattern != "" {
		differences = append(differences, fmt.Sprintf("has the pattern %s in the contract, %s in the code", got, want))
	}
	var longest *uint64
	if rule.Max > 0 {
		longest = new(uint64(rule.Max))
	}
	if s.MinLength != uint64(rule.Min) || !same(s.MaxLength, longest) {
		differences = append(differences, fmt.Sprintf("has other lengths in the contract than %d to %d in the code", rule.Min, rule.Max))
	}
	return differences
}

func words(enum []any) []string {
	all := make([]string, len(enum))
	for i, one := range enum {
		all[i] = regexp.QuoteMeta(fmt.Sprint(one))
	}
	return all
}

// anchored is the pattern of a whole value. The contract must write the anchors, which the code implies. With
// alternatives, ^ and $ would otherwise apply only to the first and the last.
func anchored(pattern string) string {
	plain, whole := "^"+pattern+"$", "^(?:"+pattern+")$"
	if a, err := syntax.Parse(plain, syntax.Perl); err == nil {
		if b, err := syntax.Parse(whole, syntax.Perl); err == nil && a.Equal(b) {
			return plain
		}
	}
	return "^(" + pattern + ")$"
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// textDifferences compares a rule of texts with the schema. A Check beside a pattern says more than a schema can.
func textDifferences(s *openapi3.Schema, rule *input.Text) []string {
	switch {
	case rule == input.Time:
		if s.Format != "date-time" || s.Pattern != "" || s.MaxLength != nil || s.Enum != nil {
			return []string{"is not the format date-time alone"}
		}
		return nil
	case rule.Pattern != "" && s.Not != nil:
		return append(patternDifferences(s, rule), tries(s, rule)...)
	case rule.Pattern != "" || !rule.Trim && s.Pattern == "":
		return patternDifferences(s, rule)
	}
	return tries(s, rule)
}

// tries compares a rule that trims, or that ends in a function, with the schema's patterns: one must match, and the
// other must not. Rule and patterns must agree on every text that is tried.
func tries(s *openapi3.Schema, rule *input.Text) []string {
	if s.Enum != nil {
		return []string{"lists the accepted values in the contract"}
	}
	longest := uint64(math.MaxInt)
	if s.MaxLength != nil {
		longest = *s.MaxLength
	}
	not := ""
	if s.Not != nil {
		not = s.Not.Value.Pattern
	}
	key := fmt.Sprint(s.Pattern, not, s.MinLength, longest, rule.Min, rule.Max, rule.Trim, rule.Says)
	if _, done := tried[key]; !done {
		tried[key] = disagreements(s.Pattern, not, s.MinLength, longest, rule)
	}
	return tried[key]
}

// tried caches the results of comparing patterns with rules, because many operations share them.
var tried = map[string][]string{}

// depends reports whether only the characters around another one, or a pattern that JavaScript has not, can say whether it is
// seen: joiners, variation selectors, the blank of braille and tags. The contract's patterns accept them.
func depends(c rune) bool {
	return c == 0x200c || c == 0x200d || c == 0x2800 || unicode.Is(unicode.Variation_Selector, c) || c >= 0xe0000 && c <= 0xe00ff
}

func disagreements(pattern, not string, least, most uint64, rule *input.Text) []string {
	allowed, err := regexp.Compile(pattern)
	if err != nil {
		return []string{err.Error()}
	}
	forbidden, err := regexp.Compile(not)
	if err != nil {
		return []string{err.Error()}
	}
	for text := range likely(rule) {
		if !norm.NFC.IsNormalString(text) {
			continue // no pattern can require a normal form; the description does
		}
		n := uint64(utf8.RuneCountInString(text))
		inContract := n >= least && n <= most && allowed.MatchString(text) && (not == "" || !forbidden.MatchString(text))
		inCode := rule.Accepts(text)
		if inContract && !inCode && strings.ContainsFunc(text, depends) {
			continue
		}
		if inContract != inCode {
			return []string{fmt.Sprintf("takes %.40q (%d bytes): %v in the contract, %v in the code, which says %s", text, len(text), inContract, inCode, rule.Says)}
		}
	}
	return nil
}
