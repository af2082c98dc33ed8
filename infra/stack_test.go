package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/expect"
)

// stages are the deployments with as few settings as possible, by name.
func stages() map[string]stage { return map[string]stage{"dev": dev(), "prod": prod()} }

// TestStacks_WhatHoldsData_IsApartFromTheService: the service can be replaced, and there are no exports,
// because an export cannot change while another stack reads it.
func TestStacks_WhatHoldsData_IsApartFromTheService(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "prod": prod(), "full": full()} {
		data, service := s.stacks["wavegate-"+strings.Replace(name, "full", "prod", 1)], s.stacks["wavegate-"+strings.Replace(name, "full", "prod", 1)+"-service"]
		watch := s.stacks["wavegate-"+strings.Replace(name, "full", "prod", 1)+"-watch"]
		if want := map[string]int{"dev": 3, "prod": 3, "full": 5}[name]; len(s.stacks) != want || len(data.Resources) == 0 || len(service.Resources) == 0 {
			t.Fatalf("%s has the stacks %v", name, sorted(s.stacks))
		}
		holdsData := []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Cognito::UserPoolGroup", "AWS::SSM::Parameter"}
		for _, kind := range holdsData {
			expect.That(t, len(data.of(kind)) != 0 && len(service.of(kind)) == 0,
				"%s: %s is in the wrong stack", name, kind)
		}
		for _, kind := range []string{"AWS::ApiGateway::RestApi", "AWS::Cognito::UserPoolClient", "AWS::Logs::QueryDefinition"} {
			expect.That(t, len(service.of(kind)) != 0 && len(data.of(kind)) == 0,
				"%s: %s is in the wrong stack", name, kind)
		}
		if len(watch.of("AWS::CloudWatch::Dashboard")) != 1 || len(watch.of("AWS::Lambda::Function")) != map[string]int{"full": 1}[name] {
			t.Errorf("%s is watched by %v", name, sorted(watch.Resources))
		}
		expect.Equal(t, len(data.of("AWS::Lambda::Function")), 1, "%s: the data stack has this many functions, and needs only the pool's trigger", name)
		published := map[string]bool{}
		for _, p := range data.of("AWS::SSM::Parameter") {
			published[p.Properties["Name"].(string)] = true
		}
		read := map[string]bool{}
		parameters := maps.Clone(service.Parameters)
		maps.Copy(parameters, watch.Parameters)
		maps.Copy(parameters, s.stacks["wavegate-prod-events"].Parameters)
		maps.Copy(parameters, s.stacks["wavegate-prod-backup"].Parameters)
		for id, p := range parameters {
			if p.Type == "AWS::SSM::Parameter::Value<String>" && strings.HasPrefix(p.Default, "/wavegate/") {
				read[p.Default] = true
			} else if !strings.HasPrefix(p.Default, "/cdk-bootstrap/") {
				t.Errorf("%s: the parameter %s is %v", name, id, p)
			}
		}
		if !maps.Equal(published, read) {
			t.Errorf("%s: published are %v\nread are %v", name, sorted(published), sorted(read))
		}
		for stack, template := range s.stacks {
			b := expect.Value(json.Marshal(template))(t)
			for _, tie := range []string{"Fn::ImportValue", "Fn::GetStackOutput", `"Export"`} {
				expect.That(t, !strings.Contains(string(b), tie), "%s has %s", stack, tie)
			}
		}
	}
}

// TestStacks_ForSAM_AreOne: SAM reads only one template, and no parameters of another stack.
func TestStacks_ForSAM_AreOne(t *testing.T) {
	s := local()
	if len(s.stacks) != 1 || len(s.of("AWS::SSM::Parameter")) > 0 || len(s.of("AWS::DynamoDB::Table")) == 0 || len(s.of("AWS::ApiGateway::RestApi")) != 1 {
		t.Errorf("for SAM there are %v", sorted(s.stacks))
	}
}

