package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestDeclared_EveryOperation_AnswersAsItsRowSays goes through all operations once, in one service. Each is called by
// everyone who is not allowed to, in every bad form that all operations refuse, and then correctly. Refused calls
// write nothing. Last, its function gets an event like that of its file. The tests of each subject provoke the
// answers of single operations. A whole run fails if a declared answer was not seen; see TestMain.
func TestDeclared_EveryOperation_AnswersAsItsRowSays(t *testing.T) {
	t.Parallel()
	w := harness.New(t, uncached, withAssistant(t),
		withSettings(setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	for _, op := range table.All {
		t.Run(op.ID, func(t *testing.T) {
			prepared := func() samples.Call { return w.Session(t, samples.Fresh(harness.Name)).Call(t, op.ID) }
			call := prepared()
			before := w.State(t)
			refusesStrangers(t, w, op, call)
			if !op.Takes.Anything {
				refusesBadForms(t, w, op, call)
			}
			expect.Equal(t, w.State(t), before, "the stored data is")
			succeeds(t, w, op, call)
			takesEvent(t, w, prepared())
		})
	}
}

// takesEvent passes a call to its function as an event.
func takesEvent(t *testing.T, w *harness.World, call samples.Call) {
	event := expect.Value(call.Event())(t)
	raw := expect.Value(w.Function(call.Operation).Invoke(t.Context(), event))(t)
	var answer events.APIGatewayProxyResponse
	expect.OK(t, json.Unmarshal(raw, &answer))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		t.Errorf("the event is answered with %d %s", answer.StatusCode, answer.Body)
	}
}

// succeeds makes a call, and then the further calls with answers that follow from the row.
func succeeds(t *testing.T, w *harness.World, op operations.Operation, call samples.Call) {
	by, header := w.By(t, call), call.Header[:]
	if op.Takes.IdempotencyKey {
		header = []string{"Idempotency-Key", harness.Name("key")}
	}
	answer := by.Do(t, call.Method, call.Path, call.Body, header...)
	shown(t, op, call, answer)
	if op.Takes.IdempotencyKey {
		others := samples.Fresh(harness.Name)
		others["productId"] = "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e12"
		other := samples.Of(op.ID).Call(others, samples.Case{})
		by.Do(t, call.Method, call.Path, other.Body, header...).Refused(t, problem.IdempotencyKeyReused)
	}
	if slices.Contains(op.Gives, http.StatusNotModified) {
		by.Get(t, call.Path, "If-None-Match", answer.Header.Get("ETag")).Is(t, http.StatusNotModified)
	}
	if call.Status == http.StatusCreated && slices.Contains(op.Gives, http.StatusNoContent) {
		by.Do(t, call.Method, call.Path, call.Body, header...).Is(t, http.StatusNoContent)
	}
}

// refusesBadForms makes a call in the bad forms that every operation with the code refuses.
func refusesBadForms(t *testing.T, w *harness.World, op operations.Operation, call samples.Call) {
	by, codes := w.By(t, call), op.Problems()
	for _, r := range refusedAlike(op, call) {
		heard := op.Takes.Hears && r.code == problem.ValidationFailed // only the path of such a call has faults
		if slices.Contains(codes, r.code) && !heard {
			by.Do(t, call.Method, r.path, r.body, r.header...).Refused(t, r.code)
		}
	}
}

// refusedAlike are bad forms of a good call, with the refusal of every operation that has the code.
func refusedAlike(op operations.Operation, c samples.Call) []refusal {
	with := func(query string) string {
		if strings.Contains(c.Path, "?") {
			return c.Path + "&" + query
		}
		return c.Path + "?" + query
	}
	most := max(op.Takes.MaxBody, input.MaxBody)
	list := []refusal{
		{path: with("nonsense=1"), body: c.Body, code: problem.ValidationFailed},
		{path: with("cursor=x"), code: problem.InvalidCursor},
		{path: with("offset=10001"), code: problem.OffsetTooLarge},
		{path: c.Path, body: "{", code: problem.InvalidJSON},
		{path: c.Path, body: `"` + strings.Repeat("x", most) + `"`, code: problem.BodyTooLarge},
		{path: c.Path, body: c.Body, header: []string{"Content-Type", "text/plain"}, code: problem.UnsupportedMediaType},
		{path: c.Path, body: c.Body, header: []string{"If-Match", `"not-its-tag"`}, code: problem.PreconditionFailed},
	}
	if len(c.Parameters) > 0 && !slices.Contains(makeWhatTheyName, op.ID) {
		list = append(list, refusal{path: elsewhere(op, c), body: c.Body, code: problem.NotFound})
	}
	return list
}

// makeWhatTheyName are operations that may create the resource in their path. Their NOT_FOUND is about the
// organization.
var makeWhatTheyName = []string{"put-edge", "put-factory", "put-gateway-token"}

// elsewhere is the path of a call with its first name or id replaced by one that does not exist.
func elsewhere(op operations.Operation, c samples.Call) string {
	path, query, _ := strings.Cut(c.Path, "?")
	named := slices.DeleteFunc(slices.Clone(op.Takes.Path), func(f input.Field) bool { return f.Name == "kind" })[0]
	other := harness.Name("none")
	if named.Is == input.UUID {
		other = "0192f0c1-6d2e-7a55-9c3b-000000000000"
	}
	path = strings.Replace(path, "/"+c.Parameters[named.Name], "/"+other, 1)
	if query != "" {
		path += "?" + query
	}
	return path
}
