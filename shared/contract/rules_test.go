package contract_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
	"wavegate/shared/trail/audit"
)

// rules are the rules of text that operations read values by.
var rules = map[string]*value.Text{
	"value.ID":                value.ID,
	"value.Time":              value.Time,
	"audit.WordRule":          audit.WordRule,
	"edge.InstalledRule":      edge.InstalledRule,
	"value.DisplayName":       value.DisplayName,
	"value.Slug":              value.Slug,
	"ratelimit.HolderRule":    ratelimit.HolderRule,
	"ratelimit.IssuerRule":    ratelimit.IssuerRule,
	"ratelimit.KindRule":      ratelimit.KindRule,
	"ratelimit.ReasonRule":    ratelimit.ReasonRule,
	"release.ArtifactURLRule": release.ArtifactURLRule,
	"value.Name":              value.Name,
	"value.SHA256":            value.SHA256,
	"release.VersionRule":     release.VersionRule,
	"value.UUID":              value.UUID,
	"rollout.EndRule":         rollout.EndRule,
	"rollout.StatusRule":      rollout.StatusRule,
}

// TestInputs_OfContractAndCode_AreTheSame holds for every operation and every value that it reads
// from path, query, headers and body: the same names, required on both sides or on none, and under
// the same rule.
func TestInputs_OfContractAndCode_AreTheSame(t *testing.T) {
	inCode := readsOf(t)
	used := map[string]bool{}
	count := 0
	for id, documented := range documentedInputs(t) {
		want := map[string]input{}
		for _, in := range inCode[id] {
			want[in.in+" "+in.name] = in
		}
		count += len(want)
		for key, in := range want {
			used[in.rule] = true
			schema, there := documented[key]
			if !there {
				t.Errorf("%s: the code reads %s, which the contract does not have", id, key)
				continue
			}
			if schema.required != in.required {
				t.Errorf("%s: %s is required: %v in the contract, %v in the code", id, key, schema.required, in.required)
			}
			compare(t, id+": "+key, schema.Schema, in)
		}
		for key := range documented {
			if _, there := want[key]; !there {
				t.Errorf("%s: the contract has %s, which the code does not read", id, key)
			}
		}
	}
	for name := range rules {
		if !used[name] {
			t.Errorf("no operation reads anything by the rule %s", name)
		}
	}
	t.Logf("%d values of %d operations", count, len(inCode))
}

// A documented input is a parameter or a field of a body.
type documented struct {
	*openapi3.Schema
	required bool
}

func documentedInputs(t *testing.T) map[string]map[string]documented {
	all := map[string]map[string]documented{}
	for _, item := range document(t).Paths.Map() {
		for _, op := range item.Operations() {
			if op.Extensions["x-any-query"] != nil {
				continue // what is forwarded is not read
			}
			inputs := map[string]documented{}
			all[op.OperationID] = inputs
			for _, p := range slices.Concat(item.Parameters, op.Parameters) {
				inputs[p.Value.In+" "+p.Value.Name] = documented{p.Value.Schema.Value, p.Value.Required}
			}
			if answerOf(op, http.StatusNotModified) != nil {
				delete(inputs, "header If-None-Match") // of every read; package lambdahttp does it
			}
			if op.RequestBody == nil {
				continue
			}
			body := op.RequestBody.Value.Content["application/json"].Schema.Value
			if has := body.AdditionalProperties.Has; has == nil || *has || !op.RequestBody.Value.Required {
				t.Errorf("%s: the body must be required, and take no field that is not named", op.OperationID)
			}
			for name, field := range body.Properties {
				inputs["body "+name] = documented{field.Value, slices.Contains(body.Required, name)}
			}
		}
	}
	return all
}

