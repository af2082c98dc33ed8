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

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/access/token"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// A Stage is one deployment of the service in an account and region. Its name is free: lower-case
// letters and digits, 20 at most.
type Stage string

const (
	// Dev is the stage when none is named. It keeps nothing unless told to.
	Dev Stage = "dev"
	// Prod always keeps its data, and has to say where it is deployed and under which domain.
	Prod Stage = "prod"
)

// Settings are what a deployment chooses. Each is a value of the CDK context: given on the command
// line with `-c key=value`, or in cdk.json under stages.<stage>, or left at its default. deploying.md
// lists them.
type Settings struct {
	Stage Stage
	// Keep makes data, logs and identities outlive the stacks and mistakes. Without it, destroyed
	// stacks leave nothing behind.
	Keep bool
	// Account and Region are where the stage is deployed. Empty: where the credentials point to.
	Account, Region string
	Domain          Domain
	// Tags are put on every resource, beside the project's own.
	Tags map[string]string
	// KMSKeyARN is the customer-managed key for tables, logs and the alarms' topic. Empty: keys that
	// AWS manages.
	KMSKeyARN string
	// PermissionsBoundary is the ARN of the policy that bounds every role. Empty: none.
	PermissionsBoundary string
	// WebACLARN is the web ACL (WAF) in front of the API. Empty: none.
	WebACLARN    string
	Architecture string // arm64 or x86_64
	// Issuers of tokens beside the stack's own user pool, each as the authorizer's setting describes
	// it; token.ParseIssuers says how.
	Issuers []map[string]any
	// peopleElsewhere tells that one of them may grant a person's role.
	peopleElsewhere bool
	// Login is how people log in with a browser where the stack has no pool for them; nil: the API does not say.
	Login *Login
	// RequireMFA makes people of the stack's own pool log in with a second factor.
	RequireMFA bool
	// DDIRoot makes the API serve hawkBit's DDI at its root, too, for clients that cannot have a path in the server's URL.
	DDIRoot bool
	// Docs makes the API serve its contract, and the page that shows it, to anyone.
	Docs bool
	// Console is where the operator's page is, the API's base URL; empty: there is no page. Where people log in
	// elsewhere than at the stack's own pool, it may be just "true".
	Console string
	// Bell makes the stage tell boxes that listen when something has changed. BellURL is what they are told in place of
	// the URL of its function; empty: that URL.
	Bell    bool
	BellURL string
	// Origins whose pages may call the API from a browser.
	Origins []string
	// Alarms reports whether the stage has alarms.
	Alarms bool
	// AlarmEmail receives alarms; empty: nobody does until somebody subscribes to the topic.
	AlarmEmail string
	// AlarmTopicARN is a topic that receives alarms in place of the stack's own. Empty: the stack makes one.
	AlarmTopicARN string
	// OutsideSecret is the name or the ARN of the secret with what the check from outside needs. Empty: there is none.
	OutsideSecret string
	// Limits are the fair-use limits, in requests a minute.
	Limits      ratelimit.Limits
	Throttles   Throttles
	Concurrency Concurrency
	Quotas      Quotas
	// Traffic is how a new version of a function that boxes call takes over: canary, at-once or direct.
	Traffic string
	Events  Events
	Backup  Backup
	// RestoredTables are the names of tables that a restore made, and that the stack takes in place of its own.
	RestoredTables map[dynamo.TableID]string
	Copilot        Copilot
	// PollIntervalSeconds is how often a box is told to poll.
	PollIntervalSeconds int
	// IdlePollIntervalSeconds is how often a box is told to poll while nothing goes on at its channel.
	IdlePollIntervalSeconds int
	// ReportShards is the number of index partitions over which a channel's boxes are spread.
	ReportShards int
	// HeartbeatSeconds is how often a box that listens is told to poll while the bell is silent.
	HeartbeatSeconds int
	// WarmWrites is how many writes a second a table and its global indexes can take at once. One that is not named takes as
	// many as a new table.
	WarmWrites map[dynamo.TableID]int
	// ChannelCacheSeconds is how long a function may answer polls from a channel it has read.
	ChannelCacheSeconds int
	// LogSamplePolls is the share of polls that are logged: one in so many.
	LogSamplePolls int
	// fleetIssuers are the names of the issuers of boxes.
	fleetIssuers []string
	// LogRetentionDays is how long logs are kept.
	LogRetentionDays int
	// Functions is the directory that holds the built functions, as <function>/bootstrap.
	Functions string
	// StoreEndpoint sends the functions to another store than AWS's: a local run under SAM sets it,
	// a deployment never does.
	StoreEndpoint string
}

// Copilot says where the assistant is.
type Copilot struct {
	// URL is the upstream; empty: the copilot's operations answer 503.
	URL string
	// Secret is the name or the ARN of the Secrets Manager secret that the upstream knows the service
	// by. The function reads it at run time, so its value is in no template and no environment.
	Secret string
	// TimeoutSeconds is how long the upstream may take to answer.
	TimeoutSeconds int
}

