package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// dist is a directory of empty functions, because their content does not matter to a template.
var dist string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if _, err := exec.LookPath("node"); err != nil && os.Getenv("CI") != "true" {
		fmt.Println("skipped: the CDK needs Node.js, and there is no node; https://nodejs.org has it")
		return 0
	}
	defer jsii.Close()
	var err error
	if dist, err = os.MkdirTemp("", "dist"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(dist)
	for _, name := range append(table.Functions(), preTokenGeneration, outside, smokeTest) {
		if err := os.Mkdir(filepath.Join(dist, name), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(dist, name, "bootstrap"), []byte(name), 0o755); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

type resource struct {
	Type                string
	Properties          map[string]any
	DependsOn           []string       `json:",omitempty"`
	DeletionPolicy      string         `json:",omitempty"`
	UpdateReplacePolicy string         `json:",omitempty"`
	Metadata            map[string]any `json:",omitempty"`
}

type template struct {
	Resources  map[string]resource
	Mappings   map[string]map[string]map[string]any
	Parameters map[string]struct{ Type, Default string }
	Outputs    map[string]struct{ Value any }
}

// A stage is a synthesised deployment: its templates by the stack's name, and all of them merged into one, in which
// published values replace parameters.
type stage struct {
	template
	stacks map[string]template
	made   []awscdk.Stack
}

// prodContext is prod with the settings that it requires.
func prodContext(more ...string) map[string]any {
	context := map[string]any{
		"stage": "prod", "account": "111122223333", "region": "eu-central-1", "domain": "none", "accountConcurrency": "1000",
		"alarmEmail": "ops@example.com", "budgetUsd": "none",
	}
	for i := 0; i < len(more); i += 2 {
		context[more[i]] = more[i+1]
	}
	return context
}

// fullContext is prod with all settings.
func fullContext() map[string]any {
	return prodContext(
		"domain", "api.wavegate.example", "certificateArn", "arn:aws:acm:eu-central-1:111122223333:certificate/c-1", "hostedZone", "Z0123456789",
		"tags", `{"costCenter":"42"}`, "kmsKeyArn", testKey, "permissionsBoundary", testBoundary,
		"webAclArn", "arn:aws:wafv2:eu-central-1:111122223333:regional/webacl/api/a-1",
		"alarmEmail", "ops@example.com", "origins", "https://a.example,https://b.example",
		"docs", "true", "ddiRoot", "true", "foreignTokens", "true", "ddiTenants", `{"initech":["OLD"],"acme":["DEFAULT","ACME"]}`,
		"domains", `{"hawkbit.acme.example":"arn:aws:acm:eu-central-1:111122223333:certificate/c-2"}`, "console", "true", "bell", "true", "door", "true", "artifacts", "true", "warmWrites", `{"rate-counters":21000,"reports":17000}`,
		"budgetUsd", "5000", "apiQuota", "2500", "tableQuota", "80000", "backupCopyVaultArn", testVault, "outsideSecret", "wavegate/outside",
		"events", "true", "eventsChatTopicArn", testTopic, "eventsEndpoint", `{"url":"https://changes.example/hook","connectionArn":"`+testConnection+`","rate":40}`,
		"issuers", "["+fleet+"]", "copilotUrl", "https://assistant.example", "copilotSecret", "wavegate/copilot",
	)
}

const (
	// consoleURL is the operator's page of a deployment without a domain.
	consoleURL     = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/dev"
	testKey        = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	testVault      = "arn:aws:backup:eu-central-1:444455556666:backup-vault:wavegate"
	testConnection = "arn:aws:events:eu-central-1:111122223333:connection/changes/1234abcd-12ab-34cd-56ef-1234567890ab"
	testBoundary   = "arn:aws:iam::111122223333:policy/boundary"
)

// otherContext is prod with the settings that fullContext lacks, or other values.
func otherContext() map[string]any {
	restored, _ := json.Marshal(restoredNames()) // a map of strings: it cannot fail
	return prodContext(
		"region", "us-east-1", "alarmEmail", "", "alarmTopicArn", otherTopic, "traffic", "at-once", "restoredTables", string(restored), "events", "true",
		"bell", "true", "bellUrl", "https://bell.example.com", "reserveBell", "300", "remadeTables", `{"rate-counters":2}`,
	)
}

// testLogin is a login at another issuer.
const testLogin = `{"issuer":"https://people.example","authorizationEndpoint":"https://people.example/authorize","tokenEndpoint":"https://tokens.people.example/v1/token","clientId":"wavegate","scope":"openid"}`

// The deployments: dev and prod with as few settings as possible, dev with its pages, dev for SAM, dev with an issuer of
// people and with that issuer's login, and prod with all settings, twice. Each is synthesised once, which takes seconds:
// use one of them instead of making another.
var (
	dev   = sync.OnceValue(func() stage { return synthesise(nil) })
	prod  = sync.OnceValue(func() stage { return synthesise(prodContext()) })
	pages = sync.OnceValue(func() stage {
		return synthesise(map[string]any{"docs": "true", "console": consoleURL, "alarms": "true", "artifacts": "true"})
	})
	local = sync.OnceValue(func() stage { return synthesise(map[string]any{"storeEndpoint": "http://localhost:8000"}) })
	full  = sync.OnceValue(func() stage { return synthesise(fullContext()) })
	other = sync.OnceValue(func() stage { return synthesise(otherContext()) })

	foreign      = sync.OnceValue(func() stage { return synthesise(map[string]any{"issuers": "[" + people + "]"}) })
	foreignLogin = sync.OnceValue(func() stage {
		return synthesise(map[string]any{"issuers": "[" + people + "]", "login": testLogin, "console": "true"})
	})
)

// synthesise makes the deployment of a context.
func synthesise(context map[string]any) stage { return synthesiseTable(context, table.All) }

func synthesiseTable(context map[string]any, table []operations.Operation) stage {
	settings, err := ReadSettings(context)
	if err != nil {
		panic(err)
	}
	settings.Functions = dist
	flags := projectContext()
	app := awscdk.NewApp(&awscdk.AppProps{Context: &flags, AnalyticsReporting: jsii.Bool(false)})
	s := stage{stacks: map[string]template{}, made: NewStacks(app, settings, table)}
	for _, stack := range s.made {
		b, err := json.Marshal(assertions.Template_FromStack(stack, nil).ToJSON())
		if err != nil {
			panic(err)
		}
		var t template
		if err := json.Unmarshal(b, &t); err != nil {
			panic(err)
		}
		s.stacks[*stack.StackName()] = t
	}
	s.template = together(s.stacks)
	return s
}

// together merges templates into one, and replaces parameters with the values that other stacks publish, as a deploy does.
func together(stacks map[string]template) template {
	all := template{Resources: map[string]resource{}, Outputs: map[string]struct{ Value any }{}}
	published, read, texts := map[string]any{}, map[string]any{}, map[string]map[string]map[string]any{}
	for _, t := range stacks {
		for _, p := range t.of("AWS::SSM::Parameter") {
			published[p.Properties["Name"].(string)] = p.Properties["Value"]
		}
	}
	for _, t := range stacks {
		for id, p := range t.Parameters {
			if value, ok := published[p.Default]; ok {
				read[id] = value
			}
		}
		maps.Copy(texts, t.Mappings)
	}
	for _, name := range sorted(stacks) {
		for id, r := range stacks[name].Resources {
			if _, twice := all.Resources[id]; twice {
				panic("two stacks have " + id)
			}
			r.Properties, _ = resolve(r.Properties, read, texts).(map[string]any)
			all.Resources[id] = r
		}
		for id, o := range stacks[name].Outputs {
			o.Value = resolve(o.Value, read, texts)
			all.Outputs[id] = o
		}
	}
	return all
}

// resolve replaces references to parameters and to the template's own texts with their values.
func resolve(v any, values map[string]any, texts map[string]map[string]map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok && values[ref] != nil {
			return values[ref]
		}
		if at, ok := v["Fn::FindInMap"].([]any); ok {
			return texts[at[0].(string)][at[1].(string)][at[2].(string)]
		}
		out := map[string]any{}
		for key, value := range v {
			out[key] = resolve(value, values, texts)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = resolve(v[i], values, texts)
		}
		return out
	}
	return v
}

// projectContext is the context of cdk.json, whose flags change what the CDK makes.
func projectContext() map[string]any {
	b, err := os.ReadFile("../cdk.json")
	if err != nil {
		panic(err)
	}
	var project struct{ Context map[string]any }
	if err := json.Unmarshal(b, &project); err != nil {
		panic(err)
	}
	// scripts/synth checks templates against CloudFormation's rules; here that would take most of the time.
	project.Context["@aws-cdk/core:validateAgainstDefaultRules"] = false
	return project.Context
}

// of returns the resources of a type by logical id.
func (t template) of(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// id returns the logical id of a construct's resource of a type.
func (t template) id(test *testing.T, kind, construct string) string {
	test.Helper()
	pattern := regexp.MustCompile("^" + strings.NewReplacer("-", "", "_", "").Replace(construct) + "[0-9A-F]{8}$")
	for id := range t.of(kind) {
		if pattern.MatchString(id) {
			return id
		}
	}
	test.Fatalf("the template has no %s for %s", kind, construct)
	return ""
}

// value walks into nested properties; an absent one is nil.
func value(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

// function returns the function of a name.
func (t template) function(test *testing.T, name string) resource {
	test.Helper()
	return t.Resources[t.id(test, "AWS::Lambda::Function", name)]
}

// role returns the role of a function.
func (t template) role(function resource) resource {
	return t.Resources[strings.TrimSuffix(strings.Trim(text(function.Properties["Role"]), "${}"), ".Arn")]
}

// environment returns the variables of a function.
func environment(function resource) map[string]any {
	variables, _ := value(function.Properties, "Environment", "Variables").(map[string]any)
	return variables
}

// has checks nested properties by their paths, such as "Lifecycle/DeleteAfterDays". References are compared as text.
func has(t *testing.T, got any, want map[string]any, what string, args ...any) {
	t.Helper()
	found := map[string]any{}
	for path := range want {
		v := got
		for step := range strings.SplitSeq(path, "/") {
			if n, err := strconv.Atoi(step); err == nil {
				v = value(v, n)
			} else {
				v = value(v, step)
			}
		}
		if m, ok := v.(map[string]any); ok {
			v = text(m)
		}
		found[path] = v
	}
	expect.Equal(t, found, want, what, args...)
}

// tableARN is the ARN of a table as the service makes it from the table's name.
var tableARN = regexp.MustCompile(`arn:(?:aws|\$\{AWS::Partition\}):dynamodb:(?:[a-z0-9-]+|\$\{AWS::Region\}):(?:[0-9]+|\$\{AWS::AccountId\}):table/\$\{([A-Za-z0-9]+)\}`)

// text replaces intrinsic functions with text: a reference with ${id}, an attribute with ${id.attribute}, a join with its
// parts.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok {
			return "${" + ref + "}"
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprintf("${%v.%v}", get[0], get[1])
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var parts []string
			for _, p := range join[1].([]any) {
				parts = append(parts, text(p))
			}
			return tableARN.ReplaceAllString(strings.Join(parts, join[0].(string)), "$${${1}.Arn}")
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// list returns no value, one value or several as texts.
func list(v any) []string {
	if v == nil {
		return nil
	}
	values, ok := v.([]any)
	if !ok {
		return []string{text(v)}
	}
	var texts []string
	for _, v := range values {
		texts = append(texts, text(v))
	}
	return texts
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