// compare holds the schema of a value against the code's rule.
func compare(t *testing.T, where string, schema *openapi3.Schema, in input) {
	t.Helper()
	switch {
	case in.in == "header":
		return // held against the code by the tests of headers below
	case in.rule == "paging.offsetRule":
		integer(t, where, schema, 0, paging.MaxOffset, 0.0)
	case in.integer && in.in == "query":
		integer(t, where, schema, in.least, in.most, float64(in.fallback))
	case in.integer:
		wholeNumber(t, where, schema, in.name)
	case in.rule == "":
		if schema.Pattern != "" || schema.MinLength != 0 || schema.MaxLength != nil || schema.Enum != nil {
			t.Errorf("%s: the code takes any text, the contract does not", where)
		}
	case in.rule == "value.Time":
		if schema.Format != "date-time" || schema.Pattern != "" {
			t.Errorf("%s is not the format date-time alone", where)
		}
	case rules[in.rule] == nil:
		t.Errorf("%s: the rule %s is new; list it in this test", where, in.rule)
	default:
		text(t, where, schema, rules[in.rule])
	}
}

func integer(t *testing.T, where string, s *openapi3.Schema, least, most int64, fallback any) {
	t.Helper()
	if !s.Type.Is(openapi3.TypeInteger) || s.Min == nil || *s.Min != float64(least) || s.Max == nil || *s.Max != float64(most) || s.Default != fallback {
		t.Errorf("%s is not an integer from %d to %d, else %v", where, least, most, fallback)
	}
}

// wholeNumber holds a whole number of a body; which are taken is the domain's affair, by name.
func wholeNumber(t *testing.T, where string, s *openapi3.Schema, name string) {
	t.Helper()
	switch name {
	case "staged_percent":
		var stages []any
		for _, n := range rollout.Stages {
			stages = append(stages, float64(n))
		}
		if !s.Type.Is(openapi3.TypeInteger) || !slices.Equal(s.Enum, stages) {
			t.Errorf("%s is not one of %v", where, stages)
		}
	case "limit", "copilotLimit":
		integer(t, where, s, 0, ratelimit.Highest, nil)
	default:
		t.Errorf("%s: the number is new; say here what is taken", where)
	}
}

// text holds a rule of text. Where the rule is a pattern and nothing more, the contract has the same
// pattern; a choice of words may be an enum. What trims or has a check of its own must agree on every
// text that is tried.
func text(t *testing.T, where string, s *openapi3.Schema, rule *value.Text) {
	t.Helper()
	if !s.Type.Is(openapi3.TypeString) {
		t.Errorf("%s is no string in the contract", where)
	}
	if rule.Pattern != "" && !rule.Trim && rule.Check == nil {
		got := s.Pattern
		if s.Enum != nil {
			got = "^" + strings.Join(words(s.Enum), "|") + "$"
		}
		if want := "^" + rule.Pattern + "$"; got != want {
			t.Errorf("%s: the contract has %s, the code %s", where, got, want)
		}
		var most uint64 // none
		if s.MaxLength != nil {
			most = *s.MaxLength
		}
		if s.MinLength != uint64(rule.Min) || most != uint64(rule.Max) {
			t.Errorf("%s: the contract has lengths %d to %d, the code %d to %d", where, s.MinLength, most, rule.Min, rule.Max)
		}
		return
	}
	if s.MinLength != 0 || s.MaxLength != nil || s.Enum != nil {
		t.Errorf("%s: the pattern must say all", where)
	}
	done := s.Pattern + " " + rule.Says
	if compared[done] {
		return
	}
	compared[done] = true
	allowed := regexp.MustCompile(s.Pattern)
	t.Run(rule.Says, func(t *testing.T) { // rapid asks for a test that has not failed
		rapid.Check(t, func(r *rapid.T) {
			value := likely.Draw(r, "value")
			if _, code, _ := rule.Apply(value); allowed.MatchString(value) != (code == "") {
				r.Fatalf("%s: %q: the contract takes it: %v; the code says %q", where, value, allowed.MatchString(value), code)
			}
		})
	})
}

// compared holds the patterns that were tried against their rules, which many operations share.
var compared = map[string]bool{}

func words(list []any) []string {
	all := make([]string, len(list))
	for i, one := range list {
		all[i], _ = one.(string)
	}
	return all
}