// Keeps reports whether the stage's data outlives its stack.
func (s Settings) Keeps() bool { return s.Keep }

// Local reports whether the template is for a run under SAM.
func (s Settings) Local() bool { return s.StoreEndpoint != "" }

// OwnUserPool reports whether the stack makes a user pool for people: it does unless an issuer is
// given that may grant a person's role. An issuer of boxes alone changes nothing for people.
func (s Settings) OwnUserPool() bool { return !s.peopleElsewhere }

// ReadSettings takes the settings from the CDK context. Every fault is reported at once.
func ReadSettings(context map[string]any) (Settings, error) {
	r := newReader(context)
	// A number that a function reads has the range and the default that the function knows.
	number := func(key string, name setting.Name) int {
		n := setting.Ranges[name]
		return r.number(key, n.Default, n.Least, n.Most)
	}
	keep, retention, shards := r.keep(), 14, setting.Ranges[setting.ReportShards]
	if keep {
		retention = 90
	}
	s := Settings{
		Stage:               Stage(r.stage),
		Keep:                keep,
		Account:             r.text("account", ""),
		Region:              r.text("region", ""),
		Domain:              readDomain(r),
		Tags:                r.texts("tags"),
		KMSKeyARN:           r.text("kmsKeyArn", ""),
		PermissionsBoundary: r.text("permissionsBoundary", ""),
		WebACLARN:           r.text("webAclArn", ""),
		Architecture:        r.oneOf("architecture", "arm64", "arm64", "x86_64"),
		RequireMFA:          r.flag("requireMfa", false),
		DDIRoot:             r.flag("ddiRoot", false),
		Docs:                r.flag("docs", false),
		Bell:                r.flag("bell", false),
		BellURL:             r.text("bellUrl", ""),
		Origins:             r.list("origins"),
		Alarms:              r.flag("alarms", keep || r.text("alarmEmail", "") != "" || r.text("alarmTopicArn", "") != ""),
		AlarmEmail:          r.text("alarmEmail", ""),
		OutsideSecret:       r.text("outsideSecret", ""),
		AlarmTopicARN:       r.text("alarmTopicArn", ""),
		Limits: ratelimit.Limits{
			User:                number("limitUser", setting.LimitUser),
			Organization:        number("limitOrganization", setting.LimitOrganization),
			CopilotUser:         number("limitCopilotUser", setting.LimitCopilotUser),
			CopilotOrganization: number("limitCopilotOrganization", setting.LimitCopilotOrganization),
		},
		Throttles:   readThrottles(r),
		Concurrency: readConcurrency(r),
		Quotas:      readQuotas(r),
		Copilot: Copilot{
			URL:            r.text("copilotUrl", ""),
			Secret:         r.text("copilotSecret", ""),
			TimeoutSeconds: number("copilotTimeoutSeconds", setting.CopilotTimeoutSeconds),
		},
		PollIntervalSeconds:     number("pollIntervalSeconds", setting.PollIntervalSeconds),
		IdlePollIntervalSeconds: number("idlePollIntervalSeconds", setting.IdlePollIntervalSeconds),
		ChannelCacheSeconds:     number("channelCacheSeconds", setting.ChannelCacheSeconds),
		HeartbeatSeconds:        number("heartbeatSeconds", setting.HeartbeatSeconds),
		ReportShards:            r.number("reportShards", shards.Default, shards.Default, shards.Most),
		LogSamplePolls:          number("logSamplePolls", setting.LogSamplePolls),
		LogRetentionDays:        r.number("logRetentionDays", retention, 1, 3653),
		Functions:               r.text("functions", "dist"),
		StoreEndpoint:           r.text("storeEndpoint", ""),
	}
	s.Issuers, s.fleetIssuers, s.peopleElsewhere = issuers(r)
	s.Login = readLogin(r)
	s.Traffic = r.oneOf("traffic", map[bool]string{true: canary, false: direct}[keep], canary, atOnce, direct)
	s.Events, s.Backup = readEvents(r), readBackup(r)
	r.structured("restoredTables", &s.RestoredTables)
	r.structured("warmWrites", &s.WarmWrites)
	s.Console = readConsole(r, s)
	s.check(r)
	s.checkPlace(r)
	s.Domain.check(r, s)
	s.Throttles.check(r, s.Limits)
	s.Events.check(r, s)
	s.Backup.check(r)
	s.checkRestored(r)
	s.Concurrency.check(r)
	s.Quotas.check(r, s)
	s.Copilot.check(r)
	s.checkBell(r)
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
	s.checkAlarms(r)
	for _, o := range s.Origins {
		if !isOrigin(o) {
			r.fault("origins: %q is no origin as browsers send it: give scheme, host and port alone, in lower case, without the port that goes without saying and without wildcards, over https unless it is localhost", o)
		}
	}
	if s.Login != nil && s.OwnUserPool() {
		r.fault("login: the stack's own pool says how people log in; give it with an issuer of people")
	}
	if s.OutsideSecret != "" && (!secretName.MatchString(s.OutsideSecret) || s.Domain.Name == "") {
		r.fault("outsideSecret: give the name or the ARN of a Secrets Manager secret, and a domain, which the check goes by")
	}
	for _, id := range keysOf(s.WarmWrites) {
		if !slices.ContainsFunc(dynamo.Tables, func(t dynamo.Table) bool { return t.ID == id }) {
			r.fault("warmWrites: there is no table %s", id)
		}
		if writes := s.WarmWrites[id]; writes < leastWarm || writes > mostWarm {
			r.fault("warmWrites: %d writes of %s; a new table takes %d, and the most is %d", writes, id, leastWarm, mostWarm)
		}
	}
	if err := s.Limits.Validate(); err != nil {
		r.fault("%s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	if s.StoreEndpoint != "" && (s.Keeps() || !absolute(s.StoreEndpoint, "http")) {
		r.fault("storeEndpoint: an http URL, and never in a stage that keeps its data")
	}
}

// checkAlarms checks who is told of alarms.
func (s Settings) checkAlarms(r *reader) {
	if s.AlarmEmail != "" {
		if a, err := mail.ParseAddress(s.AlarmEmail); err != nil || a.Address != s.AlarmEmail {
			r.fault("alarmEmail: %q is no mail address", s.AlarmEmail)
		}
	}
	s.checkARN(r, "alarmTopicArn", s.AlarmTopicARN, topicARN, "an SNS topic")
	switch {
	case s.AlarmEmail != "" && s.AlarmTopicARN != "":
		r.fault("alarmEmail, alarmTopicArn: give one; the address can be subscribed to the topic")
	case s.Stage == Prod && (!s.Alarms || s.AlarmEmail == "" && s.AlarmTopicARN == ""):
		r.fault("alarmEmail, alarmTopicArn: prod has alarms, and says who is told of them")
	case !s.Alarms && (s.AlarmEmail != "" || s.AlarmTopicARN != ""):
		r.fault("alarmEmail, alarmTopicArn: the stage has no alarms; say alarms=true")
	}
}

// isOrigin reports whether the text is an origin as a browser writes it (RFC 6454, section 6.2), since it is
// compared as text.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != text || text != strings.ToLower(text) || strings.ContainsAny(text, `'"\*`) {
		return false
	}
	usual := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	return u.Port() != usual && (u.Scheme == "https" || u.Hostname() == "localhost")
}

