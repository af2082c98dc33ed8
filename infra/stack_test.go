package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// stages are the two templates that are deployed, by name.
func stages() map[string]template { return map[string]template{"dev": dev(), "prod": prod()} }

func TestTables_AreTheDefinitions(t *testing.T) {
	for stage, template := range stages() {
		for _, want := range dynamo.Tables {
			p := template.Resources[template.id(t, "AWS::DynamoDB::Table", "table-"+string(want.ID))].Properties
			at := stage + " " + string(want.ID)
			if got := keys(p["KeySchema"]); got != strings.TrimSuffix(want.Partition+" "+want.Sort, " ") {
				t.Errorf("%s has the keys %q", at, got)
			}
			got, indexes, kept := map[string]string{}, map[string]string{}, map[string]string{}
			for _, kind := range []string{"LocalSecondaryIndexes", "GlobalSecondaryIndexes"} {
				list, _ := p[kind].([]any)
				for _, x := range list {
					got[value(x, "IndexName").(string)] = kind + " " + keys(value(x, "KeySchema"))
					kept[value(x, "IndexName").(string)] = fmt.Sprint(value(x, "Projection", "ProjectionType"), value(x, "Projection", "NonKeyAttributes"))
				}
			}
			for _, x := range want.Indexes {
				kind := map[bool]string{true: "LocalSecondaryIndexes", false: "GlobalSecondaryIndexes"}[x.Local]
				indexes[x.Name] = strings.TrimSuffix(kind+" "+x.Partition+" "+x.Sort, " ")
				want := "ALL<nil>"
				if x.Holds != nil {
					want = fmt.Sprint("INCLUDE", x.Holds)
				}
				if kept[x.Name] != want {
					t.Errorf("%s: %s holds %s, want %s", at, x.Name, kept[x.Name], want)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(indexes) {
				t.Errorf("%s has the indexes %v, want %v", at, got, indexes)
			}
			if ttl := value(p, "TimeToLiveSpecification", "AttributeName"); (want.TTL == "") != (ttl == nil) || (ttl != nil && ttl != want.TTL) {
				t.Errorf("%s ends items by %v, want %q", at, ttl, want.TTL)
			}
			if p["BillingMode"] != "PAY_PER_REQUEST" || p["TableName"] != nil {
				t.Errorf("%s is billed as %v under the name %v", at, p["BillingMode"], p["TableName"])
			}
			if value(p, "SSESpecification", "SSEEnabled") != true {
				t.Errorf("%s is not encrypted with the account's key", at)
			}
			recovers := value(p, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")
			if recovers != !want.Ephemeral {
				t.Errorf("%s: point-in-time recovery is %v", at, recovers)
			}
			if protected := p["DeletionProtectionEnabled"] == true; protected != (stage == "prod" && !want.Ephemeral) {
				t.Errorf("%s: deletion protection is %v", at, protected)
			}
		}
		if n := len(template.of("AWS::DynamoDB::Table")); n != len(dynamo.Tables) {
			t.Errorf("%s has %d tables, the definitions are %d", stage, n, len(dynamo.Tables))
		}
	}
}

// keys writes a key schema as the names of its attributes.
func keys(schema any) string {
	var names []string
	list, _ := schema.([]any)
	for _, k := range list {
		names = append(names, value(k, "AttributeName").(string))
	}
	return strings.Join(names, " ")
}

func TestAudit_NothingMayChangeOrRemoveAnEvent(t *testing.T) {
	for stage, template := range stages() {
		audit := template.id(t, "AWS::DynamoDB::Table", "table-"+string(dynamo.Audit))
		for id, role := range template.of("AWS::IAM::Role") {
			for _, allowed := range allowances(role) {
				_, rest, _ := strings.Cut(allowed, " ")
				action, on, _ := strings.Cut(rest, " ")
				if strings.Contains(on, audit) && !slices.Contains([]string{"dynamodb:PutItem", "dynamodb:Query", "dynamodb:GetItem"}, action) {
					t.Errorf("%s: %s may %s audit events", stage, id, action)
				}
			}
		}
	}
}

func TestRights_NoWildcards_ButWhereAWSHasNothingNarrower(t *testing.T) {
	for stage, template := range stages() {
		for id, role := range template.of("AWS::IAM::Role") {
			for _, allowed := range allowances(role) {
				fields := strings.Fields(allowed)
				if strings.Contains(fields[1], "*") {
					t.Errorf("%s: %s has %s", stage, id, allowed)
				}
				if strings.Contains(fields[2], "*") && !strings.HasPrefix(fields[1], "xray:") {
					t.Errorf("%s: %s has %s", stage, id, allowed)
				}
			}
		}
	}
}

func TestPolicies_OfResources_LetNobodyInWhoIsNotNamed(t *testing.T) {
	for stage, template := range stages() {
		for id, r := range template.Resources {
			for _, property := range []string{"PolicyDocument", "ResourcePolicy", "Policy", "AssumeRolePolicyDocument"} {
				statements, _ := value(r.Properties, property, "Statement").([]any)
				for _, s := range statements {
					principal, _ := json.Marshal(value(s, "Principal"))
					if value(s, "Effect") == "Allow" && strings.Contains(string(principal), "*") {
						t.Errorf("%s: %s lets %s in", stage, id, principal)
					}
				}
			}
		}
	}
}

func TestProd_KeepsWhatItHolds_AndDevNothing(t *testing.T) {
	for stage, want := range map[string]string{"dev": "Delete", "prod": "Retain"} {
		template := stages()[stage]
		for _, kind := range stateful {
			if len(template.of(kind)) == 0 {
				t.Errorf("%s has no %s", stage, kind)
			}
			for id, r := range template.of(kind) {
				if r.DeletionPolicy != want || r.UpdateReplacePolicy != want {
					t.Errorf("%s: %s is %s/%s when it leaves the stack, want %s", stage, id, r.DeletionPolicy, r.UpdateReplacePolicy, want)
				}
			}
		}
		for id, r := range template.of("AWS::ApiGateway::Account") {
			if r.DeletionPolicy != "Retain" {
				t.Errorf("%s: the account's logging would end with the stack: %s", stage, id)
			}
		}
	}
}

func TestFunctions_AreBuiltAlike(t *testing.T) {
	for stage, template := range stages() {
		for id, f := range template.of("AWS::Lambda::Function") {
			p := f.Properties
			if p["Runtime"] != "provided.al2023" || fmt.Sprint(p["Architectures"]) != "[arm64]" || p["Handler"] != "bootstrap" {
				t.Errorf("%s: %s runs %v on %v", stage, id, p["Runtime"], p["Architectures"])
			}
			if value(p, "TracingConfig", "Mode") != "Active" {
				t.Errorf("%s: %s is not traced", stage, id)
			}
			if p["ReservedConcurrentExecutions"] != nil {
				t.Errorf("%s: %s reserves concurrency, which a new account refuses", stage, id)
			}
			logs := template.Resources[strings.Trim(text(value(p, "LoggingConfig", "LogGroup")), "${}")]
			if logs.Type != "AWS::Logs::LogGroup" || logs.Properties["RetentionInDays"] != map[string]any{"dev": 14.0, "prod": 90.0}[stage] {
				t.Errorf("%s: %s logs to %v", stage, id, logs)
			}
			if value(p, "Environment", "Variables", "STAGE") != stage {
				t.Errorf("%s: %s counts for another stage", stage, id)
			}
			if value(p, "Environment", "Variables", "AWS_ENDPOINT_URL_DYNAMODB") != nil {
				t.Errorf("%s: %s is sent to another store than AWS's", stage, id)
			}
		}
		for _, op := range operations.Table {
			p := template.Resources[template.id(t, "AWS::Lambda::Function", op.ID)].Properties
			if p["MemorySize"] != float64(op.MemoryMB) || p["Timeout"] != op.Timeout.Seconds() {
				t.Errorf("%s: %s has %v MB and %v s, its row says %d and %v", stage, op.ID, p["MemorySize"], p["Timeout"], op.MemoryMB, op.Timeout)
			}
			// Lambda's own lines for each call would cost more than a poll does.
			if want := map[bool]string{true: "WARN", false: "INFO"}[op.Sampled]; value(p, "LoggingConfig", "SystemLogLevel") != want {
				t.Errorf("%s: Lambda logs %s of %s, want %s", stage, value(p, "LoggingConfig", "SystemLogLevel"), op.ID, want)
			}
		}
	}
}

func TestGatewayResponses_SpeakLikeTheFunctions(t *testing.T) {
	template := dev()
	byType := map[string]map[string]any{}
	for _, r := range template.of("AWS::ApiGateway::GatewayResponse") {
		byType[r.Properties["ResponseType"].(string)] = r.Properties
	}
	if len(byType) != len(problem.GatewayResponses) {
		t.Errorf("there are %d types, the list has %d", len(byType), len(problem.GatewayResponses))
	}
	for _, want := range problem.GatewayResponses {
		p := byType[want.Type]
		status := fmt.Sprint(want.Status)
		if want.Status == 0 && p["StatusCode"] != nil || want.Status != 0 && p["StatusCode"] != status {
			t.Errorf("%s has the status %v, want %s", want.Type, p["StatusCode"], status)
		}
		var body problem.Document
		if err := json.Unmarshal([]byte(value(p, "ResponseTemplates", "application/json").(string)), &body); err != nil {
			t.Fatalf("%s: %v", want.Type, err)
		}
		if body.Code != want.Code || body.Detail != want.Detail || body.RequestID != "$context.requestId" || body.Instance != "$context.path" || body.Type != want.Code.Type() {
			t.Errorf("%s answers %+v", want.Type, body)
		}
		headers := value(p, "ResponseParameters")
		if value(headers, "gatewayresponse.header.Content-Type") != "'application/problem+json'" {
			t.Errorf("%s has the headers %v", want.Type, headers)
		}
		if (value(headers, "gatewayresponse.header.WWW-Authenticate") == "'Bearer'") != (want.Status == 401) {
			t.Errorf("%s: WWW-Authenticate belongs to 401 and to nothing else: %v", want.Type, headers)
		}
		if after := value(headers, "gatewayresponse.header.Retry-After"); (after != nil) != (want.RetryAfter > 0) {
			t.Errorf("%s asks to wait %v, want %v", want.Type, after, want.RetryAfter)
		}
		if value(headers, "gatewayresponse.header.Access-Control-Allow-Origin") != nil {
			t.Errorf("%s lets pages of other origins read it, and none is set", want.Type)
		}
	}
	if byType["THROTTLED"] == nil || byType["MISSING_AUTHENTICATION_TOKEN"]["StatusCode"] != "404" || byType["ACCESS_DENIED"]["StatusCode"] != "401" {
		t.Error("an unknown route is 404, a denied token 401, and a throttled call has an answer")
	}
}

func TestStage_LogsTracesAndThrottles(t *testing.T) {
	for stage, template := range stages() {
		for _, s := range template.of("AWS::ApiGateway::Stage") {
			p := s.Properties
			if p["StageName"] != stage || p["TracingEnabled"] != true {
				t.Errorf("the stage is %v, traced: %v", p["StageName"], p["TracingEnabled"])
			}
			m := value(p, "MethodSettings", 0)
			if value(m, "ThrottlingRateLimit") != 2000.0 || value(m, "ThrottlingBurstLimit") != 2000.0 ||
				value(m, "LoggingLevel") != "ERROR" || value(m, "DataTraceEnabled") != false {
				t.Errorf("%s: the stage's methods have %v", stage, m)
			}
			var line map[string]string
			if err := json.Unmarshal([]byte(value(p, "AccessLogSetting", "Format").(string)), &line); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"requestId", "traceId", "userId", "organizationId", "operation", "latency", "status", "error"} {
				if line[field] == "" {
					t.Errorf("%s: the access log lacks %s", stage, field)
				}
			}
			for field, variable := range line {
				if strings.Contains(strings.ToLower(variable), "header") || strings.Contains(strings.ToLower(variable), "authorizationtoken") {
					t.Errorf("%s: the access log's %s may hold a token: %s", stage, field, variable)
				}
			}
		}
		for _, a := range template.of("AWS::ApiGateway::RestApi") {
			if fmt.Sprint(value(a.Properties, "EndpointConfiguration", "Types")) != "[REGIONAL]" {
				t.Errorf("%s: the API's endpoint is %v", stage, a.Properties["EndpointConfiguration"])
			}
		}
	}
}

func TestOrigins_OnlyThoseOfTheSettings_MayCallFromABrowser(t *testing.T) {
	for id, m := range dev().of("AWS::ApiGateway::Method") {
		if m.Properties["HttpMethod"] == "OPTIONS" {
			t.Errorf("%s answers preflight requests, and no origin is set", id)
		}
	}
	template := full()
	paths, preflights := map[string]bool{}, 0
	for _, op := range operations.Table {
		paths[op.Path] = true
	}
	for id, m := range template.of("AWS::ApiGateway::Method") {
		if m.Properties["HttpMethod"] != "OPTIONS" {
			continue
		}
		preflights++
		answer := value(m.Properties, "Integration", "IntegrationResponses", 0)
		body := fmt.Sprint(value(answer, "ResponseTemplates", "application/json"))
		if !strings.Contains(body, `$origin == "https://a.example" || $origin == "https://b.example"`) {
			t.Errorf("%s allows by %s", id, body)
		}
		if value(answer, "ResponseParameters", "method.response.header.Access-Control-Allow-Origin") != nil {
			t.Errorf("%s allows an origin without a look at it", id)
		}
	}
	for _, op := range operations.Table {
		env := value(template.Resources[template.id(t, "AWS::Lambda::Function", op.ID)].Properties, "Environment", "Variables")
		if got := value(env, string(setting.CORSOrigins)); got != "https://a.example,https://b.example" {
			t.Errorf("%s lets pages of %v read its answers", op.ID, got)
		}
	}
	if preflights != len(paths) {
		t.Errorf("%d paths answer preflight requests, there are %d", preflights, len(paths))
	}
}

func TestCopilotSecret_StandsInNoTemplate(t *testing.T) {
	template := full()
	for _, op := range operations.Table {
		if op.Limit != operations.Copilot {
			continue
		}
		env := value(template.Resources[template.id(t, "AWS::Lambda::Function", op.ID)].Properties, "Environment", "Variables")
		if got := text(value(env, "COPILOT_SECRET")); !strings.HasPrefix(got, "{{resolve:secretsmanager:") {
			t.Errorf("%s has the secret as %s", op.ID, got)
		}
	}
}

func TestResources_OfTheLargestStack_AreFewEnough(t *testing.T) {
	template := full()
	if n := len(template.Resources); n >= maxResources {
		t.Errorf("the stack has %d resources for %d operations", n, len(operations.Table))
	} else {
		t.Logf("%d resources for %d operations", n, len(operations.Table))
	}
}
