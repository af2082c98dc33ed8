package main

import (
	"encoding/json"
	"errors"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"wavegate/shared/auth"
	"wavegate/shared/ratelimit"
	"wavegate/shared/token"
)

// A Stage is one of the two ways to run the service.
type Stage string

const (
	// Dev can be thrown away: a destroyed stack leaves nothing behind.
	Dev Stage = "dev"
	// Prod keeps what it holds: data, logs and identities outlive the stack and mistakes.
	Prod Stage = "prod"
)

// Settings are what a deployment chooses. Each is a value of the CDK context: given on the command
// line with `-c key=value`, or in cdk.json under stages.<stage>, or left at its default. deploying.md
// lists them.
type Settings struct {
	Stage        Stage
	Architecture string // arm64 or x86_64
	// Issuers of tokens beside the stack's own user pool, each as the authorizer's setting describes
	// it; token.ParseIssuers says how.
	Issuers []map[string]any
	// peopleElsewhere tells that one of them may grant a person's role.
	peopleElsewhere bool
	// RequireMFA makes people of the stack's own pool log in with a second factor.
	RequireMFA bool
	// Origins whose pages may call the API from a browser.
	Origins []string
	// AlarmEmail receives alarms; empty: nobody does until somebody subscribes to the topic.
	AlarmEmail string
	// Fair-use limits, in requests a minute.
	LimitUser, LimitOrganization, LimitCopilotUser, LimitCopilotOrganization int
	// The stage's own throttle, over all callers together: a rate in requests a second, and how many
	// may come at once. It stands behind the fair-use limits and must lie above them.
	ThrottleRate, ThrottleBurst int
	// CopilotURL is the upstream of the copilot operations; empty: they answer 503.
	CopilotURL string
	// CopilotSecret names the Secrets Manager secret that the upstream trusts the service by, and
	// CopilotSecretVersion its version; a new version takes a deploy to arrive.
	CopilotSecret, CopilotSecretVersion string
	// PollIntervalSeconds is how often a box is told to poll.
	PollIntervalSeconds int
	// ChannelCacheSeconds is how long a function may answer polls from a channel it has read.
	ChannelCacheSeconds int
	// LogSamplePolls is the share of polls that are logged: one in so many.
	LogSamplePolls int
	// LogRetentionDays is how long logs are kept.
	LogRetentionDays int
	// Functions is the directory that holds the built functions, as <function>/bootstrap.
	Functions string
	// StoreEndpoint sends the functions to another store than AWS's: a local run under SAM sets it,
	// a deployment never does.
	StoreEndpoint string
}

// Keeps tells whether the stage's data outlives its stack.
func (s Settings) Keeps() bool { return s.Stage == Prod }

// OwnUserPool tells whether the stack makes a user pool for people: it does unless an issuer is
// given that may grant a person's role. An issuer of boxes alone changes nothing for people.
func (s Settings) OwnUserPool() bool { return !s.peopleElsewhere }

// limits are the fair-use limits as the functions take them.
func (s Settings) limits() ratelimit.Limits {
	return ratelimit.Limits{
		User: s.LimitUser, Organization: s.LimitOrganization,
		CopilotUser: s.LimitCopilotUser, CopilotOrganization: s.LimitCopilotOrganization,
	}
}

