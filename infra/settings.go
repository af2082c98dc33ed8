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
	"wavegate/shared/access/token"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// A Stage is the name of a deployment of the service in an account and region: at most 20 lower-case letters and digits.
type Stage string

const (
	// Dev is the default. It keeps no data unless the setting keep is true.
	Dev Stage = "dev"
	// Prod always keeps its data, and must set its account, region and domain.
	Prod Stage = "prod"
)

// Settings are the settings of a deployment. Each is a value of the CDK context: from the command line (`-c key=value`),
// from cdk.json under stages.<stage>, or the default. deploying.md lists them.
type Settings struct {
	Stage Stage
	// Keep makes data, logs and identities outlive the stacks and mistakes. Without it, destroyed stacks leave nothing
	// behind.
	Keep bool
	// Account and Region are where to deploy. Empty: those of the credentials.
	Account, Region string
	Domain          Domain
	// Tags are set on every resource, in addition to the project's own.
	Tags map[string]string
	// KMSKeyARN is the customer-managed key for tables, logs and the alarms' topic. Empty: keys that
	// AWS manages.
	KMSKeyARN string
	// PermissionsBoundary is the ARN of the policy that bounds every role. Empty: none.
	PermissionsBoundary string
	// WebACLARN is the web ACL (WAF) in front of the API. Empty: none.
	WebACLARN    string
	Architecture string // arm64 or x86_64
	// Issuers are the issuers of tokens besides the stack's own user pool; token.ParseIssuers describes them.
	Issuers []map[string]any
	// peopleElsewhere reports whether one of them may grant a role of people.
	peopleElsewhere bool
	// Login is how people sign in with a browser if the stack has no pool; nil: the API does not publish it.
	Login *Login
	// RequireMFA makes people of the stack's own pool sign in with a second factor.
	RequireMFA bool
	// DDIRoot makes the API also serve hawkBit's DDI at its root, for clients that do not support a path in the server's URL.
	DDIRoot bool
	// DDITenants are the tenants in the paths of organizations' DDI clients, as boxauth.Tenants has them.
	DDITenants []string
	// ForeignTokens lets DDI clients call with tokens of another form.
	ForeignTokens bool
	// Docs makes the API serve its contract, and the page that shows it, to anyone.
	Docs bool
	// Console is the API's base URL, under which the operator's page is; empty: there is no page. If people do not sign in
	// at the stack's own pool, it may be "true".
	Console string
	// Bell notifies listening boxes of changes. Boxes listen at BellURL, or if it is empty, at the URL
	// of its function.
	Bell    bool
	BellURL string
	// Door answers the calls of boxes with tokens of their own at a second URL, without API Gateway.
	Door bool
	// Artifacts makes the service keep the bytes of releases, in a bucket.
	Artifacts bool
	// Origins are the web origins whose pages may call the API.
	Origins []string
	// Alarms reports whether the deployment has alarms.
	Alarms bool
	// AlarmEmail receives alarms. If it is empty, nobody does until somebody subscribes to the topic.
	AlarmEmail string
	// AlarmTopicARN is the topic that receives alarms. Empty: the stack makes one.
	AlarmTopicARN string
	// OutsideSecret is the name or the ARN of the secret with the credentials of the check from outside. Empty: there is no
	// check.
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
	// RestoredTables are the names of restored tables that the stack uses instead of its own.
	RestoredTables map[dynamo.TableID]string
	// RemadeTables are how often tables that may be lost were lost, and are made anew, empty.
	RemadeTables map[dynamo.TableID]int
	Copilot      Copilot
	// PollIntervalSeconds is the interval between a box's polls.
	PollIntervalSeconds int
	// IdlePollIntervalSeconds is the same while a box's channel is idle.
	IdlePollIntervalSeconds int
	// ReportShards is the number of index partitions over which a channel's boxes are spread.
	ReportShards int
	// EdgesPerOrganization and RegistrationsPerDay are the quotas of boxes.
	EdgesPerOrganization, RegistrationsPerDay int
	// HeartbeatSeconds is the interval between a listening box's polls while the bell is silent.
	HeartbeatSeconds int
	// WarmWrites is how many writes a second a table and its global indexes can take immediately. Other tables take as many
	// as new ones.
	WarmWrites map[dynamo.TableID]int
	// ChannelCacheSeconds is how long a function may answer polls from a channel that it has read.
	ChannelCacheSeconds int
	// SignatureMaxAgeSeconds is how long ago a person may have signed in who approves; 0: whenever.
	SignatureMaxAgeSeconds int
	// LogSamplePolls is the share of successful polls that are logged: one in this many.
	LogSamplePolls int
	// fleetIssuers are the names of the issuers of boxes.
	fleetIssuers []string
	// LogRetentionDays is how long logs are kept.
	LogRetentionDays int
	// Functions is the directory that holds the built functions, as <function>/bootstrap.
	Functions string
	// StoreEndpoint is the URL of a store other than AWS's. A local run under SAM sets it, a deployment never does.
	StoreEndpoint string
}

