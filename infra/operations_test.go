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
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// An api is the API in the template's body.
type api map[string]any

func (t template) api(test *testing.T) api {
	test.Helper()
	for _, r := range t.of("AWS::ApiGateway::RestApi") {
		body, _ := r.Properties["Body"].(map[string]any)
		return body
	}
	test.Fatal("the template has no API")
	return nil
}

// routes lists the methods of all paths, by method and path.
func (a api) routes() map[string]map[string]any {
	routes := map[string]map[string]any{}
	paths, _ := a["paths"].(map[string]any)
	for path, methods := range paths {
		for method, m := range methods.(map[string]any) {
			name := strings.ToUpper(method)
			if method == anyMethod {
				name = operations.Any
			}
			routes[name+" "+path] = m.(map[string]any)
		}
	}
	return routes
}

// mocked reports whether API Gateway itself answers a method.
func mocked(method map[string]any) bool {
	return value(method, "x-amazon-apigateway-integration", "type") == "mock"
}

var invokes = regexp.MustCompile(`^arn:(?:aws|\$\{AWS::Partition\}):apigateway:[^:]+(?:::Region\})?:lambda:path/2015-03-31/functions/\$\{([A-Za-z0-9]+(?:\.Arn)?)\}(:\$\{smoketestrelease[0-9a-f]+\.[a-z0-9]+\})?/invocations$`)

// versionOfRelease reports whether an integration URI invokes the version that has passed the smoke test.
func versionOfRelease(uri any) bool {
	found := invokes.FindStringSubmatch(text(uri))
	return found != nil && found[2] != ""
}

// functionOf returns the logical id of the function, or of the alias, that an integration URI invokes.
func functionOf(uri any) string {
	if found := invokes.FindStringSubmatch(text(uri)); found != nil {
		return strings.TrimSuffix(found[1], ".Arn")
	}
	return ""
}

func TestStack_RoutesAndTheirFunctions_AreTheTableOfOperations(t *testing.T) {
	template := dev().template
	want := map[string]string{}
	for _, op := range table.All {
		want[op.Method+" "+op.Path] = template.id(t, "AWS::Lambda::Function", op.ID)
	}
	got := map[string]string{}
	for route, m := range template.api(t).routes() {
		if !mocked(m) { // see TestAnswers
			got[route] = functionOf(value(m, "x-amazon-apigateway-integration", "uri"))
		}
	}
	expect.Equal(t, got, want, "the routes are")
}