// mostIssuers is how many bytes the issuers may take, of the 4 KB that all variables of a function may.
const mostIssuers = 3000

// secretName is a secret's name or ARN.
var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@:-]{1,512}$`)

func (c Copilot) check(r *reader) {
	if c.URL != "" && !absolute(c.URL, "https") {
		r.fault("copilotUrl: %q is no https URL of scheme, host and path alone", c.URL)
	}
	if (c.URL == "") != (c.Secret == "") {
		r.fault("copilotUrl, copilotSecret: give both or none: the upstream knows the service by the secret")
	}
	if c.Secret != "" && !secretName.MatchString(c.Secret) {
		r.fault("copilotSecret: give the name or the ARN of a Secrets Manager secret, never its value")
	}
}

// issuers reads the setting with the authorizer's own reader, so that what the authorizer would
// refuse to start with is not deployed.
func issuers(r *reader) (list []map[string]any, fleets []string, people bool) {
	r.structured("issuers", &list)
	if len(list) == 0 {
		return nil, nil, false
	}
	setting, err := json.Marshal(list)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	if len(setting) > mostIssuers {
		r.fault("issuers: they take %d bytes, and a function's environment has room for %d; give a jwksUrl in place of keys", len(setting), mostIssuers)
	}
	parsed, err := token.ParseIssuers(string(setting))
	if err != nil {
		r.fault("issuers: %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	for _, i := range parsed {
		if own := "wavegate-" + r.stage; i.Subjects != nil && len(i.Audience) > 0 && !slices.Equal(i.Audience, []string{own}) {
			r.fault("issuers: the audience of programs must be this stage's alone: %s, not %q", own, i.Audience)
		}
		people = people || slices.ContainsFunc(i.Grants, func(role auth.Role) bool { return slices.Contains(auth.People, role) })
	}
	return list, token.Fleets(parsed), people
}

// absolute reports whether the text is a URL of scheme, host and path alone.
func absolute(text, scheme string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == scheme && u.Host != "" && u.User == nil && u.Fragment == "" && u.RawQuery == ""
}