// Copilot configures the assistant.
type Copilot struct {
	// URL is the assistant's. If it is empty, the copilot's operation answers 503.
	URL string
	// Secret is the name or the ARN of the Secrets Manager secret by which the assistant recognizes the service. The function
	// reads it at run time, so neither template nor environment contains its value.
	Secret string
	// TimeoutSeconds is how long the assistant may take to answer.
	TimeoutSeconds int
}

// Keeps reports whether the deployment's data outlives its stack.
func (s Settings) Keeps() bool { return s.Keep }

// Local reports whether the template is for a run under SAM.
func (s Settings) Local() bool { return s.StoreEndpoint != "" }

// OwnUserPool reports whether the stack makes a user pool for people: it does unless an issuer may grant a role of people.
func (s Settings) OwnUserPool() bool { return !s.peopleElsewhere }

// ReadSettings reads the settings from the CDK context. It reports all faults together.
func ReadSettings(context map[string]any) (Settings, error) {
	r := newReader(context)
	s := readSettings(r)
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
	s.checkDoor(r)
	r.unknown()
	if len(r.faults) > 0 {
		return Settings{}, errors.New("the settings are not valid:\n  " + strings.Join(r.faults, "\n  "))
	}
	return s, nil
}

// readSettings reads each setting by its own rule.
func readSettings(r *reader) Settings {
	keep, retention, shards := r.keep(), 14, setting.Ranges[setting.ReportShards]
	if keep {
		retention = 90
	}
	s := Settings{
		Stage:                   Stage(r.stage),
		Keep:                    keep,
		Account:                 r.text("account", ""),
		Region:                  r.text("region", ""),
		Domain:                  readDomain(r),
		Tags:                    r.texts("tags"),
		KMSKeyARN:               r.text("kmsKeyArn", ""),
		PermissionsBoundary:     r.text("permissionsBoundary", ""),
		WebACLARN:               r.text("webAclArn", ""),
		Architecture:            r.oneOf("architecture", "arm64", "arm64", "x86_64"),
		RequireMFA:              r.flag("requireMfa", false),
		DDIRoot:                 r.flag("ddiRoot", false),
		DDITenants:              readTenants(r),
		ForeignTokens:           r.flag("foreignTokens", false),
		Docs:                    r.flag("docs", false),
		Bell:                    r.flag("bell", false),
		BellURL:                 r.text("bellUrl", ""),
		Door:                    r.flag("door", false),
		Artifacts:               r.flag("artifacts", false),
		Origins:                 r.list("origins"),
		Alarms:                  r.flag("alarms", keep || r.text("alarmEmail", "") != "" || r.text("alarmTopicArn", "") != ""),
		AlarmEmail:              r.text("alarmEmail", ""),
		OutsideSecret:           r.text("outsideSecret", ""),
		AlarmTopicARN:           r.text("alarmTopicArn", ""),
		Limits:                  readLimits(r),
		Throttles:               readThrottles(r),
		Concurrency:             readConcurrency(r),
		Quotas:                  readQuotas(r),
		Copilot:                 readCopilot(r),
		PollIntervalSeconds:     r.ranged("pollIntervalSeconds", setting.PollIntervalSeconds),
		IdlePollIntervalSeconds: r.ranged("idlePollIntervalSeconds", setting.IdlePollIntervalSeconds),
		ChannelCacheSeconds:     r.ranged("channelCacheSeconds", setting.ChannelCacheSeconds),
		EdgesPerOrganization:    r.ranged("edgesPerOrganization", setting.EdgesPerOrganization),
		RegistrationsPerDay:     r.ranged("registrationsPerDay", setting.RegistrationsPerDay),
		HeartbeatSeconds:        r.ranged("heartbeatSeconds", setting.HeartbeatSeconds),
		ReportShards:            r.number("reportShards", shards.Default, shards.Default, shards.Most),
		SignatureMaxAgeSeconds:  r.ranged("signatureMaxAgeSeconds", setting.SignatureMaxAgeSeconds),
		LogSamplePolls:          r.ranged("logSamplePolls", setting.LogSamplePolls),
		LogRetentionDays:        r.number("logRetentionDays", retention, 1, 3653),
		Functions:               r.text("functions", "dist"),
		Login:                   readLogin(r),
		Traffic:                 r.oneOf("traffic", map[bool]string{true: canary, false: direct}[keep], canary, atOnce, direct),
		Events:                  readEvents(r),
		Backup:                  readBackup(r),
		StoreEndpoint:           r.text("storeEndpoint", ""),
	}
	s.Issuers, s.fleetIssuers, s.peopleElsewhere = issuers(r)
	r.structured("restoredTables", &s.RestoredTables)
	r.structured("remadeTables", &s.RemadeTables)
	r.structured("warmWrites", &s.WarmWrites)
	s.Console = readConsole(r, s)
	return s
}

