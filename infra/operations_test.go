package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

func TestStack_RoutesAndTheirFunctions_AreTheTableOfOperations(t *testing.T) {
	want := map[string]string{}
	for _, op := range operations.Table {
		want[op.Method+" "+op.Path] = op.ID
	}
	got := map[string]string{}
	template := dev()
	for _, m := range template.of("AWS::ApiGateway::Method") {
		if mocked(m) {
			continue // see TestStack_WhatIsNoOperation_IsToldSo
		}
		route := fmt.Sprint(m.Properties["HttpMethod"], " ", path(template, m))
		uri := text(value(m.Properties, "Integration", "Uri"))
		found := regexp.MustCompile(`\$\{([A-Za-z0-9]+)\.Arn\}/invocations$`).FindStringSubmatch(uri)
		if found == nil {
			t.Fatalf("%s: %s invokes no function", route, uri)
		}
		got[route] = strings.TrimSuffix(found[1], found[1][len(found[1])-8:])
	}
	for route, id := range want {
		if got[route] != strings.ReplaceAll(id, "-", "") {
			t.Errorf("%s is answered by %q, want %s", route, got[route], id)
		}
	}
	for route := range got {
		if want[route] == "" {
			t.Errorf("%s is in the template and not in the table", route)
		}
	}
}

// TestStack_EveryFunctionThatIsWritten_IsDeployed holds the template against the folders of functions,
// which no row of the table makes: a row that is lost would otherwise take its route out of the stack
// and out of every test that goes by the table. The stack has all of them once it is asked for the
// contract, too.
func TestStack_EveryFunctionThatIsWritten_IsDeployed(t *testing.T) {
	written, err := filepath.Glob(filepath.Join("..", "functions", "*", "main.go"))
	if err != nil || len(written) == 0 {
		t.Fatalf("no functions: %v", err)
	}
	var deployed []string
	for id := range docs().of("AWS::Lambda::Function") {
		deployed = append(deployed, id)
	}
	for _, main := range written {
		name := filepath.Base(filepath.Dir(main))
		if !slices.ContainsFunc(deployed, func(id string) bool {
			return len(id) > 8 && id[:len(id)-8] == strings.ReplaceAll(name, "-", "")
		}) {
			t.Errorf("functions/%s is in no stack: it has no row in the table of operations", name)
		}
	}
}

// mocked tells whether the gateway itself answers a method.
func mocked(method resource) bool { return value(method.Properties, "Integration", "Type") == "MOCK" }

// TestStack_WhatIsNoOperation_IsToldSo: without a method of its own, API Gateway takes the token of a call
// that leads nowhere for a signature of AWS's, and answers 403.
func TestStack_WhatIsNoOperation_IsToldSo(t *testing.T) {
	for name, template := range map[string]template{"dev": dev(), "docs": docs()} {
		methods := map[string][]string{}
		for id, m := range template.of("AWS::ApiGateway::Method") {
			at := path(template, m)
			methods[at] = append(methods[at], m.Properties["HttpMethod"].(string))
			if !mocked(m) {
				continue
			}
			answer := value(m.Properties, "Integration", "IntegrationResponses", 0)
			body := text(value(answer, "ResponseTemplates", "application/json"))
			var document problem.Document
			if err := json.Unmarshal([]byte(body), &document); err != nil || document.Code != problem.NotFound || document.Status != 404 {
				t.Errorf("%s answers %s (%v)", id, body, err)
			}
			if value(answer, "StatusCode") != "404" || value(answer, "ResponseParameters", "method.response.header.Content-Type") != "'"+problem.ContentType+"'" {
				t.Errorf("%s answers %v", id, answer)
			}
			if got := value(m.Properties, "Integration", "RequestTemplates", "application/json"); got != `{"statusCode": 404}` || m.Properties["HttpMethod"] != "ANY" {
				t.Errorf("%s is asked with %v for %v", id, got, m.Properties["HttpMethod"])
			}
		}
		for id := range template.of("AWS::ApiGateway::Resource") {
			if at := path(template, resource{Properties: map[string]any{"ResourceId": "${" + id + "}"}}); !slices.Contains(methods[at], "ANY") {
				t.Errorf("%s: %s has the methods %v alone", name, at, methods[at])
			}
		}
		if !slices.Contains(methods[""], "ANY") || !slices.Contains(methods["/{unknown+}"], "ANY") {
			t.Errorf("%s: some paths are left to the gateway", name)
		}
	}
}

// path is the route of a method, from its resource up to the root.
func path(t template, method resource) string {
	route := ""
	parent := method.Properties["ResourceId"]
	for {
		r, ok := t.Resources[strings.Trim(text(parent), "${}")]
		if !ok {
			return route
		}
		route = "/" + r.Properties["PathPart"].(string) + route
		parent = r.Properties["ParentId"]
	}
}

func TestStack_EveryMethod_AsksTheAuthorizerAndOutwaitsItsFunction(t *testing.T) {
	template := dev()
	authorizer := template.id(t, "AWS::ApiGateway::Authorizer", "token")
	for id, m := range template.of("AWS::ApiGateway::Method") {
		if mocked(m) {
			continue
		}
		if m.Properties["AuthorizationType"] != "CUSTOM" || text(m.Properties["AuthorizerId"]) != "${"+authorizer+"}" {
			t.Errorf("%s can be called without the authorizer", id)
		}
		if m.Properties["ApiKeyRequired"] == true {
			t.Errorf("%s asks for an API key", id)
		}
		op := operations.Get(m.Properties["OperationName"].(string))
		wait := value(m.Properties, "Integration", "TimeoutInMillis").(float64)
		if wait > 29_000 || (wait <= float64(op.Timeout.Milliseconds()) && wait != 29_000) {
			t.Errorf("%s waits %v ms for a function that may take %v", id, wait, op.Timeout)
		}
	}
}