// TestStack_EveryFunctionThatIsWritten_IsDeployed compares the template, with all settings, with the folders of functions.
// Every other test uses the table of operations, so none would notice a missing row.
func TestStack_EveryFunctionThatIsWritten_IsDeployed(t *testing.T) {
	written, err := filepath.Glob(filepath.Join("..", "functions", "*", "main.go"))
	expect.Must(t, err == nil && len(written) != 0, "no functions: %v", err)
	var deployed []string
	for id := range full().of("AWS::Lambda::Function") {
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

func TestStack_EveryMethod_AsksTheAuthorizerAndOutwaitsItsFunction(t *testing.T) {
	for route, m := range dev().api(t).routes() {
		if mocked(m) {
			continue
		}
		security, _ := json.Marshal(m["security"])
		expect.That(t, string(security) == `[{"token":[]}]`, "%s requires %s", route, security)
		op := table.Get(m["operationId"].(string))
		wait := value(m, "x-amazon-apigateway-integration", "timeoutInMillis").(float64)
		if wait > 29_000 || (wait <= float64(op.Timeout.Milliseconds()) && wait != 29_000) {
			t.Errorf("%s waits %v ms for a function that may take %v", route, wait, op.Timeout)
		}
	}
}

func TestStack_TheAuthorizer_SeesTheHeaderAndIsCachedByIt(t *testing.T) {
	template := dev().template
	scheme := value(map[string]any(template.api(t)), "components", "securitySchemes", "token")
	a := value(scheme, "x-amazon-apigateway-authorizer")
	has(t, scheme, map[string]any{"name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "custom"}, "the scheme")
	has(t, a, map[string]any{
		"type": "request", "identitySource": "method.request.header.Authorization", "authorizerResultTtlInSeconds": 900.0,
	}, "the authorizer")
	expect.Equal(t, functionOf(value(a, "authorizerUri")), template.id(t, "AWS::Lambda::Function", operations.Authorizer), "tokens are given to")
}

// TestInvoker_OneRole_MayCallWhatTheAPICallsAndNothingElse: the only permission on a function is the user pool's on its
// trigger.
func TestInvoker_OneRole_MayCallWhatTheAPICallsAndNothingElse(t *testing.T) {
	for name, template := range map[string]template{"dev": dev().template, "full": full().template} {
		role := template.id(t, "AWS::IAM::Role", "invoker")
		api := template.api(t)
		authorizer := value(map[string]any(api), "components", "securitySchemes", "token", "x-amazon-apigateway-authorizer")
		called := map[string]bool{}
		call := func(id string) {
			if live := template.Resources[id]; live.Type == "AWS::Lambda::Alias" {
				id = strings.Trim(text(live.Properties["FunctionName"]), "${}")
			}
			may := "Allow lambda:InvokeFunction ${" + strings.TrimSuffix(id, ".Arn") + ".Arn}"
			called[may], called[may+":*"] = true, true // until a deploy has moved the route, it calls the previous version
		}
		call(functionOf(value(authorizer, "authorizerUri")))
		expect.Equal(t, text(value(authorizer, "authorizerCredentials")), "${"+role+".Arn}", "%s: the authorizer is called as %v", name, value(authorizer, "authorizerCredentials"))
		for route, m := range api.routes() {
			if mocked(m) {
				continue
			}
			integration := m["x-amazon-apigateway-integration"]
			call(functionOf(value(integration, "uri")))
			expect.Equal(t, text(value(integration, "credentials")), "${"+role+".Arn}", "%s: %s calls as", name, route)
		}
		var may []string
		var policies []string
		for id, p := range template.of("AWS::IAM::ManagedPolicy") {
			if p.Properties["Roles"] == nil {
				continue // functions' roles name it; API Gateway's names none, see below
			}
			expect.Equal(t, list(p.Properties["Roles"]), []string{"${" + role + "}"}, "%s: %s is for", name, id)
			may = append(may, allowed(value(p.Properties, "PolicyDocument"))...)
			policies = append(policies, id)
		}
		slices.Sort(may)
		want := sorted(called)
		expect.That(t, slices.Equal(may, want), "%s: API Gateway may %v\nand calls %v", name, may, want)
		if r := template.Resources[role]; len(allowances(r)) > 0 || r.Properties["ManagedPolicyArns"] != nil {
			t.Errorf("%s: the role has more permissions: %v", name, r.Properties)
		}
		// No route is live before the permission to call its function.
		for id, d := range template.of("AWS::ApiGateway::Deployment") {
			for _, policy := range policies {
				expect.That(t, slices.Contains(d.DependsOn, policy), "%s: %s does not wait for %s", name, id, policy)
			}
		}
		for id, p := range template.of("AWS::Lambda::Permission") {
			if strings.HasPrefix(id, "livegetbell") || strings.HasPrefix(id, "livedoor") { // anyone may call their URLs
				continue
			}
			if p.Properties["Principal"] != "cognito-idp.amazonaws.com" || p.Properties["SourceArn"] == nil {
				t.Errorf("%s: %s lets %v call", name, id, p.Properties["Principal"])
			}
		}
	}
}

// TestInvoker_PoliciesOfTheLongestNames_FitIntoWhatIAMTakes: 6,144 characters without white space.
func TestInvoker_PoliciesOfTheLongestNames_FitIntoWhatIAMTakes(t *testing.T) {
	// Lambda's names have 64 characters, and no region's name has more than 14.
	arn := "arn:aws-us-gov:lambda:ap-southeast-99:123456789012:function:" + strings.Repeat("f", 64)
	statement := len(`{"Version":"2012-10-17","Statement":[{"Action":"lambda:InvokeFunction","Effect":"Allow","Resource":[]}]}`)
	size := statement + policyFunctions*2*(len(arn)+len(`:*"",`))
	expect.That(t, size <= 6144, "a policy of %d functions has %d characters", policyFunctions, size)
}

// allowances lists a role's permissions, as "action resource", sorted.
func allowances(role resource) []string {
	var all []string
	for i := range list(role.Properties["Policies"]) {
		all = append(all, allowed(value(role.Properties, "Policies", i, "PolicyDocument"))...)
	}
	slices.Sort(all)
	return all
}

// allowed lists the permissions of a policy's document, in the same form.
func allowed(document any) []string {
	var all []string
	statements, _ := value(document, "Statement").([]any)
	for _, s := range statements {
		for _, a := range list(value(s, "Action")) {
			for _, r := range list(value(s, "Resource")) {
				all = append(all, fmt.Sprint(value(s, "Effect"), " ", a, " ", r))
			}
		}
	}
	return all
}

// rowAllowances lists the permissions of an operation's row, in the same form.
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
			for _, action := range a.Actions() {
				if action != dynamo.Query || !g.OnlyIndexes {
					all["Allow dynamodb:"+string(action)+" "+table] = true
				}
			}
		}
		for _, index := range g.Indexes {
			all["Allow dynamodb:Query "+table+"/index/"+index] = true
		}
	}
	return sorted(all)
}

func TestStack_EachFunction_MayDoWhatItsRowSaysAndNoMore(t *testing.T) {
	template := dev().template
	grants := map[string][]operations.Grant{operations.Authorizer: operations.AuthorizerGrants, preTokenGeneration: nil}
	for _, op := range table.All {
		grants[op.ID] = op.Grants
	}
	for _, task := range table.Tasks {
		grants[task.ID] = task.Grants
	}
	for _, name := range sorted(grants) {
		role := template.role(template.function(t, name))
		expect.Equal(t, slices.Compact(allowances(role)), rowAllowances(t, template, name, grants[name]), "what %s may do", name)
		has(t, role.Properties, map[string]any{"ManagedPolicyArns": nil}, "the role of %s", name)
	}
	expect.Equal(t, sorted(template.of("AWS::IAM::Policy")), nil, "permissions outside of roles")
	expect.Equal(t, len(template.of("AWS::Lambda::Function")), len(grants), "of the table and of the stack, the number of functions is")
}

func TestStack_EachFunction_KnowsTheTablesOfItsRowAndNoOthers(t *testing.T) {
	template := dev().template
	grants := map[string][]operations.Grant{operations.Authorizer: operations.AuthorizerGrants}
	for _, op := range table.All {
		grants[op.ID] = op.Grants
	}
	for _, name := range sorted(grants) {
		env := environment(template.function(t, name))
		want := map[string]bool{}
		for _, g := range grants[name] {
			want[g.Table.EnvName()] = true
			table := "${" + template.id(t, "AWS::DynamoDB::Table", "table-"+string(g.Table)) + "}"
			expect.Equal(t, text(env[g.Table.EnvName()]), table, "%s: %s is", name, g.Table.EnvName())
		}
		for key := range env {
			if strings.HasPrefix(key, "TABLE_") && !want[key] {
				t.Errorf("%s has %s, which is not in its row", name, key)
			}
		}
	}
}