func readCopilot(r *reader) Copilot {
	return Copilot{URL: r.text("copilotUrl", ""), Secret: r.text("copilotSecret", ""), TimeoutSeconds: r.ranged("copilotTimeoutSeconds", setting.CopilotTimeoutSeconds)}
}

func readLimits(r *reader) ratelimit.Limits {
	return ratelimit.Limits{
		User: r.ranged("limitUser", setting.LimitUser), Organization: r.ranged("limitOrganization", setting.LimitOrganization),
		CopilotUser:         r.ranged("limitCopilotUser", setting.LimitCopilotUser),
		CopilotOrganization: r.ranged("limitCopilotOrganization", setting.LimitCopilotOrganization),
		Boxes:               r.ranged("limitBoxes", setting.LimitBoxes),
	}
}

// check checks rules that involve more than one value's type and range.
func (s Settings) check(r *reader) {
	if _, ok := retentionDays[s.LogRetentionDays]; !ok {
		r.fault("logRetentionDays: must be one of %v", slices.Sorted(maps.Keys(retentionDays)))
	}
	s.checkAlarms(r)
	for _, o := range s.Origins {
		if !isOrigin(o) {
			r.fault("origins: %q is not an origin as browsers send it: give only scheme, host and port, in lower case, without the scheme's default port and without wildcards, with https unless it is localhost", o)
		}
	}
	if s.Login != nil && s.OwnUserPool() {
		r.fault("login: it needs an issuer of people; otherwise people sign in at the stack's own pool")
	}
	if s.OutsideSecret != "" && (!secretName.MatchString(s.OutsideSecret) || s.Domain.Name == "") {
		r.fault("outsideSecret: give the name or the ARN of a Secrets Manager secret, and a domain, which the check calls")
	}
	for _, id := range keysOf(s.WarmWrites) {
		if !slices.ContainsFunc(dynamo.Tables, func(t dynamo.Table) bool { return t.ID == id }) {
			r.fault("warmWrites: there is no table %s", id)
		}
		if writes := s.WarmWrites[id]; writes < leastWarm || writes > mostWarm {
			r.fault("warmWrites: %d writes of %s; give %d, as a new table takes, to %d", writes, id, leastWarm, mostWarm)
		}
	}
	if err := s.Limits.Validate(); err != nil {
		r.fault("%s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	if s.StoreEndpoint != "" && (s.Keeps() || s.Artifacts || !absolute(s.StoreEndpoint, "http")) {
		r.fault("storeEndpoint: must be an http URL, and the deployment must neither keep its data nor have artifacts")
	}
}

// checkAlarms checks who receives alarms.
func (s Settings) checkAlarms(r *reader) {
	if s.AlarmEmail != "" {
		if a, err := mail.ParseAddress(s.AlarmEmail); err != nil || a.Address != s.AlarmEmail {
			r.fault("alarmEmail: %q is not a mail address", s.AlarmEmail)
		}
	}
	s.checkARN(r, "alarmTopicArn", s.AlarmTopicARN, topicARN, "an SNS topic")
	switch {
	case s.AlarmEmail != "" && s.AlarmTopicARN != "":
		r.fault("alarmEmail, alarmTopicArn: give only one; you can subscribe the address to the topic")
	case s.Stage == Prod && (!s.Alarms || s.AlarmEmail == "" && s.AlarmTopicARN == ""):
		r.fault("alarmEmail, alarmTopicArn: prod must have alarms, and set who receives them")
	case !s.Alarms && (s.AlarmEmail != "" || s.AlarmTopicARN != ""):
		r.fault("alarmEmail, alarmTopicArn: the deployment has no alarms; set alarms=true")
	}
}

// isOrigin reports whether the text is an origin as a browser writes it (RFC 6454, section 6.2), because origins are
// compared as text.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != text || text != strings.ToLower(text) || strings.ContainsAny(text, `'"\*`) {
		return false
	}
	usual := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	return u.Port() != usual && (u.Scheme == "https" || u.Hostname() == "localhost")
}

