package contract_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestAnswers_OfContractAndCode_AreTheSame compares every success that an operation answers with: its
// status, its headers, and each field of its body.
func TestAnswers_OfContractAndCode_AreTheSame(t *testing.T) {
	count := 0
	for id, both := range bothSides(t) {
		for _, difference := range answerDifferences(code(t), both.contract, both.code.answers) {
			t.Errorf("%s: %s", id, difference)
		}
		count += len(both.code.answers)
	}
	t.Logf("%d answers", count)
}

// TestProblem_OfContractAndCode_HaveTheSameFields: what is refused has one type.
func TestProblem_OfContractAndCode_HaveTheSameFields(t *testing.T) {
	s := code(t)
	inCode := s.packages[problemPackage].Types.Scope().Lookup("Document").Type()
	for _, difference := range compare(s).types("Problem", inCode, document(t).Components.Schemas["Problem"].Value) {
		t.Error(difference)
	}
}

// answerDifferences compares the successes that an operation answers with.
func answerDifferences(s *source, op *openapi3.Operation, inCode []answer) []string {
	if slices.ContainsFunc(inCode, func(a answer) bool { return a.free }) {
		if r := op.Responses.Default(); r == nil || r.Value.Extensions["x-any-answer"] == nil {
			return []string{"the code writes its answer by itself; the contract has no default answer with x-any-answer"}
		}
		return nil
	}
	var differences []string
	known := map[int]bool{}
	for _, a := range inCode {
		known[a.status] = true
		documented := answerOf(op, a.status)
		if documented == nil {
			differences = append(differences, fmt.Sprintf("the code answers %d, which the contract does not have", a.status))
			continue
		}
		for _, difference := range slices.Concat(headerDifferences(op, documented, a), bodyDifferences(s, documented, a)) {
			differences = append(differences, fmt.Sprintf("%d: %s", a.status, difference))
		}
	}
	for status := range op.Responses.Map() {
		if n, err := strconv.Atoi(status); err != nil || n < 300 && !known[n] {
			differences = append(differences, fmt.Sprintf("the contract has the answer %s, which the code does not give", status))
		}
	}
	return differences
}

// everyAnswer are the headers that package lambdahttp gives to all.
var everyAnswer = []string{"Cache-Control", "RateLimit", "RateLimit-Policy"}

func headerDifferences(op *openapi3.Operation, documented *openapi3.Response, a answer) []string {
	want := slices.Concat(everyAnswer, a.headers)
	if a.etag {
		want = append(want, "ETag")
	}
	slices.Sort(want)
	var differences []string
	if got := slices.Sorted(maps.Keys(documented.Headers)); !slices.Equal(got, slices.Compact(want)) {
		differences = append(differences, fmt.Sprintf("the contract has the headers %v, the code %v", got, want))
	}
	notModified := answerOf(op, http.StatusNotModified) != nil
	if conditional := op.Parameters.GetByInAndName(openapi3.ParameterInHeader, "If-None-Match") != nil; a.etag != notModified || notModified && !conditional {
		differences = append(differences, "a read has all of an entity tag, If-None-Match and 304, or none")
	}
	return differences
}

func bodyDifferences(s *source, documented *openapi3.Response, a answer) []string {
	media := documented.Content["application/json"]
	switch {
	case (a.body != nil) != (media != nil) || (media != nil) != (len(documented.Content) == 1):
		return []string{fmt.Sprintf("it has a body: %v in the contract, %v in the code", documented.Content != nil, a.body != nil)}
	case media == nil:
		return nil
	case isNamed(a.body, "encoding/json", "RawMessage"):
		return nil // is stored as it was sent; content_test.go compares it
	}
	schema := media.Schema.Value
	if a.paged == "" {
		return compare(s).types("body", a.body, schema)
	}
	fields := fieldsOf(a.body)
	if a.paged != "offset" {
		delete(fields, "offset") // a page of a time series never has one
	}
	return compare(s).fields("page", fields, schema)
}