func TestStack_TheAuthorizer_SeesTheHeaderAndIsCachedByIt(t *testing.T) {
	for _, a := range dev().of("AWS::ApiGateway::Authorizer") {
		if a.Properties["Type"] != "REQUEST" || a.Properties["IdentitySource"] != "method.request.header.Authorization" ||
			a.Properties["AuthorizerResultTtlInSeconds"] != 300.0 {
			t.Errorf("the authorizer is %v", a.Properties)
		}
	}
}

// allowances writes what a role may do, as "action resource", sorted.
func allowances(role resource) []string {
	var all []string
	for i := range list(role.Properties["Policies"]) {
		statements := value(role.Properties, "Policies", i, "PolicyDocument", "Statement").([]any)
		for _, s := range statements {
			for _, a := range list(value(s, "Action")) {
				for _, r := range list(value(s, "Resource")) {
					all = append(all, fmt.Sprint(value(s, "Effect"), " ", a, " ", r))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// rowAllowances is what the row of an operation says, in the same form.
func rowAllowances(t *testing.T, template template, function string, grants []operations.Grant) []string {
	t.Helper()
	logs := "${" + template.id(t, "AWS::Logs::LogGroup", function+"-logs") + ".Arn}"
	all := map[string]bool{
		"Allow logs:CreateLogStream " + logs: true, "Allow logs:PutLogEvents " + logs: true,
		"Allow xray:PutTraceSegments *": true, "Allow xray:PutTelemetryRecords *": true,
	}
	for _, g := range grants {
		table := "${" + template.id(t, "AWS::DynamoDB::Table", "table-"+string(g.Table)) + ".Arn}"
		for _, a := range g.Actions {
			if a != dynamo.Query || !g.OnlyIndexes {
				all["Allow dynamodb:"+string(a)+" "+table] = true
			}
		}
		for _, index := range g.Indexes {
			all["Allow dynamodb:Query "+table+"/index/"+index] = true
		}
	}
	return sorted(all)
}

func TestStack_EachFunction_MayDoWhatItsRowSaysAndNoMore(t *testing.T) {
	template := dev()
	grants := map[string][]operations.Grant{operations.Authorizer: nil, preTokenGeneration: nil}
	for _, op := range operations.Table {
		grants[op.ID] = op.Grants
	}
	for _, task := range operations.Tasks {
		grants[task.ID] = task.Grants
	}
	for _, name := range sorted(grants) {
		function := template.Resources[template.id(t, "AWS::Lambda::Function", name)]
		role := strings.TrimSuffix(strings.Trim(text(function.Properties["Role"]), "${}"), ".Arn")
		got, want := allowances(template.Resources[role]), rowAllowances(t, template, name, grants[name])
		for _, a := range want {
			if !slices.Contains(got, a) {
				t.Errorf("%s lacks %s", name, a)
			}
		}
		for _, a := range got {
			if !slices.Contains(want, a) {
				t.Errorf("%s has %s, which its row does not say", name, a)
			}
		}
		if template.Resources[role].Properties["ManagedPolicyArns"] != nil {
			t.Errorf("%s has rights of a managed policy", name)
		}
	}
	if policies := template.of("AWS::IAM::Policy"); len(policies) > 0 {
		t.Errorf("rights stand outside of roles: %v", sorted(policies))
	}
	if n := len(template.of("AWS::Lambda::Function")); n != len(grants) {
		t.Errorf("there are %d functions, the table and the stack's own ask for %d", n, len(grants))
	}
}

func TestStack_EachFunction_KnowsTheTablesOfItsRowAndNoOthers(t *testing.T) {
	template := dev()
	for _, op := range operations.Table {
		function := template.Resources[template.id(t, "AWS::Lambda::Function", op.ID)]
		env := value(function.Properties, "Environment", "Variables").(map[string]any)
		want := map[string]bool{}
		for _, g := range op.Grants {
			want[g.Table.EnvName()] = true
			table := "${" + template.id(t, "AWS::DynamoDB::Table", "table-"+string(g.Table)) + "}"
			if got := text(env[g.Table.EnvName()]); got != table {
				t.Errorf("%s: %s is %s, want %s", op.ID, g.Table.EnvName(), got, table)
			}
		}
		for key := range env {
			if strings.HasPrefix(key, "TABLE_") && !want[key] {
				t.Errorf("%s knows %s, which its row does not name", op.ID, key)
			}
		}
	}
}

func TestStack_NothingButTheAPI_MayCallAnOperation(t *testing.T) {
	for id, p := range dev().of("AWS::Lambda::Permission") {
		switch p.Properties["Principal"] {
		case "apigateway.amazonaws.com", "cognito-idp.amazonaws.com":
		default:
			t.Errorf("%s lets %v call", id, p.Properties["Principal"])
		}
		if p.Properties["SourceArn"] == nil {
			t.Errorf("%s lets any API or pool call", id)
		}
		if strings.Contains(text(p.Properties["SourceArn"]), "test-invoke-stage") {
			t.Errorf("%s is for the console's test button", id)
		}
	}
}