// mostIssuers is how many bytes the issuers may take, of the 4 KB for all of a function's variables.
const mostIssuers = 3000

// secretName is a secret's name or ARN.
var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@:-]{1,512}$`)

func (c Copilot) check(r *reader) {
	if c.URL != "" && !absolute(c.URL, "https") {
		r.fault("copilotUrl: %q must be an https URL with only scheme, host and path", c.URL)
	}
	if (c.URL == "") != (c.Secret == "") {
		r.fault("copilotUrl, copilotSecret: give both or none: the assistant recognizes the service by the secret")
	}
	if c.Secret != "" && !secretName.MatchString(c.Secret) {
		r.fault("copilotSecret: give the name or the ARN of a Secrets Manager secret, never its value")
	}
}

// issuers reads the setting with the authorizer's own reader, so that no deploy can contain issuers with which the
// authorizer would refuse to start.
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
		r.fault("issuers: they take %d bytes, and a function's environment has room for %d; use jwksUrl instead of keys", len(setting), mostIssuers)
	}
	parsed, err := token.ParseIssuers(string(setting))
	if err != nil {
		r.fault("issuers: %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	for _, i := range parsed {
		if own := "wavegate-" + r.stage; i.Subjects != nil && len(i.Audience) > 0 && !slices.Equal(i.Audience, []string{own}) {
			r.fault("issuers: the audience of programs must be only this deployment's: %s, not %q", own, i.Audience)
		}
		people = people || slices.ContainsFunc(i.Grants, func(role auth.Role) bool { return slices.Contains(auth.People, role) })
	}
	return list, token.Fleets(parsed), people
}

// absolute reports whether the text is a URL with only scheme, host and path.
func absolute(text, scheme string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == scheme && u.Host != "" && u.User == nil && u.Fragment == "" && u.RawQuery == ""
}