// ReadSettings takes the settings from the CDK context. Every fault is reported at once.
func ReadSettings(context map[string]any) (Settings, error) {
	r := newReader(context)
	stage := Stage(r.stage)
	s := Settings{
		Stage:        stage,
		Architecture: r.oneOf("architecture", "arm64", "arm64", "x86_64"),
		RequireMFA:   r.flag("requireMfa"),
		Origins:      r.list("origins"),
		AlarmEmail:   r.text("alarmEmail", ""),

		LimitUser:                r.number("limitUser", ratelimit.Defaults.User, 1, ratelimit.Highest),
		LimitOrganization:        r.number("limitOrganization", ratelimit.Defaults.Organization, 1, ratelimit.Highest),
		LimitCopilotUser:         r.number("limitCopilotUser", ratelimit.Defaults.CopilotUser, 1, ratelimit.Highest),
		LimitCopilotOrganization: r.number("limitCopilotOrganization", ratelimit.Defaults.CopilotOrganization, 1, ratelimit.Highest),
		ThrottleRate:             r.number("throttleRate", 2000, 1, 1_000_000),
		ThrottleBurst:            r.number("throttleBurst", 2000, 1, 1_000_000),

		CopilotURL:           r.text("copilotUrl", ""),
		CopilotSecret:        r.text("copilotSecret", ""),
		CopilotSecretVersion: r.text("copilotSecretVersion", ""),
		PollIntervalSeconds:  r.number("pollIntervalSeconds", 60, 1, 86_400),
		ChannelCacheSeconds:  r.number("channelCacheSeconds", 2, 0, 60),
		LogSamplePolls:       r.number("logSamplePolls", 100, 1, 1_000_000),
		LogRetentionDays:     r.number("logRetentionDays", map[Stage]int{Dev: 14, Prod: 90}[stage], 1, 3653),
		Functions:            r.text("functions", "dist"),
		StoreEndpoint:        r.text("storeEndpoint", ""),
	}
	s.Issuers, s.peopleElsewhere = issuers(r)
	s.check(r)
	r.unknown()
	if len(r.faults) > 0 {
		return Settings{}, errors.New("the settings are not valid:\n  " + strings.Join(r.faults, "\n  "))
	}
	return s, nil
}

// check holds the settings against what one value alone does not show.
func (s Settings) check(r *reader) {
	if _, ok := retentionDays[s.LogRetentionDays]; !ok {
		r.fault("logRetentionDays: CloudWatch Logs takes one of %v", slices.Sorted(maps.Keys(retentionDays)))
	}
	if s.AlarmEmail != "" {
		if a, err := mail.ParseAddress(s.AlarmEmail); err != nil || a.Address != s.AlarmEmail {
			r.fault("alarmEmail: %q is no mail address", s.AlarmEmail)
		}
	}
	for _, o := range s.Origins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o ||
			(u.Scheme != "https" && u.Hostname() != "localhost") {
			r.fault("origins: %q is no origin: give scheme, host and port alone, over https unless it is localhost", o)
		}
	}
	if highest := max(s.LimitUser, s.LimitOrganization); s.ThrottleRate*60 <= highest {
		r.fault("throttleRate: %d a second lies below the fair-use limit of %d a minute", s.ThrottleRate, highest)
	}
	if err := s.limits().Validate(); err != nil {
		r.fault("%s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	if s.CopilotURL != "" && !absolute(s.CopilotURL, "https") {
		r.fault("copilotUrl: %q is no https URL", s.CopilotURL)
	}
	if (s.CopilotURL == "") != (s.CopilotSecret == "") {
		r.fault("copilotUrl, copilotSecret: give both or none: the upstream trusts the service by the secret")
	}
	if s.CopilotSecret != "" && !secretName.MatchString(s.CopilotSecret) {
		r.fault("copilotSecret: give the name or the ARN of a Secrets Manager secret, never its value")
	}
	if s.CopilotSecretVersion != "" && s.CopilotSecret == "" {
		r.fault("copilotSecretVersion: there is no copilotSecret")
	}
	if s.StoreEndpoint != "" && (s.Keeps() || !absolute(s.StoreEndpoint, "http")) {
		r.fault("storeEndpoint: an http URL, and never in prod")
	}
}

// issuers reads the setting with the authorizer's own reader, so that what the authorizer would
// refuse to start with is not deployed.
func issuers(r *reader) (list []map[string]any, people bool) {
	r.structured("issuers", &list)
	if len(list) == 0 {
		return nil, false
	}
	setting, err := json.Marshal(list)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	parsed, err := token.ParseIssuers(string(setting))
	if err != nil {
		r.fault("issuers: %v", err)
	}
	for _, i := range parsed {
		people = people || slices.ContainsFunc(i.Grants, func(role auth.Role) bool { return role != auth.Edge })
	}
	return list, people
}

// secretName is a secret's name or ARN: no character that could end the reference it is put into.
var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@:-]{1,512}$`)

func absolute(text, scheme string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == scheme && u.Host != "" && u.User == nil && u.Fragment == ""
}

// keysOf lists a map's keys in order.
func keysOf(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
