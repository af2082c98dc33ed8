package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/contract"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// streamed writes an item in the form of a table's stream.
func streamed(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, one := range v.Value {
			list = append(list, streamed(one))
		}
		return map[string]any{"L": list}
	case *types.AttributeValueMemberM:
		m := map[string]any{}
		for name, one := range v.Value {
			m[name] = streamed(one)
		}
		return map[string]any{"M": m}
	}
	return map[string]any{"NULL": true}
}

// rendered fills in a pipe's template from a record of the stream.
func rendered(t *testing.T, template string, record any) string {
	t.Helper()
	return regexp.MustCompile(`<\$\.([^>]*)>`).ReplaceAllStringFunc(template, func(variable string) string {
		v := record
		for step := range strings.SplitSeq(variable[3:len(variable)-1], ".") {
			v = value(v, step)
		}
		text, ok := v.(string)
		expect.That(t, ok, "%s is %v", variable, v)
		return text
	})
}

// TestEvents_ThePipeSays_WhatTheContractSays: the pipe's template turns a stored event into the notice of package
// audit, which the contract's webhook describes.
func TestEvents_ThePipeSays_WhatTheContractSays(t *testing.T) {
	e := audit.Event{
		EventID: "0192f0c2-9a10-7d3e-8b60-2f1e0d9c8b7a", EventTime: time.Date(2026, 3, 2, 11, 30, 12, 110e6, time.UTC), EventName: "RolloutHalted",
		Actor: audit.Actor{Issuer: "https://people.example", UserID: "olga"}, SourceIP: "203.0.113.7", RequestID: "r-1",
		Resource: audit.Resource{Type: "rollout", ID: "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a", Revision: 12},
		Before:   map[string]any{"status": "active"}, After: map[string]any{"status": "halted"},
	}
	e.Reason = `two "bad" boxes`
	record := audit.RecordOf(audit.Platform, e)
	item := expect.Value(dynamo.Encode(record))(t)
	image := value(streamed(&types.AttributeValueMemberM{Value: item}), "M")
	for _, pipe := range full().of("AWS::Pipes::Pipe") {
		target := pipe.Properties["TargetParameters"]
		inserted := map[string]any{"eventName": "INSERT", "dynamodb": map[string]any{"NewImage": image}}
		var got, want any
		expect.OK(t, json.Unmarshal([]byte(rendered(t, value(target, "InputTemplate").(string), inserted)), &got))
		b, err := json.Marshal(record.Notice())
		if err == nil {
			err = json.Unmarshal(b, &want)
		}
		expect.OK(t, err)
		expect.Equal(t, got, want, "what the pipe says")
		document := expect.Value(openapi3.NewLoader().LoadFromData(contract.Document))(t)
		if err := document.Components.Schemas["BusEvent"].Value.VisitJSON(got); err != nil {
			t.Errorf("the contract says otherwise: %v", err)
		}
		has(t, value(target, "EventBridgeEventBusParameters"), map[string]any{
			"Source": "wavegate.prod", "DetailType": "$.dynamodb.NewImage.eventName.S"}, "what it sends")
		for _, secret := range []string{"before", "after", "sourceIp"} {
			expect.That(t, !strings.Contains(value(target, "InputTemplate").(string), secret), "it reveals %s", secret)
		}
	}
}

// TestEvents_ThePipe_ReadsTheAuditTableAlone_AndGivesUpIntoAQueue: no retry is endless, and no loss is silent.
func TestEvents_ThePipe_ReadsTheAuditTableAlone_AndGivesUpIntoAQueue(t *testing.T) {
	template := full()
	table, queue := template.id(t, "AWS::DynamoDB::Table", "table-audit"), template.id(t, "AWS::SQS::Queue", "undelivered")
	pipes := template.of("AWS::Pipes::Pipe")
	if len(pipes) != 1 || value(template.Resources[table].Properties, "StreamSpecification", "StreamViewType") != "NEW_IMAGE" {
		t.Fatalf("there are %d pipes", len(pipes))
	}
	for id, r := range template.of("AWS::DynamoDB::Table") {
		if id != table && r.Properties["StreamSpecification"] != nil {
			t.Errorf("%s has a stream that nobody reads", id)
		}
	}
	for _, pipe := range pipes {
		const stream = "SourceParameters/DynamoDBStreamParameters"
		has(t, pipe.Properties, map[string]any{
			"Source": "${" + table + ".StreamArn}", stream + "/DeadLetterConfig/Arn": "${" + queue + ".Arn}",
			stream + "/MaximumRetryAttempts": 20.0, stream + "/MaximumRecordAgeInSeconds": 14400.0, stream + "/StartingPosition": "TRIM_HORIZON",
			"SourceParameters/FilterCriteria/Filters/0/Pattern": `{"eventName":["INSERT"]}`,
		}, "the pipe")
	}
	if r := prod(); len(r.of("AWS::Pipes::Pipe")) > 0 || len(r.of("AWS::Events::EventBus")) > 0 {
		t.Error("there is a bus without the setting")
	}
}

