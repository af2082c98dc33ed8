package samples_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

var update = flag.Bool("update", false, "rewrite the event files")

var folder = filepath.Join("..", "..", "events")

// TestSamples_EveryOperationHasOne also checks what can be checked without a call: that the caller is allowed to make
// it, and that every change names its resource.
func TestSamples_EveryOperationHasOne(t *testing.T) {
	for _, op := range table.All {
		i := slices.IndexFunc(samples.All, func(s samples.Sample) bool { return s.Operation == op.ID })
		if i < 0 {
			t.Errorf("%s has no sample", op.ID)
			continue
		}
		s := samples.All[i]
		by := auth.Principal{OrganizationID: s.By.Organization, Roles: []auth.Role{s.By.Role}}
		expect.That(t, by.Has(op.Roles...), "%s: its caller is %s, its roles are %v", op.ID, s.By.Role, op.Roles)
		if samples.Audited(op) && s.About == (samples.About{}) {
			t.Errorf("%s writes audit events, but its sample has no About", op.ID)
		}
	}
	expect.That(t, len(samples.All) == len(table.All), "%d samples of %d operations", len(samples.All), len(table.All))
}

// TestSamples_EveryCall_IsAskedForAllThatItsRowTakes: a row takes what its requests are asked for, so this must not depend
// on the request. Calls with an empty body are tried, too.
func TestSamples_EveryCall_IsAskedForAllThatItsRowTakes(t *testing.T) {
	names := func(takes input.Takes) string {
		body := &input.Shape{}
		if takes.Body != nil {
			body = takes.Body
		}
		var all []string
		for _, field := range slices.Concat(takes.Path, takes.Query, body.Fields) {
			all = append(all, field.Name)
		}
		return strings.Join(append(all, body.AnyOf...), " ")
	}
	for _, s := range samples.All {
		op := table.Get(s.Operation)
		for _, c := range slices.Concat(s.Cases, s.Also, []samples.Case{{}, {Body: "{}"}}) {
			call := s.Call(samples.Fixed(), c)
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(call.Body))
			r.Header.Set("Content-Type", "application/json")
			_, r.URL.RawQuery, _ = strings.Cut(call.Path, "?")
			for name, value := range call.Parameters {
				r.SetPathValue(name, value)
			}
			in := input.Of(r, op.Takes)
			in.Settings = &setting.Values{}
			op.Reads(in)
			if got := names(in.Takes()); got != names(op.Takes) && (call.Body != "" || op.Takes.Body == nil) {
				t.Errorf("%s %q is asked for %s, its row takes %s", s.Operation, c.Name, got, names(op.Takes))
			}
		}
	}
}

// TestSamples_EveryCall_IsWhole fills every case of every sample: each placeholder has a value, and
// bodies are JSON.
func TestSamples_EveryCall_IsWhole(t *testing.T) {
	for _, s := range samples.All {
		for _, c := range slices.Concat(s.Cases, s.Also, []samples.Case{{}}) {
			call := s.Call(samples.Fixed(), c)
			if call.Body != "" && !json.Valid([]byte(call.Body)) || call.Shows != "" && !json.Valid([]byte(call.Shows)) {
				t.Errorf("%s %q: no JSON: %s %s", s.Operation, c.Name, call.Body, call.Shows)
			}
			text := call.Path + call.By.User + call.By.Organization
			expect.That(t, !strings.ContainsAny(text, "{}"), "%s %q: %s", s.Operation, c.Name, text)
		}
	}
}

// TestSamples_Session_MakesWhatACallActsOn runs a session without a service.
func TestSamples_Session_MakesWhatACallActsOn(t *testing.T) {
	var made []string
	session := samples.Session{Values: samples.Fixed(), Do: func(c samples.Call) (http.Header, []byte, error) {
		made = append(made, c.Method+" "+c.Path)
		return http.Header{"Location": {"/prod/api/ota/rollouts/r-7"}}, nil, nil
	}}
	halt := samples.Case{With: samples.Values{"percent": "100"}, After: samples.After("update-rollout", "get-rollout")}
	call := expect.Value(session.Prepare("update-rollout", halt))(t)
	want := []string{"PUT /api/ota/release-channels/gateway-x/stable", "PUT /api/ota/release-channels/gateway-x/canary",
		"POST /api/ota/rollouts", "PATCH /api/ota/rollouts/r-7", "GET /api/ota/rollouts/r-7"}
	expect.Equal(t, made, want, "made")
	if call.Path != "/api/ota/rollouts/r-7" ||
		call.Body != `{"staged_percent":100,"overrideReason":"not held up by a sample"}` || call.Parameters["id"] != "r-7" {
		t.Errorf("the call is %+v", call)
	}
}

// TestEvents_AreThoseOfTheSamples compares the folder of sample events with the samples. With -update,
// as "go generate ./scripts/samples" runs it, it writes them.
func TestEvents_AreThoseOfTheSamples(t *testing.T) {
	var want []string
	for _, s := range samples.All {
		file := filepath.Join(folder, s.Operation+".json")
		want = append(want, file)
		text, err := s.Event()
		expect.Must(t, err == nil && json.Valid(text), "%s: %v: %s", s.Operation, err, text)
		if *update {
			expect.OK(t, os.WriteFile(file, text, 0o644))
		}
		if stored, err := os.ReadFile(file); err != nil || string(stored) != string(text) {
			t.Errorf("%s is not the sample's event (%v); go generate ./scripts/samples writes it", file, err)
		}
	}
	files := expect.Value(filepath.Glob(filepath.Join(folder, "*.json")))(t)
	for _, file := range files {
		name := filepath.Base(file)
		other := name == operations.Docs+".json" || name == operations.Console+".json" || name == operations.Tick+".json" ||
			strings.HasPrefix(name, operations.Authorizer+"-")
		if !other && !slices.Contains(want, file) {
			t.Errorf("%s is of no operation", file)
		}
	}
}
