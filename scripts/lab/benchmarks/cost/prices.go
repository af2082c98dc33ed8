package main

// List prices in US dollars for eu-central-1 without any free tier or discount. They have not been checked against
// the public pages, aws.amazon.com/{lambda,api-gateway,dynamodb,cloudwatch,xray}/pricing and
// aws.amazon.com/ec2/pricing/on-demand (traffic), for this release.
const (
	lambdaRequests = 0.20         // a million invocations
	lambdaGBSecond = 0.0000133334 // arm64
	gatewayCalls   = 3.70         // a million calls of a REST API, without its cache
	readUnits      = 0.1525       // a million on-demand read units
	writeUnits     = 0.7625       // a million on-demand write units
	logsGB         = 0.63         // a GB that CloudWatch Logs ingests
	traces         = 5.00         // a million traces that X-Ray records
	transferGB     = 0.09         // a GB sent to the internet
	storedGB       = 0.306        // a GB that DynamoDB stores for a month
	backedUpGB     = 0.2448       // a GB with backups for a restore to any second
	alarmMetric    = 0.10         // a metric that an alarm looks at, for a month
	writtenMetric  = 0.30         // a metric of the service's own that was written, for a month
)

// What no measurement on one machine can give.
const (
	// roundTripMS is how long DynamoDB takes to answer within its region, as a rule.
	roundTripMS = 4.0
	// fullCPU is the memory in MB at which a function has one whole processor; it has less with less.
	fullCPU = 1769.0
	// accessLog is the size of the gateway's line on a call in bytes, with the variables filled in, and
	// platformLog that of Lambda's own lines on it (start and report, as JSON).
	accessLog   = 610.0
	platformLog = 760.0
	// traced is the share of polls that the stage's own rules sample: infra/traces.go.
	traced = 0.001
	// alarmMetrics is how many metrics the alarms of prod look at. A test of infra counts them.
	alarmMetrics = 71
	// writtenMetrics is an estimate of the number of own metrics that a healthy deployment writes: VerdictAge, ProgressAge,
	// Calls, Waits, Refusals, ColdStarts, TokenRefusals and GatewayThrottled. A fault adds its own while it lasts.
	// A dashboard with at most 50 metrics costs nothing.
	writtenMetrics = 8
)