// TestEvents_TheRules_HaveABoundAndAQueue: a chat gets events that people must know or act on, with the reason and a link;
// an endpoint gets every change.
func TestEvents_TheRules_HaveABoundAndAQueue(t *testing.T) {
	template := full()
	queue := "${" + template.id(t, "AWS::SQS::Queue", "undelivered") + ".Arn}"
	rules := map[string]resource{}
	for _, r := range template.of("AWS::Events::Rule") {
		target := value(r.Properties, "Targets", 0)
		rules[value(target, "Id").(string)] = r
		has(t, target, map[string]any{
			"DeadLetterConfig/Arn": queue, "RetryPolicy/MaximumRetryAttempts": 20.0, "RetryPolicy/MaximumEventAgeInSeconds": 14400.0,
		}, "the target")
		expect.Equal(t, list(value(r.Properties, "EventPattern", "source")), []string{"wavegate.prod"}, "it takes events of")
	}
	endpoint := rules["endpoint"].Properties
	expect.Equal(t, len(rules), len(chatRules)+1, "the number of rules is")
	for id, want := range map[string]struct{ path, matches, view string }{
		"chat":               {"detail-type", "RolloutHalted", "#/rollout/<id>"},
		"chat-override":      {"override", "yes", "#/log"},
		"chat-near-halt":     {"detail-type", "RolloutNearHalt", "#/rollout/<id>"},
		"chat-approval":      {"detail-type", "RolloutApprovalWaiting", "#/rollout/<id>"},
		"chat-went-bad":      {"detail-type", "RolloutWentBad", "#/rollout/<id>"},
		"chat-support":       {"detail-type", "SupportEnding", "#/now"},
		"chat-support-ended": {"detail-type", "SupportEnded", "#/now"},
		"chat-needs-person":  {"detail-type", "RolloutNeedsPerson", "#/rollout/<id>"},
		"chat-needs-nobody":  {"detail-type", "RolloutNeedsNobody", "#/rollout/<id>"},
		"chat-recall":        {"detail-type", "RecallUnconfirmed", "#/methods/<id>"},
		"chat-deviates":      {"detail-type", "MachineDeviates", "#/log"},
	} {
		chat := rules[id].Properties
		matched := list(value(chat, "EventPattern", want.path))
		if want.path == "override" {
			matched = list(value(chat, "EventPattern", "detail", want.path))
		}
		if len(matched) != 1 || matched[0] != want.matches || text(value(chat, "Targets", 0, "Arn")) != testTopic {
			t.Errorf("the chat gets %v", chat)
		}
		transformer := value(chat, "Targets", 0, "InputTransformer")
		message := value(transformer, "InputTemplate").(string)
		if !json.Valid([]byte(message)) || !strings.Contains(message, "<why>") || !strings.Contains(message, "/console"+want.view) {
			t.Errorf("the chat's message is %s", message)
		}
		for _, name := range regexp.MustCompile(`<(\w+)>`).FindAllStringSubmatch(message, -1) {
			if value(transformer, "InputPathsMap", name[1]) == nil {
				t.Errorf("%s is in the message, and not in %v", name[0], transformer)
			}
		}
	}
	for id, destination := range template.of("AWS::Events::ApiDestination") {
		has(t, destination.Properties, map[string]any{"InvocationRateLimitPerSecond": 40.0}, "%s", id)
	}
	has(t, endpoint, map[string]any{"Targets/0/InputPath": "$.detail", "EventPattern/detail-type": nil}, "the endpoint")
	expect.Equal(t, len(template.of("AWS::Events::ApiDestination")), 1, "the number of endpoints is")
	for _, kind := range []string{"events-undelivered", "events-failing"} {
		theAlarm(t, template.template, kind)
	}
}

func TestEvents_ChatMessage_LinksToThePageOnlyIfItsAddressIsKnown(t *testing.T) {
	for console, want := range map[string]string{
		"": "", "true": "", "https://api.example": "https://api.example/console", "https://x.example/prod": "https://x.example/prod/console",
	} {
		page := consolePage(Settings{Console: console})
		expect.Equal(t, page, want, "%q: the page is at", console)
		for _, rule := range chatRules {
			if message := rule.message(page); strings.Contains(message, "#/") != (want != "") || !json.Valid([]byte(message)) {
				t.Errorf("%q: the message is %s", console, message)
			}
		}
	}
}
