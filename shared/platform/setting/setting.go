// Package setting lists the settings of functions, which are environment variables, and reads
// them.
//
// Each row of the table of operations names the settings of its function. The stack and the
// local service give a function only these. If a function reads any other setting, it fails at
// its start.
package setting

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// A Name is the name of a setting: a variable of a function's environment.
type Name string

// These settings are read by operations. Ranges has the range and the default of each whole number.
const (
	// LimitUser and the next three are the default fair-use limits, in requests in any 60 s: for
	// one user, for all people of one organization, and for the copilot calls of each.
	LimitUser                Name = "LIMIT_USER"
	LimitOrganization        Name = "LIMIT_ORGANIZATION"
	LimitCopilotUser         Name = "LIMIT_COPILOT_USER"
	LimitCopilotOrganization Name = "LIMIT_COPILOT_ORGANIZATION"
	// LimitBoxes is the default limit of all boxes of one organization together.
	LimitBoxes Name = "LIMIT_BOXES"
	// LimitDeadlineMS is how long a call may wait for the limiter, in milliseconds. A call that
	// must first connect to the store may wait a second. Only a machine that is much slower than
	// AWS needs another value than the default.
	LimitDeadlineMS Name = "LIMIT_DEADLINE_MS"

	// CORSOrigins are the origins whose pages may read answers, separated by commas, such as
	// https://app.example. Empty means none.
	CORSOrigins Name = "CORS_ORIGINS"

	// LogSamplePolls is n if one of n successful polls is logged. Failures and refusals are
	// always logged.
	LogSamplePolls Name = "LOG_SAMPLE_POLLS"
	// PollIntervalSeconds is the time between a box's polls on the first day of a stage that has reached it, and for a few
	// minutes after any other change of the channel.
	PollIntervalSeconds Name = "POLL_INTERVAL_SECONDS"
	// IdlePollIntervalSeconds is the time between a box's polls otherwise.
	IdlePollIntervalSeconds Name = "IDLE_POLL_INTERVAL_SECONDS"
	// ChannelCacheSeconds is how long a container may cache a channel's row. More than 2 would
	// break the promise that a halt reaches every poll within 2 s.
	ChannelCacheSeconds Name = "CHANNEL_CACHE_SECONDS"
	// SettleSeconds is how long a change to what boxes are told waits before it is answered: the longest time for which any
	// container may have cached what was there before. With 0, nothing waits, as in most tests.
	SettleSeconds Name = "SETTLE_SECONDS"
	// ReportShards is the number of index partitions over which a channel's boxes are spread.
	// Stored keys depend on it, so all functions must use the same number, and it must never
	// become smaller. The embedded store has one, because it reads every row for each partition.
	ReportShards Name = "REPORT_SHARDS"

	// BellURL is the base URL of the bell. If it is empty, the deployment has no bell.
	BellURL Name = "BELL_URL"
	// BellSecretID is the name or ARN of a secret in Secrets Manager that makes the bell's addresses. The previous
	// value stays valid too.
	BellSecretID Name = "BELL_SECRET_ID"
	// BellSecret is that secret itself, for local runs.
	BellSecret Name = "BELL_SECRET"
	// HeartbeatSeconds is the time between the polls of a box that listens to the bell, while the bell is silent. A
	// change that did not ring the bell reaches the box within this time.
	HeartbeatSeconds Name = "HEARTBEAT_SECONDS"

	// DoorURL is the base URL of the door, of which boxes with a token of their own are told. If it is empty, they are told of
	// none; the door itself knows its URL from its calls.
	DoorURL Name = "DOOR_URL"
	// APIURL is the API's base URL, to which the door refers callers that it does not take. It may be empty.
	APIURL Name = "API_URL"

	// DDITenants are the tenants of organizations in the paths of DDI clients; see boxauth.Tenants.
	DDITenants Name = "DDI_TENANTS"
	// ForeignTokens is "true" if the calls of DDI clients may have tokens of another form; see boxauth.Foreign.
	ForeignTokens Name = "FOREIGN_TOKENS"

	// GuardIntervalSeconds is the time between two ticks. A tick counts the active rollouts, and the guard judges them.
	// The stack runs it once a minute. A local run uses a shorter time, to show in a minute what takes an hour.
	GuardIntervalSeconds Name = "GUARD_INTERVAL_SECONDS"

	// EdgesPerOrganization is how many boxes an organization may have, and RegistrationsPerDay how many one installer may
	// register on one day, in UTC.
	EdgesPerOrganization Name = "EDGES_PER_ORGANIZATION"
	RegistrationsPerDay  Name = "REGISTRATIONS_PER_DAY"

	// ArtifactStoreURL is the URL of the bucket with the artifacts' bytes, and ArtifactURL is where boxes download them: https
	// URLs without a path's end, or http on loopback. Without both, the service keeps no artifacts.
	ArtifactStoreURL Name = "ARTIFACT_STORE_URL"
	ArtifactURL      Name = "ARTIFACT_URL"

	// LoginOrigin is the origin at which the operator's page exchanges codes and refresh tokens, such
	// as https://login.example.com. If it is empty, nobody can sign in there.
	LoginOrigin Name = "LOGIN_ORIGIN"

	// FleetIssuers are the issuers that grant the role edge, separated by spaces, in the order
	// of the authorizer's setting. A box whose registration names no issuer has the first one.
	FleetIssuers Name = "FLEET_ISSUERS"
	// CopilotURL is the URL of the assistant to which the copilot forwards calls: an absolute https
	// URL, or http on loopback. Empty means none.
	CopilotURL Name = "COPILOT_URL"
	// CopilotSecretID is the name or ARN of a secret in Secrets Manager. The assistant recognises
	// the service by that secret. With a URL, either this or CopilotSecret is required.
	CopilotSecretID Name = "COPILOT_SECRET_ID"
	// CopilotSecret is that secret itself, for local runs.
	CopilotSecret Name = "COPILOT_SECRET"
	// CopilotTimeoutSeconds is how long the assistant may take to answer. API Gateway waits for
	// 29 s.
	CopilotTimeoutSeconds Name = "COPILOT_TIMEOUT_SECONDS"

	// SignatureMaxAgeSeconds is how long ago a person may have signed in who approves; 0: whenever. See auth.Fresh.
	SignatureMaxAgeSeconds Name = "SIGNATURE_MAX_AGE_SECONDS"
)

