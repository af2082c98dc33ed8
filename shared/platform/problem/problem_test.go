package problem_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestDocument_AnyFaults_IsBounded: without bounds, 15 KB of unknown fields gave a document of
// 152 KB.
func TestDocument_AnyFaults_IsBounded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		fault := rapid.Custom(func(r *rapid.T) problem.Fault {
			text := func(name string) string {
				return strings.Repeat(rapid.SampledFrom([]string{"a", "\x01", "é", "😀", "\"", "/~1"}).Draw(r, name), rapid.SampledFrom([]int{0, 1, 10, 255, 256, 5000}).Draw(r, name+" length"))
			}
			return problem.Fault{Pointer: text("pointer"), Code: "unknown", Detail: text("detail")}
		})
		faults := rapid.SliceOfN(fault, 1, 300).Draw(r, "faults")
		instance := strings.Repeat(rapid.SampledFrom([]string{"/a", "<", "é"}).Draw(r, "instance"), rapid.IntRange(0, 4000).Draw(r, "instance length"))
		d := problem.Invalid(faults).Document(instance, "request-1")
		text := expect.Value(json.Marshal(d))(r)
		expect.Must(r, len(text) <= problem.MaxDocument && len(d.Errors) <= problem.MaxFaults,
			"%d bytes, %d faults", len(text), len(d.Errors))
		if told := strings.Contains(d.Detail, "not listed"); told != (len(d.Errors) < len(faults)) {
			r.Fatalf("%d of %d faults, and the detail says %q", len(d.Errors), len(faults), d.Detail)
		}
	})
}

func TestDocument_FewFaults_AreAllThere(t *testing.T) {
	var faults []problem.Fault
	for range 60 {
		faults = append(faults, problem.Fault{Pointer: "/steps/50/parameters/current-density", Code: "unknown", Detail: "is not a field of this operation"})
	}
	if d := problem.Invalid(faults).Document("/api/factories", "request-1"); len(d.Errors) != 60 || strings.Contains(d.Detail, "not listed") {
		t.Errorf("%d faults, and the detail says %q", len(d.Errors), d.Detail)
	}
}
