package contract_test

import (
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/access/auth"
	"wavegate/shared/contract"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/conform"
	"wavegate/shared/testing/expect"
)

var loadDocument = sync.OnceValues(func() (*openapi3.T, error) { return conform.Load(contract.Document) })

// document is the contract. The test ends if it is not valid OpenAPI with valid examples.
func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc := expect.Value(loadDocument())(t)
	return doc
}

// route is what the contract and the table of operations both say of an operation.
type route struct {
	method, path, summary string
	roles                 []string
}

// inContract lists the contract's operations by id. An operation of any method is one per method in
// the contract, with ids such as copilot-get.
func inContract(t *testing.T) map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for _, item := range document(t).Paths.Map() {
		for _, op := range item.Operations() {
			expect.That(t, all[op.OperationID] == nil, "the id %s is used twice", op.OperationID)
			all[op.OperationID] = op
		}
	}
	return all
}

// pathOf is a row's path in the contract: OpenAPI has no way to write the rest of a path.
func pathOf(op operations.Operation) string { return strings.Replace(op.Path, "+}", "}", 1) }

// methodsOf lists the methods that a row covers, with the id that each has in the contract.
func methodsOf(op operations.Operation) map[string]string {
	if op.Method != operations.Any {
		return map[string]string{op.ID: op.Method}
	}
	ids := map[string]string{}
	for _, method := range []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	} {
		ids[op.ID+"-"+strings.ToLower(method)] = method
	}
	return ids
}

func TestRoutes_ContractAndTableOfOperations_AreTheSame(t *testing.T) {
	want := map[string]route{}
	for _, op := range table.All {
		path := pathOf(op)
		roles := make([]string, len(op.Roles))
		for i, r := range op.Roles {
			roles[i] = strings.Trim(string(r), "()")
		}
		slices.Sort(roles)
		for id, method := range methodsOf(op) {
			want[id] = route{method, path, op.Summary, roles}
		}
	}
	got := map[string]route{}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			got[op.OperationID] = route{method, path, op.Summary, rolesOf(t, op)}
		}
	}
	for id, w := range want {
		g, there := got[id]
		switch {
		case !there:
			t.Errorf("the contract lacks %s (%s %s)", id, w.method, w.path)
		case g.method != w.method || g.path != w.path || g.summary != w.summary || !slices.Equal(g.roles, w.roles):
			t.Errorf("%s: the contract has %v, the table %v", id, g, w)
		}
	}
	for id := range got {
		_, there := want[id]
		expect.That(t, there, "the contract has %s, which is not an operation of the table", id)
	}
}

func rolesOf(t *testing.T, op *openapi3.Operation) []string {
	t.Helper()
	expect.Must(t, op.Security != nil, "%s does not say who may call it", op.OperationID)
	var roles []string
	for _, one := range *op.Security {
		list := one["accessToken"]
		if len(one) != 1 || len(list) != 1 {
			t.Errorf("%s: each alternative of security is one role of accessToken, not %v", op.OperationID, one)
		}
		roles = append(roles, list...)
	}
	// Otherwise, a reader of the page would have to open each alternative.
	if says := "\n\nRoles: `" + strings.Join(roles, "` or `") + "`.\n"; !strings.HasSuffix(op.Description, says) {
		t.Errorf("%s: the description does not end with%s", op.OperationID, says)
	}
	slices.Sort(roles)
	return roles
}

func TestRoutes_EveryRoleThatATokenCarries_IsExplainedAndListed(t *testing.T) {
	doc := document(t)
	explained := doc.Components.SecuritySchemes["accessToken"].Value.Description
	var roles []any
	for _, r := range auth.Roles {
		roles = append(roles, string(r))
		expect.That(t, strings.Contains(explained, "- `"+string(r)+"` "), "the security scheme does not explain %s", r)
	}
	got := doc.Components.Schemas["Role"].Value.Enum
	expect.That(t, slices.Equal(got, roles), "the schema Role has %v, want %v", got, roles)
}

// TestAnswers_WhatTheGatewayCanSayByItself_IsDocumentedEverywhere covers the answers to calls of existing routes,
// whatever the function does.
func TestAnswers_WhatTheGatewayCanSayByItself_IsDocumentedEverywhere(t *testing.T) {
	statuses := map[int]problem.Code{http.StatusBadGateway: problem.GatewayResponseOf("DEFAULT_5XX").Code}
	for _, kind := range []string{"UNAUTHORIZED", "ACCESS_DENIED", "THROTTLED", "WAF_FILTERED", "AUTHORIZER_FAILURE", "INTEGRATION_TIMEOUT"} {
		g := problem.GatewayResponseOf(kind)
		statuses[g.Status] = g.Code
	}
	for id, op := range inContract(t) {
		if op.Extensions["x-any-query"] != nil {
			continue // whatever the assistant answers is documented, and so are these
		}
		for status, code := range statuses {
			if r := answerOf(op, status); r == nil || !slices.Contains(codesOf(r), string(code)) {
				t.Errorf("%s does not document %d %s", id, status, code)
			}
		}
	}
}

// answerOf is the documented answer of a status, or nil.
func answerOf(op *openapi3.Operation, status int) *openapi3.Response {
	if r := op.Responses.Value(strconv.Itoa(status)); r != nil {
		return r.Value
	}
	return nil
}

// TestContract_NoOperationLinksIt: neither the document nor its validator is in a binary that answers API calls. Only
// the function docs contains the document.
func TestContract_NoOperationLinksIt(t *testing.T) {
	arguments := []string{"list", "-deps"}
	for _, name := range table.Functions() {
		if name != operations.Docs {
			arguments = append(arguments, "./functions/"+name)
		}
	}
	list := exec.Command("go", arguments...)
	list.Dir = "../.."
	out := expect.Value(list.Output())(t)
	packages := strings.Fields(string(out))
	expect.Must(t, slices.Contains(packages, "wavegate/shared/operations"),
		"the list of packages is not that of the functions")
	for _, p := range packages {
		expect.That(t, !strings.HasPrefix(p, "wavegate/shared/contract") && !strings.HasPrefix(p, "github.com/getkin/"),
			"a function links %s", p)
	}
}

// TestExamples_EveryBodyHasOne does not check the examples against their schemas, because document does.
func TestExamples_EveryBodyHasOne(t *testing.T) {
	count := 0
	check := func(where string, content openapi3.Content) {
		for media, m := range content {
			count += len(m.Examples)
			expect.That(t, len(m.Examples) != 0, "%s has no example of its %s", where, media)
		}
	}
	all := inContract(t)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		op := all[id]
		if op.RequestBody != nil && op.Extensions["x-any-query"] == nil {
			check(id, op.RequestBody.Value.Content)
		}
		for status, r := range op.Responses.Map() {
			if strings.HasPrefix(status, "2") {
				check(id+" "+status, r.Value.Content)
			}
		}
	}
	t.Logf("%d examples of %d operations", count, len(all))
}
