// Package setting lists the settings of functions, variables of their environment, and reads them.
//
// Each row of the table of operations names the settings that its function reads. The stack and the local
// service hand a function just those, so that a setting which is read and not named is found at the
// function's start.
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

// The settings that operations read. Whole numbers have their range and default in Numbers.
const (
	// LimitUser and the next three are the default fair-use limits, in requests in any 60 s: of one
	// user, of the people of one organization together, and of the copilot calls of each.
	LimitUser                Name = "LIMIT_USER"
	LimitOrganization        Name = "LIMIT_ORGANIZATION"
	LimitCopilotUser         Name = "LIMIT_COPILOT_USER"
	LimitCopilotOrganization Name = "LIMIT_COPILOT_ORGANIZATION"
	// LimitDeadlineMS is how long a call may wait for the limiter, in milliseconds; a second where a
	// connection to the store has to be made. Only a machine that is far slower than AWS needs another than
	// the default.
	LimitDeadlineMS Name = "LIMIT_DEADLINE_MS"

	// CORSOrigins are the origins whose pages may read answers, separated by commas, such as
	// https://app.example; empty: none.
	CORSOrigins Name = "CORS_ORIGINS"

	// LogSamplePolls is how many polls are logged: one success in so many. What fails and what is
	// refused is always logged.
	LogSamplePolls Name = "LOG_SAMPLE_POLLS"
	// PollIntervalSeconds is how often a box is told to poll while something goes on on its channel.
	PollIntervalSeconds Name = "POLL_INTERVAL_SECONDS"
	// IdlePollIntervalSeconds is how often it is told to poll while nothing does.
	IdlePollIntervalSeconds Name = "IDLE_POLL_INTERVAL_SECONDS"
	// ChannelCacheSeconds is how long a container may answer from a channel's row that it has read. More
	// than 2 would break the promise that a halt reaches every poll within 2 s.
	ChannelCacheSeconds Name = "CHANNEL_CACHE_SECONDS"
	// ReportShards is over how many partitions of an index the boxes of a channel are spread. It is part of
	// what is stored: all functions have the same, and it never becomes less. Only the embedded store, which
	// looks at every row for each partition, has another than the default.
	ReportShards Name = "REPORT_SHARDS"

	// GuardIntervalSeconds is how often the tick comes that counts the active rollouts and has the guard judge them. The
	// stack's schedule comes once a minute. A local run sets less, to see in a minute what takes an hour.
	GuardIntervalSeconds Name = "GUARD_INTERVAL_SECONDS"

	// LoginOrigin is the origin at which the operator's page exchanges codes and refresh tokens, such as
	// https://login.example.com; empty: nobody can sign in there.
	LoginOrigin Name = "LOGIN_ORIGIN"

	// FleetIssuers are the issuers of tokens that grant the role edge, separated by spaces, in the order of
	// the authorizer's setting. The first is that of boxes that name none.
	FleetIssuers Name = "FLEET_ISSUERS"
	// CopilotURL is the upstream of the copilot, an absolute https URL (http on loopback); empty: none.
	CopilotURL Name = "COPILOT_URL"
	// CopilotSecretID is the name or the ARN of the Secrets Manager secret that the upstream knows the
	// service by. It, or CopilotSecret, is required with a URL.
	CopilotSecretID Name = "COPILOT_SECRET_ID"
	// CopilotSecret is that secret itself, for local runs.
	CopilotSecret Name = "COPILOT_SECRET"
	// CopilotTimeoutSeconds is how long the upstream may take to answer; the gateway waits for 29 s.
	CopilotTimeoutSeconds Name = "COPILOT_TIMEOUT_SECONDS"
)

// HighestLimit is the highest limit that a subject can have. One item takes about 1,000 writes a second
// before DynamoDB throttles its partition; beyond 30,000 requests a minute a subject's count would
// have to be spread over several items.
const HighestLimit = 30_000

// A Number is the range and the default of a whole number.
type Number struct{ Default, Least, Most int }

// Numbers lists the settings that are whole numbers. The specification names the defaults of a user.
var Numbers = map[Name]Number{
	LimitUser:                {600, 1, HighestLimit},
	LimitOrganization:        {6000, 1, HighestLimit},
	LimitCopilotUser:         {30, 1, HighestLimit},
	LimitCopilotOrganization: {300, 1, HighestLimit},
	LimitDeadlineMS:          {100, 1, 5000},
	LogSamplePolls:           {100, 1, 1_000_000},
	PollIntervalSeconds:      {60, 1, 86_400},
	IdlePollIntervalSeconds:  {300, 1, 86_400},
	ReportShards:             {32, 1, 32},
	GuardIntervalSeconds:     {60, 1, 60},
	ChannelCacheSeconds:      {2, 0, 2},
	CopilotTimeoutSeconds:    {25, 1, 27},
}

// Limits are the settings of the limiter, which every function of an operation reads.
var Limits = []Name{LimitUser, LimitOrganization, LimitCopilotUser, LimitCopilotOrganization, LimitDeadlineMS}

// Assign is the variable that sets a whole number, for what starts a function.
func (n Name) Assign(value int) string { return string(n) + "=" + strconv.Itoa(value) }

// A Reader reads settings and collects what is wrong with them. A function must not start when Err
// returns an error: it would do something else than it was told.
type Reader struct {
	get    func(string) string
	named  []Name
	faults []error
}

// NewReader makes a reader of the environment, for the settings that are named.
func NewReader(named ...Name) *Reader { return &Reader{get: os.Getenv, named: named} }

// Text returns a setting; empty where it is not set.
func (r *Reader) Text(name Name) string {
	if !slices.Contains(r.named, name) {
		r.Fault("%s is read, and the function's row does not name it", name)
		return ""
	}
	return r.get(string(name))
}

// Number returns a whole number; the default where it is not set or wrong.
func (r *Reader) Number(name Name) int {
	rule, ok := Numbers[name]
	if !ok {
		panic("setting: " + string(name) + " is no number")
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

// Fault adds a fault that the range of a single setting does not find.
func (r *Reader) Fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// Err reports all faults at once.
func (r *Reader) Err() error { return errors.Join(r.faults...) }