func TestTables_AreTheDefinitions(t *testing.T) {
	for stage, template := range stages() {
		for _, want := range dynamo.Tables {
			p := template.Resources[template.id(t, "AWS::DynamoDB::Table", "table-"+string(want.ID))].Properties
			at := stage + " " + string(want.ID)
			expect.Equal(t, keys(p["KeySchema"]), strings.TrimSuffix(want.Partition+" "+want.Sort, " "), "%s has the keys", at)
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
				expect.Equal(t, kept[x.Name], want, "%s: %s has", at, x.Name)
			}
			expect.Equal(t, fmt.Sprint(got), fmt.Sprint(indexes), "%s has the indexes %v, want %v", at, got, indexes)
			if ttl := value(p, "TimeToLiveSpecification", "AttributeName"); (want.TTL == "") != (ttl == nil) || (ttl != nil && ttl != want.TTL) {
				t.Errorf("%s ends items by %v, want %q", at, ttl, want.TTL)
			}
			has(t, p, map[string]any{
				"BillingMode": "PAY_PER_REQUEST", "TableName": nil, "SSESpecification/SSEEnabled": true, // with the account's key
				"PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled": !want.Ephemeral,
			}, "%s", at)
			if protected := p["DeletionProtectionEnabled"] == true; protected != (stage == "prod") {
				t.Errorf("%s: deletion protection is %v", at, protected)
			}
		}
		expect.Equal(t, len(template.of("AWS::DynamoDB::Table")), len(dynamo.Tables), "%s has this many tables, the definitions are", stage)
	}
}

