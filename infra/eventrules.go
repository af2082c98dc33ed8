package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/trail/audit"
)

// chatMessage is the form that Amazon Q Developer in chat applications takes for messages of one's own.
const chatMessage = `{"version":"1.0","source":"custom","content":{"textType":"client-markdown",` +
	`"title":"A rollout was halted","description":"Rollout <id>, by <who>. The trail says why."}}`

// addRules makes the rules of the settings. They are examples, too: a rule of your own has the same form.
func (p part) addRules(events awsevents.EventBus, queue awssqs.Queue) {
	pattern := map[string]any{"source": []any{audit.NoticeSource(string(p.settings.Stage))}}
	if topic := p.settings.Events.ChatTopicARN; topic != "" {
		halted := map[string]any{"detail-type": []any{"RolloutHalted"}}
		for key, value := range pattern {
			halted[key] = value
		}
		p.addRule(events, queue, "chat", "Tell the chat that a rollout was halted", halted, &awsevents.CfnRule_TargetProperty{
			Id: jsii.String("chat"), Arn: &topic,
			InputTransformer: &awsevents.CfnRule_InputTransformerProperty{
				InputPathsMap: map[string]*string{"id": jsii.String("$.detail.resource.id"), "who": jsii.String("$.detail.actor.userId")},
				InputTemplate: jsii.String(chatMessage),
			},
		})
	}
	if endpoint := p.settings.Events.Endpoint; endpoint != nil {
		destination := awsevents.NewCfnApiDestination(p.stack, jsii.String("endpoint"), &awsevents.CfnApiDestinationProps{
			ConnectionArn: &endpoint.ConnectionARN, HttpMethod: jsii.String("POST"), InvocationEndpoint: &endpoint.URL,
			InvocationRateLimitPerSecond: jsii.Number(10),
		})
		statements := []awsiam.PolicyStatement{allow(texts("events:InvokeApiDestination"), destination.AttrArn())}
		role := awsiam.NewRole(p.stack, jsii.String("endpoint-role"), &awsiam.RoleProps{
			Description: jsii.String("What the rule of the endpoint may call"),
			AssumedBy:   awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil),
			InlinePolicies: &map[string]awsiam.PolicyDocument{
				"call": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
			},
		})
		// The endpoint gets the event alone, which is what the contract describes.
		p.addRule(events, queue, "endpoint", "Send every change to the endpoint", pattern, &awsevents.CfnRule_TargetProperty{
			Id: jsii.String("endpoint"), Arn: destination.AttrArn(), RoleArn: role.RoleArn(), InputPath: jsii.String("$.detail"),
		})
	}
}

// addRule makes a rule with one target. What it cannot deliver goes to the queue.
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

// eventAlarms watch what was not delivered. The pipe and the queue are known by their names.
func (w *watch) eventAlarms() []alarm {
	if !w.settings.Events.On {
		return nil
	}
	queue := source{"AWS/SQS", map[string]*string{"QueueName": jsii.String(w.function(queueName))}}
	pipe := source{"AWS/EventBridge/Pipes", map[string]*string{"PipeName": jsii.String(w.function(pipeName))}}
	return []alarm{
		{
			kind: "events-undelivered", says: "Events of changes were given up, and lie in the queue of what was not delivered.",
			metric: queue.metric("ApproximateNumberOfMessagesVisible", maximum, ""), threshold: 1, minutes: 1, of: 1,
		},
		{
			kind: "events-failing", says: "The pipe of audit events fails, and tries again.",
			metric: pipe.metric("ExecutionFailed", sum, ""), threshold: 1, minutes: 10, of: 15,
		},
	}
}
