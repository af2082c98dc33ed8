package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// addTopic makes the topic for alarms, or uses the one of the settings. The policy lists who may publish, because it
// replaces the default policy, which admits the account's services.
func (w *watch) addTopic() awssns.ITopic {
	if arn := w.settings.AlarmTopicARN; arn != "" {
		return awssns.Topic_FromTopicArn(w.stack, jsii.String("alarms"), &arn)
	}
	topic := awssns.NewTopic(w.stack, jsii.String("alarms"), &awssns.TopicProps{
		DisplayName: jsii.String(w.name()), EnforceSSL: jsii.Bool(true), MasterKey: w.key,
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("AlarmsOfThisAccount"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": w.stack.Account()}},
	}))
	if w.settings.AlarmEmail != "" {
		awssns.NewSubscription(w.stack, jsii.String("alarm-email"), &awssns.SubscriptionProps{
			Topic: topic, Protocol: awssns.SubscriptionProtocol_EMAIL, Endpoint: jsii.String(w.settings.AlarmEmail),
		})
	}
	w.output("AlarmTopic", "Subscribe here to receive alarms", topic.TopicArn())
	return topic
}
