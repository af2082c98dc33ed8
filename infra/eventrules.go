package main

import (
	"maps"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/fleet/census"
	"wavegate/shared/operations"
	methods "wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// A chatRule is a kind of event that is sent to the chat.
type chatRule struct {
	id, says string
	matches  map[string]any
	// text is the message. It may contain <event>, <type>, <id>, <who> and <why> of the event.
	text string
	// view is the view of the operator's page that the message links to; it may contain <id>.
	view string
}

var chatRules = []chatRule{
	told("chat", "A rollout was halted", "RolloutHalted", "<why> By <who>. Rollout <id>.", "rollout/<id>"),
	{"chat-override", "A caller asked to override a freeze or a closed window", map[string]any{"detail": map[string]any{"override": []any{"yes"}}}, "<why> <event> of <type> <id>, by <who>.", "log"},
	told("chat-near-halt", "A rollout is close to a halt", census.NearHalt, "<why> Rollout <id>.", "rollout/<id>"),
	told("chat-approval", "A rollout waits for an approval", census.ApprovalWaiting, "<why> Rollout <id>.", "rollout/<id>"),
	told("chat-needs-person", "A rollout waits for a person", census.NeedsPerson, "<why> Rollout <id>.", "rollout/<id>"),
	told("chat-needs-nobody", "A rollout no longer waits for a person", census.NeedsNobody, "<why> Rollout <id>.", "rollout/<id>"),
	told("chat-went-bad", "A release that all boxes have seems bad", census.WentBad, "<why> Rollout <id>.", "rollout/<id>"),
	told("chat-deviates", "A machine deviates from its production method", methods.MachineDeviates, "<why> Report <id>.", "log"),
	told("chat-support", "The support of a version ends", census.SupportEnding, "<why>", "now"),
	told("chat-support-ended", "The support of a version has ended", census.SupportEnded, "<why>", "now"),
	told("chat-recall", "A recall is not confirmed", methods.RecallUnconfirmed, "<why> Method <id>.", "methods/<id>"),
}

// told is the rule that sends one kind of event to the chat.
func told(id, says, event, text, view string) chatRule {
	return chatRule{id, says, map[string]any{"detail-type": []any{event}}, text, view}
}

// message has the form of a custom message for Amazon Q Developer in chat applications. page is the address of the
// operator's page; empty: the message has no link.
func (c chatRule) message(page string) string {
	text := c.text
	if page != "" {
		text += " " + page + "#/" + c.view
	}
	return `{"version":"1.0","source":"custom","content":{"textType":"client-markdown","title":"` + c.says + `","description":"` + text + `"}}`
}

// consolePage is the address of the operator's page; empty if there is none, or if it is known only at deploy time.
func consolePage(s Settings) string {
	if !strings.HasPrefix(s.Console, "https://") {
		return ""
	}
	return s.Console + operations.ConsolePath
}

// addRules makes the rules of the settings.
func (p part) addRules(events awsevents.EventBus, queue awssqs.Queue) {
	pattern := map[string]any{"source": []any{audit.NoticeSource(string(p.settings.Stage))}}
	if topic := p.settings.Events.ChatTopicARN; topic != "" {
		for _, rule := range chatRules {
			matches := maps.Clone(pattern)
			maps.Copy(matches, rule.matches)
			p.addRule(events, queue, rule.id, "Tell the chat: "+rule.says, matches, &awsevents.CfnRule_TargetProperty{
				Id: jsii.String(rule.id), Arn: &topic,
				InputTransformer: &awsevents.CfnRule_InputTransformerProperty{
					InputPathsMap: map[string]*string{
						"event": jsii.String("$.detail.eventName"), "type": jsii.String("$.detail.resource.type"), "id": jsii.String("$.detail.resource.id"),
						"who": jsii.String("$.detail.actor.userId"), "why": jsii.String("$.detail.why"),
					},
					InputTemplate: jsii.String(rule.message(consolePage(p.settings))),
				},
			})
		}
	}
	if endpoint := p.settings.Events.Endpoint; endpoint != nil {
		destination := awsevents.NewCfnApiDestination(p.stack, jsii.String("endpoint"), &awsevents.CfnApiDestinationProps{
			ConnectionArn: &endpoint.ConnectionARN, HttpMethod: jsii.String("POST"), InvocationEndpoint: &endpoint.URL,
			InvocationRateLimitPerSecond: jsii.Number(endpoint.Rate),
		})
		statements := []awsiam.PolicyStatement{allow(texts("events:InvokeApiDestination"), destination.AttrArn())}
		role := awsiam.NewRole(p.stack, jsii.String("endpoint-role"), &awsiam.RoleProps{
			Description: jsii.String("What the endpoint's rule may call"),
			AssumedBy:   awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil),
			InlinePolicies: &map[string]awsiam.PolicyDocument{
				"call": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
			},
		})
		// The endpoint gets the event only, as the contract describes it.
		p.addRule(events, queue, "endpoint", "Send every change to the endpoint", pattern, &awsevents.CfnRule_TargetProperty{
			Id: jsii.String("endpoint"), Arn: destination.AttrArn(), RoleArn: role.RoleArn(), InputPath: jsii.String("$.detail"),
		})
	}
}

// addRule makes a rule with one target. Undelivered events go to the queue.
func (p part) addRule(events awsevents.EventBus, queue awssqs.Queue, id, says string, pattern map[string]any, target *awsevents.CfnRule_TargetProperty) {
	target.RetryPolicy = &awsevents.CfnRule_RetryPolicyProperty{
		MaximumEventAgeInSeconds: jsii.Number(eventAge), MaximumRetryAttempts: jsii.Number(eventRetries),
	}
	target.DeadLetterConfig = &awsevents.CfnRule_DeadLetterConfigProperty{Arn: queue.QueueArn()}
	rule := awsevents.NewCfnRule(p.stack, jsii.String("rule-"+id), &awsevents.CfnRuleProps{
		Name: jsii.String(p.function(id)), Description: &says, EventBusName: events.EventBusName(),
		EventPattern: pattern, Targets: &[]any{target},
	})
	queue.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sqs:SendMessage"), Resources: &[]*string{queue.QueueArn()},
		Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": rule.AttrArn()}},
	}))
}

// eventAlarms watch undelivered events. They find the pipe and the queue by name.
func (w *watch) eventAlarms() []alarm {
	if !w.settings.Events.On {
		return nil
	}
	queue := source{"AWS/SQS", map[string]*string{"QueueName": jsii.String(w.function(queueName))}}
	pipe := source{"AWS/EventBridge/Pipes", map[string]*string{"PipeName": jsii.String(w.pipeName())}}
	return []alarm{
		{
			kind: "events-undelivered", says: "Events could not be delivered, and are in the queue of undelivered events.",
			metric: queue.metric("ApproximateNumberOfMessagesVisible", maximum, ""), threshold: 1, minutes: 1, of: 1,
		},
		{
			kind: "events-failing", says: "The pipe of audit events fails, and retries.",
			metric: pipe.metric("ExecutionFailed", sum, ""), threshold: 1, minutes: 10, of: 15,
		},
	}
}
