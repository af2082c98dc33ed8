package main

import "fmt"

// What a year of a box is made of.
const (
	year         = 365 * 24 * 3600.0
	idle, active = 300.0, 60.0 // the default poll intervals in seconds
	releases     = 12.0
	rolloutTime  = 24 * 3600.0 // how long a rollout is active
)

// List prices in US dollars without any free tier. A poll is that of ./scripts/benchmarks/run cost with the answer 304, in
// eu-central-1. Those of AWS IoT are from the examples on aws.amazon.com/iot-core/pricing (Europe, Ireland) and
// aws.amazon.com/iot-device-management/pricing, as they stood on 2026-09-20.
const (
	poll             = 5.39 / 1e6
	readUnit         = 0.1525 / 1e6
	writeUnit        = 0.7625 / 1e6
	connectedMinute  = 0.08 / 1e6
	message          = 1.00 / 1e6
	gigabyteMonth    = 0.306 // stored in DynamoDB
	counterBytes     = 255   // of a box that polls once a minute; see ./scripts/benchmarks/run ratelimit
	remoteAction     = 0.003 // of IoT Jobs, the first 250,000 a month
	messagesOfUpdate = 6     // the job is told, asked for, and answered; under way, and done, each acknowledged
)

// perYear prints what a box costs a year.
func perYear() {
	often := releases * rolloutTime / active
	seldom := (year - releases*rolloutTime) / idle
	reports := releases * (6*writeUnit + 2*readUnit)
	fmt.Printf("\n## Dollars for a box and a year\n\n"+
		"At the default intervals with %.0f releases a year, each rolled out for a day. List prices of November 2026 for polls, and\n"+
		"of 2026-09-20 for AWS IoT (aws.amazon.com/iot-core/pricing, aws.amazon.com/iot-device-management/pricing: 0.08 for a\n"+
		"million minutes of connection, 1.00 for a million messages, 0.003 for a remote action).\n\n"+
		"| | dollars |\n|---|---:|\n", releases)
	line := func(name string, dollars float64) { fmt.Printf("| %s | %.6f |\n", name, dollars) }
	line(fmt.Sprintf("%.0f polls, every %.0f s in a rollout and every %.0f s otherwise", often+seldom, active, idle), (often+seldom)*poll)
	line(fmt.Sprintf("the same with a poll every %.0f s all year, as before", active), year/active*poll)
	line("reports: 6 write units and 2 read units a release", reports)
	line(fmt.Sprintf("last seen: a counter of %d bytes and its overhead, kept for 35 days", counterBytes), 12*(counterBytes+100)*gigabyteMonth/1e9)
	line("AWS IoT Core: connected all year", year/60*connectedMinute)
	line(fmt.Sprintf("AWS IoT Jobs: a remote action and %d messages a release", messagesOfUpdate), releases*(remoteAction+messagesOfUpdate*message))
}