// HighestLimit is the highest limit that can be set. An item takes about 1,000 writes a second
// before DynamoDB throttles its partition. Beyond 30,000 requests a minute, a subject's count
// would need several items.
const HighestLimit = 30_000

// HighestBoxLimit is the highest limit of all boxes of an organization. Containers count most of their calls themselves.
const HighestBoxLimit = 10_000_000

// A Range is the range and the default of a whole number.
type Range struct{ Default, Least, Most int }

// Ranges lists the settings that are whole numbers. The specification sets the defaults of a
// user.
var Ranges = map[Name]Range{
	LimitUser:                {600, 1, HighestLimit},
	LimitOrganization:        {6000, 1, HighestLimit},
	LimitCopilotUser:         {30, 1, HighestLimit},
	LimitCopilotOrganization: {300, 1, HighestLimit},
	LimitBoxes:               {600_000, 1, HighestBoxLimit},
	LimitDeadlineMS:          {100, 1, 5000},
	LogSamplePolls:           {100, 1, 1_000_000},
	PollIntervalSeconds:      {60, 1, 86_400},
	IdlePollIntervalSeconds:  {300, 1, 86_400},
	HeartbeatSeconds:         {21_600, 60, 86_400},
	ReportShards:             {32, 1, 128},
	GuardIntervalSeconds:     {60, 1, 60},
	ChannelCacheSeconds:      {2, 0, 2},
	SettleSeconds:            {0, 0, 2},
	CopilotTimeoutSeconds:    {25, 1, 27},
	SignatureMaxAgeSeconds:   {0, 0, 86_400},
	EdgesPerOrganization:     {200_000, 1, 10_000_000},
	RegistrationsPerDay:      {5_000, 1, 10_000_000},
}

// Limits are the limiter's settings. The function of every operation reads them.
var Limits = []Name{LimitUser, LimitOrganization, LimitCopilotUser, LimitCopilotOrganization, LimitBoxes, LimitDeadlineMS}

// Assign is the environment variable with a value, for programs that start a function.
func (n Name) Assign(value int) string { return string(n) + "=" + strconv.Itoa(value) }

// Values reads settings and collects faults. A function must not start if Err returns an
// error, because it would not do what the settings say.
type Values struct {
	get    func(string) string
	named  []Name
	faults []error
}

// NewValues makes a reader of the environment for the named settings.
func NewValues(named ...Name) *Values { return &Values{get: os.Getenv, named: named} }

// Text returns a setting; empty if it is not set.
func (r *Values) Text(name Name) string {
	if !slices.Contains(r.named, name) {
		r.Fault("%s is read, but the function's row does not name it", name)
		return ""
	}
	return r.get(string(name))
}

// Number returns a whole number, or the default if the setting is missing or invalid.
func (r *Values) Number(name Name) int {
	rule, ok := Ranges[name]
	if !ok {
		panic("setting: " + string(name) + " is not a number")
	}
	text := r.Text(name)
	if text == "" {
		return rule.Default
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < rule.Least || n > rule.Most {
		r.Fault("%s is %q, not a whole number from %d to %d", name, text, rule.Least, rule.Most)
		return rule.Default
	}
	return n
}

// Fault adds a fault that the check of a single setting does not find.
func (r *Values) Fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// Err reports all faults at once.
func (r *Values) Err() error { return errors.Join(r.faults...) }