// likely draws texts in which rules are likely to differ: white space of every kind and control
// characters around and among letters, and lengths at the bounds.
var likely = rapid.Custom(func(t *rapid.T) string {
	odd := []rune{' ', '\t', '\n', '\r', 0, 0x1f, 0x7f, 0x85, 0x9f, 0xa0, 0x1680, 0x2000, 0x200a, 0x200b, 0x2028, 0x202f, 0x205f, 0x3000, 0xfeff, 'é', '😀'}
	around := rapid.StringOfN(rapid.SampledFrom(odd), 0, 3, -1)
	length := rapid.SampledFrom([]int{0, 1, 2, 127, 128, 129, 199, 200, 201, 499, 500, 501}).Draw(t, "length")
	runes := rapid.SliceOfN(rapid.SampledFrom([]rune("aZ0-._é")), length, length).Draw(t, "letters")
	for range rapid.IntRange(0, 2).Draw(t, "odd ones") {
		if len(runes) > 0 {
			runes[rapid.IntRange(0, len(runes)-1).Draw(t, "place")] = rapid.SampledFrom(odd).Draw(t, "odd")
		}
	}
	return around.Draw(t, "before") + string(runes) + around.Draw(t, "behind")
})

// TestRules_EveryRuleOfTheCode_IsListed finds a rule that this test does not know; one that nothing
// reads by is found above.
func TestRules_EveryRuleOfTheCode_IsListed(t *testing.T) {
	known := map[*value.Text]bool{}
	for _, r := range rules {
		known[r] = true
	}
	if len(known) != len(rules) {
		t.Error("a rule is listed twice")
	}
	for id, list := range readsOf(t) {
		for _, in := range list {
			if in.rule != "" && in.rule != "paging.offsetRule" && rules[in.rule] == nil {
				t.Errorf("%s reads %s by %s, which is not listed", id, in.name, in.rule)
			}
		}
	}
}

// The headers' patterns speak of a value as HTTP carries it: without spaces around it.
var (
	quoted = rapid.StringOfN(rapid.RuneFrom([]rune(`"W/*,a3 ~!`+"\t")), 0, 12, -1)
	key    = rapid.StringOfN(rapid.RuneFrom([]rune("aZ09 ~!-\té")), 0, 260, -1)
)

func TestHeaders_EntityTags_AgreeWithTheCode(t *testing.T) {
	agree(t, "EntityTags", quoted, "If-Match", func(in *request.Input) { in.Preconditions() })
}

func TestHeaders_IdempotencyKey_AgreesWithTheCode(t *testing.T) {
	agree(t, "IdempotencyKey", key, "Idempotency-Key", func(in *request.Input) { in.IdempotencyKey() })
}

func agree(t *testing.T, schema string, values *rapid.Generator[string], header string, read func(*request.Input)) {
	allowed := regexp.MustCompile(document(t).Components.Schemas[schema].Value.Pattern)
	rapid.Check(t, func(r *rapid.T) {
		value := strings.Trim(values.Draw(r, "value"), " \t")
		got := httptest.NewRequest(http.MethodPut, "/", nil)
		got.Header.Set(header, value)
		in := request.Of(got)
		read(in)
		if taken := in.Err() == nil; taken != allowed.MatchString(value) {
			r.Fatalf("%q: the code takes it: %v; the contract: %v", value, taken, !taken)
		}
	})
}

// TestLimits_InTheProse_AreTheCodes: numbers that no schema can carry.
func TestLimits_InTheProse_AreTheCodes(t *testing.T) {
	doc := document(t)
	prose := strings.Join(strings.Fields(doc.Info.Description+doc.Tags.Get("Problems").Description), " ")
	for says, holds := range map[string]bool{
		"of 16 KiB at most":                   request.MaxBody == 16<<10,
		"The body is over 16 KiB, or":         request.MaxBody == 16<<10,
		"The offset is over 10,000.":          paging.MaxOffset == 10_000,
		"raised along 1, 10, 50, 100 percent": reflect.DeepEqual(rollout.Stages, []int{1, 10, 50, 100}),
		"nests deeper than 16 levels":         true,
	} {
		if !strings.Contains(prose, says) || !holds {
			t.Errorf("the prose says %q: %v; it is so in the code: %v", says, strings.Contains(prose, says), holds)
		}
	}
	var statuses []any
	for _, s := range rollout.Statuses {
		statuses = append(statuses, string(s))
	}
	if got := doc.Components.Schemas["RolloutStatus"].Value.Enum; !slices.Equal(got, statuses) {
		t.Errorf("the statuses are %v, want %v", got, statuses)
	}
}