// TestTables_AreWarmAsTold: a new table takes 4,000 writes a second, and a large fleet needs more.
func TestTables_AreWarmAsTold(t *testing.T) {
	for name, want := range map[string]map[dynamo.TableID]any{"prod": {}, "full": {dynamo.RateCounters: 21000.0, dynamo.Reports: 17000.0}} {
		template := map[string]stage{"prod": prod(), "full": full()}[name]
		for _, table := range dynamo.Tables {
			made := template.Resources[template.id(t, "AWS::DynamoDB::Table", "table-"+string(table.ID))].Properties
			got := value(made, "WarmThroughput", "WriteUnitsPerSecond")
			expect.That(t, got == want[table.ID], "%s: %s is warm for %v writes", name, table.ID, got)
			for _, index := range list(made["GlobalSecondaryIndexes"]) {
				if !strings.Contains(index, fmt.Sprintf(`"WriteUnitsPerSecond":%v}`, want[table.ID])) && want[table.ID] != nil {
					t.Errorf("%s: an index of %s is %s", name, table.ID, index)
				}
			}
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
				expect.That(t, !strings.Contains(fields[1], "*"), "%s: %s has %s", stage, id, allowed)
				resource := fields[2]
				if fields[1] == "lambda:InvokeFunction" {
					resource = strings.TrimSuffix(resource, ".Arn}:*") // the versions of one function
				}
				if strings.HasPrefix(id, "smoketest") {
					resource = strings.TrimSuffix(resource, ":function:wavegate-prod-*") // the deployment's functions
				}
				if strings.Contains(resource, "*") && !strings.HasPrefix(fields[1], "xray:") {
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
	for stage, want := range map[string]string{"dev": "Delete", "prod": "Retain", "full": "Retain"} {
		template := map[string]template{"dev": dev().template, "prod": prod().template, "full": full().template}[stage]
		for _, kind := range stateful {
			if len(template.of(kind)) == 0 && stage == "full" {
				t.Errorf("%s has no %s", stage, kind)
			}
			for id, r := range template.of(kind) {
				if r.DeletionPolicy != want || r.UpdateReplacePolicy != want {
					t.Errorf("%s: %s is %s/%s when it leaves the stack, want %s", stage, id, r.DeletionPolicy, r.UpdateReplacePolicy, want)
				}
			}
		}
		for id, r := range template.of("AWS::ApiGateway::Account") { // one for each account and region
			expect.Equal(t, r.DeletionPolicy, "Retain", "%s: the account's logging would end with the stack: %s", stage, id)
		}
	}
}

func TestFunctions_AreBuiltAlike(t *testing.T) {
	for stage, template := range stages() {
		for id, f := range template.of("AWS::Lambda::Function") {
			p := f.Properties
			has(t, p, map[string]any{
				"Runtime": "provided.al2023", "Architectures": []any{"arm64"}, "Handler": "bootstrap", "TracingConfig/Mode": "Active",
				"Environment/Variables/STAGE": stage, "Environment/Variables/AWS_ENDPOINT_URL_DYNAMODB": nil,
			}, "%s: %s", stage, id)
			logs := template.Resources[strings.Trim(text(value(p, "LoggingConfig", "LogGroup")), "${}")]
			if logs.Type != "AWS::Logs::LogGroup" || logs.Properties["RetentionInDays"] != map[string]any{"dev": 14.0, "prod": 90.0}[stage] {
				t.Errorf("%s: %s logs to %v", stage, id, logs)
			}
			if memory, ok := p["MemorySize"].(float64); !ok || (memory < wholeProcessor) != (value(p, "Environment", "Variables", "GOMAXPROCS") == "1") {
				t.Errorf("%s: %s has %v MB and runs on %v processors", stage, id, p["MemorySize"], value(p, "Environment", "Variables", "GOMAXPROCS"))
			}
		}
		for _, op := range table.All {
			has(t, template.function(t, op.ID).Properties, map[string]any{
				"MemorySize": float64(op.MemoryMB), "Timeout": op.Timeout.Seconds(),
				// Lambda's own lines for each call would cost more than a poll does.
				"LoggingConfig/SystemLogLevel": map[bool]string{true: "WARN", false: "INFO"}[op.Sampled],
			}, "%s: %s", stage, op.ID)
		}
	}
}

func TestStage_LogsAndTraces(t *testing.T) {
	for stage, template := range stages() {
		for _, s := range template.of("AWS::ApiGateway::Stage") {
			p := s.Properties
			if p["StageName"] != stage || p["TracingEnabled"] != true {
				t.Errorf("the stage is %v, traced: %v", p["StageName"], p["TracingEnabled"])
			}
			var line map[string]string
			expect.OK(t, json.Unmarshal([]byte(value(p, "AccessLogSetting", "Format").(string)), &line))
			for _, field := range []string{"requestId", "extendedId", "tls", "traceId", "userId", "organizationId", "operation", "latency", "status", "error"} {
				expect.That(t, line[field] != "", "%s: the access log lacks %s", stage, field)
			}
			for field, variable := range line {
				if strings.Contains(strings.ToLower(variable), "header") || strings.Contains(strings.ToLower(variable), "authorizationtoken") {
					t.Errorf("%s: the access log's %s may contain a token: %s", stage, field, variable)
				}
			}
		}
		for _, a := range template.of("AWS::ApiGateway::RestApi") {
			expect.Equal(t, fmt.Sprint(value(a.Properties, "EndpointConfiguration", "Types")), "[REGIONAL]", "%s: the API's endpoint is %v", stage, a.Properties["EndpointConfiguration"])
		}
	}
}

// TestCopilotSecret_IsReadAtRunTime: its value is in no template or environment, and only one function may read it.
func TestCopilotSecret_IsReadAtRunTime(t *testing.T) {
	template := full()
	const secret = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:wavegate/copilot-??????"
	for _, op := range table.All {
		function := template.function(t, op.ID)
		env := environment(function)
		want := any(nil)
		if op.Limit == ratelimit.Copilot {
			want = "wavegate/copilot"
		}
		got := value(env, "COPILOT_SECRET_ID")
		expect.That(t, got == want && value(env, "COPILOT_SECRET") == nil, "%s has the secret as %v", op.ID, got)
		may := slices.Contains(allowances(template.role(function)), "Allow secretsmanager:GetSecretValue "+secret)
		expect.That(t, may == (want != nil), "%s may read the secret: %v", op.ID, may)
	}
	b := expect.Value(json.Marshal(template.stacks))(t)
	expect.That(t, !strings.Contains(string(b), "{{resolve:"), "CloudFormation puts a secret's value in")
}
