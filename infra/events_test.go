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
		if !ok {
			t.Errorf("%s is %v", variable, v)
		}
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
	item, err := dynamo.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	image := value(streamed(&types.AttributeValueMemberM{Value: item}), "M")
	for _, pipe := range full().of("AWS::Pipes::Pipe") {
		target := pipe.Properties["TargetParameters"]
		inserted := map[string]any{"eventName": "INSERT", "dynamodb": map[string]any{"NewImage": image}}
		var got, want any
		if err := json.Unmarshal([]byte(rendered(t, value(target, "InputTemplate").(string), inserted)), &got); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(record.Notice())
		if err == nil {
			err = json.Unmarshal(b, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		if g, _ := json.Marshal(got); string(g) != string(must(json.Marshal(want))) {
			t.Errorf("the pipe says %s\nthe package %s", g, b)
		}
		document, err := openapi3.NewLoader().LoadFromData(contract.Document)
		if err != nil {
			t.Fatal(err)
		}
		if err := document.Webhooks["audit-event"].Post.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(got); err != nil {
			t.Errorf("the contract says otherwise: %v", err)
		}
		parameters := value(target, "EventBridgeEventBusParameters")
		if value(parameters, "Source") != "wavegate.prod" || value(parameters, "DetailType") != "$.dynamodb.NewImage.eventName.S" {
			t.Errorf("it is sent as %v", parameters)
		}
		for _, secret := range []string{"before", "after", "sourceIp"} {
			if strings.Contains(value(target, "InputTemplate").(string), secret) {
				t.Errorf("it reveals %s", secret)
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
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
		source := value(pipe.Properties, "SourceParameters", "DynamoDBStreamParameters")
		if text(pipe.Properties["Source"]) != "${"+table+".StreamArn}" || text(value(source, "DeadLetterConfig", "Arn")) != "${"+queue+".Arn}" {
			t.Errorf("it reads %v and sends undelivered events to %v", pipe.Properties["Source"], value(source, "DeadLetterConfig"))
		}
		if value(source, "MaximumRetryAttempts") != 20.0 || value(source, "MaximumRecordAgeInSeconds") != 14400.0 || value(source, "StartingPosition") != "TRIM_HORIZON" {
			t.Errorf("it tries %v", source)
		}
		if got := value(pipe.Properties, "SourceParameters", "FilterCriteria", "Filters", 0, "Pattern"); got != `{"eventName":["INSERT"]}` {
			t.Errorf("it takes %v", got)
		}
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
		if text(value(target, "DeadLetterConfig", "Arn")) != queue || value(target, "RetryPolicy", "MaximumRetryAttempts") != 20.0 || value(target, "RetryPolicy", "MaximumEventAgeInSeconds") != 14400.0 {
			t.Errorf("it is tried %v", target)
		}
		if got := list(value(r.Properties, "EventPattern", "source")); len(got) != 1 || got[0] != "wavegate.prod" {
			t.Errorf("it takes events of %v", got)
		}
	}
	endpoint := rules["endpoint"].Properties
	if len(rules) != len(chatRules)+1 {
		t.Errorf("there are %d rules", len(rules))
	}
	for id, want := range map[string]struct{ path, matches, view string }{
		"chat":           {"detail-type", "RolloutHalted", "#/rollout/<id>"},
		"chat-override":  {"override", "yes", "#/log"},
		"chat-near-halt": {"detail-type", "RolloutNearHalt", "#/rollout/<id>"},
		"chat-approval":  {"detail-type", "RolloutApprovalWaiting", "#/rollout/<id>"},
		"chat-went-bad":  {"detail-type", "RolloutWentBad", "#/rollout/<id>"},
		"chat-recall":    {"detail-type", "RecallUnconfirmed", "#/methods/<id>"},
		"chat-deviates":  {"detail-type", "MachineDeviates", "#/log"},
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
		if got := destination.Properties["InvocationRateLimitPerSecond"]; got != 40.0 {
			t.Errorf("%s is sent %v requests a second", id, got)
		}
	}
	if value(endpoint, "Targets", 0, "InputPath") != "$.detail" || value(endpoint, "EventPattern", "detail-type") != nil || len(template.of("AWS::Events::ApiDestination")) != 1 {
		t.Errorf("the endpoint gets %v", endpoint)
	}
	for _, kind := range []string{"events-undelivered", "events-failing"} {
		theAlarm(t, template.template, kind)
	}
}

func TestSettings_Events_ThatCannotBe_AreRefused(t *testing.T) {
	for want, context := range map[string]map[string]any{
		"they need events=true":                       {"eventsChatTopicArn": testTopic},
		"must be an https URL":                        {"events": "true", "eventsEndpoint": `{"url":"http://x.example","connectionArn":"` + testConnection + `"}`},
		"the rate is 301":                             {"events": "true", "eventsEndpoint": `{"url":"https://x.example","connectionArn":"` + testConnection + `","rate":301}`},
		"is not the ARN of an EventBridge connection": {"events": "true", "eventsEndpoint": `{"url":"https://x.example","connectionArn":"arn:x"}`},
		"eventsChatTopicArn: \"chat\" is":             {"events": "true", "eventsChatTopicArn": "chat"},
	} {
		if _, err := ReadSettings(context); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestEvents_ChatMessage_LinksToThePageOnlyIfItsAddressIsKnown(t *testing.T) {
	for console, want := range map[string]string{
		"": "", "true": "", "https://api.example": "https://api.example/console", "https://x.example/prod": "https://x.example/prod/console",
	} {
		page := consolePage(Settings{Console: console})
		if page != want {
			t.Errorf("%q: the page is at %q, want %q", console, page, want)
		}
		for _, rule := range chatRules {
			if message := rule.message(page); strings.Contains(message, "#/") != (want != "") || !json.Valid([]byte(message)) {
				t.Errorf("%q: the message is %s", console, message)
			}
		}
	}
}
