package main

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awspipes"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/trail/audit"
)

// Events configures the event bus and its receivers.
type Events struct {
	// On makes the event bus.
	On bool
	// ChatTopicARN is a chat's topic; it gets the events that chatRules match. If it is empty, no chat gets any.
	ChatTopicARN string
	// Endpoint gets every event over HTTP. If it is nil, there is no endpoint.
	Endpoint *Endpoint
}

// An Endpoint is a third party's HTTP endpoint.
type Endpoint struct {
	URL string `json:"url"`
	// ConnectionARN is an EventBridge connection, which contains the endpoint's credentials.
	ConnectionARN string `json:"connectionArn"`
	// Rate is the maximum of requests a second. Events beyond that wait, for four hours at most.
	Rate int `json:"rate"`
}

// The default and the highest rate of an endpoint. EventBridge sends 300 a second in all unless its quota is raised.
const endpointRate, mostEndpointRate = 10, 300

var connectionARN = regexp.MustCompile(`^arn:aws[a-z-]*:events:([a-z0-9-]+):[0-9]{12}:connection/[A-Za-z0-9._-]+/[a-f0-9-]+$`)

func readEvents(r *reader) Events {
	e := Events{On: r.flag("events", false), ChatTopicARN: r.text("eventsChatTopicArn", "")}
	r.structured("eventsEndpoint", &e.Endpoint)
	if e.Endpoint != nil && e.Endpoint.Rate == 0 {
		e.Endpoint.Rate = endpointRate
	}
	return e
}

func (e Events) check(r *reader, s Settings) {
	if !e.On && (e.ChatTopicARN != "" || e.Endpoint != nil) {
		r.fault("eventsChatTopicArn, eventsEndpoint: they need events=true")
	}
	s.checkARN(r, "eventsChatTopicArn", e.ChatTopicARN, topicARN, "an SNS topic")
	if e.Endpoint == nil {
		return
	}
	if !absolute(e.Endpoint.URL, "https") {
		r.fault("eventsEndpoint: %q must be an https URL with only scheme, host and path", e.Endpoint.URL)
	}
	s.checkARN(r, "eventsEndpoint", e.Endpoint.ConnectionARN, connectionARN, "an EventBridge connection")
	if e.Endpoint.Rate < 1 || e.Endpoint.Rate > mostEndpointRate {
		r.fault("eventsEndpoint: the rate is %d; give 1 to %d requests a second", e.Endpoint.Rate, mostEndpointRate)
	}
}

const (
	// The pipe and the rules retry delivery for this long, and this often, before an event goes to the queue of
	// undelivered events. The table's stream itself keeps events for a day.
	eventAge     = 4 * 60 * 60
	eventRetries = 20
	queueName    = "undelivered"
	busName      = "events"
)

// noticeTemplate turns a new item of the audit table into an audit.Notice, which is in the contract.
var noticeTemplate = func() string {
	field := func(path ...string) string {
		return `"<$.dynamodb.NewImage.` + strings.Join(path, ".M.") + `>"`
	}
	return `{"eventId":` + field("eventId.S") + `,"eventTime":` + field("eventTime.S") + `,"eventName":` + field("eventName.S") +
		`,"actor":{"issuer":` + field("actor", "issuer.S") + `,"userId":` + field("actor", "userId.S") + `}` +
		`,"requestId":` + field("requestId.S") + `,"why":` + field("why.S") + `,"override":` + field("override.S") +
		`,"resource":{"type":` + field("resource", "type.S") + `,"id":` + field("resource", "id.S") + `,"revision":` + field("resource", "revision.N") + `}}`
}()

// addEvents makes the bus, the pipe that sends the audit table's events to it, and the rules of the settings. They have
// their own stack, so that receivers can change without a deploy of the service, and a fault there stops no call.
func addEvents(p part, stream *string) {
	queue := awssqs.NewQueue(p.stack, jsii.String("undelivered"), &awssqs.QueueProps{
		QueueName: jsii.String(p.function(queueName)), EnforceSSL: jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)), EncryptionMasterKey: p.key, RemovalPolicy: p.removal(),
	})
	excuse(queue, "AwsSolutions-SQS3", "It is itself the queue of undelivered events.")
	events := awsevents.NewEventBus(p.stack, jsii.String("bus"), &awsevents.EventBusProps{
		EventBusName: jsii.String(p.function(busName)), Description: jsii.String("Every change, as the contract's audit-event"), KmsKey: p.key,
	})
	p.addPipe(events, queue, stream)
	p.addRules(events, queue)
	p.output("EventBus", "The bus: rules on it get every change", events.EventBusArn())
}

// pipeName is the pipe's name. A restored audit table has a new stream, and for another stream CloudFormation must make a
// new pipe, which cannot have the old one's name.
func (p part) pipeName() string {
	name := string(dynamo.Audit)
	if table := p.settings.RestoredTables[dynamo.Audit]; table != "" {
		name += fmt.Sprintf("-%x", sha256.Sum256([]byte(table)))[:9]
	}
	return p.function(name)
}

func (p part) addPipe(events awsevents.EventBus, queue awssqs.Queue, stream *string) {
	statements := []awsiam.PolicyStatement{
		allow(texts("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"), stream),
		allow(texts("events:PutEvents"), events.EventBusArn()),
		allow(texts("sqs:SendMessage"), queue.QueueArn()),
	}
	if p.settings.KMSKeyARN != "" {
		for _, service := range []string{"dynamodb", "events", "sqs"} {
			statements = append(statements, p.useOfKey(service, "kms:Decrypt", "kms:GenerateDataKey"))
		}
	}
	role := awsiam.NewRole(p.stack, jsii.String("pipe-role"), &awsiam.RoleProps{
		Description: jsii.String("What the pipe of audit events may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("pipes.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"pipe": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	awspipes.NewCfnPipe(p.stack, jsii.String("pipe"), &awspipes.CfnPipeProps{
		Name: jsii.String(p.pipeName()), RoleArn: role.RoleArn(), Source: stream, Target: events.EventBusArn(),
		SourceParameters: &awspipes.CfnPipe_PipeSourceParametersProperty{
			DynamoDbStreamParameters: &awspipes.CfnPipe_PipeSourceDynamoDBStreamParametersProperty{
				// A new pipe sends the last day again instead of leaving a gap.
				StartingPosition: jsii.String("TRIM_HORIZON"), BatchSize: jsii.Number(10),
				MaximumRetryAttempts: jsii.Number(eventRetries), MaximumRecordAgeInSeconds: jsii.Number(eventAge),
				OnPartialBatchItemFailure: jsii.String("AUTOMATIC_BISECT"),
				DeadLetterConfig:          &awspipes.CfnPipe_DeadLetterConfigProperty{Arn: queue.QueueArn()},
			},
			FilterCriteria: &awspipes.CfnPipe_FilterCriteriaProperty{
				Filters: &[]any{&awspipes.CfnPipe_FilterProperty{Pattern: jsii.String(`{"eventName":["INSERT"]}`)}},
			},
		},
		TargetParameters: &awspipes.CfnPipe_PipeTargetParametersProperty{
			InputTemplate: &noticeTemplate,
			EventBridgeEventBusParameters: &awspipes.CfnPipe_PipeTargetEventBridgeEventBusParametersProperty{
				Source: jsii.String(audit.NoticeSource(string(p.settings.Stage))), DetailType: jsii.String("$.dynamodb.NewImage.eventName.S"),
				Time: jsii.String("$.dynamodb.NewImage.eventTime.S"),
			},
		},
	})
}
