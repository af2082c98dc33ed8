package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// dist stands for the built functions: what is in them does not matter to a template.
var dist string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	defer jsii.Close()
	var err error
	if dist, err = os.MkdirTemp("", "dist"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(dist)
	for _, name := range append(operations.Functions(), preTokenGeneration) {
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
	DependsOn           []string
	DeletionPolicy      string
	UpdateReplacePolicy string
}

type template struct {
	Resources map[string]resource
	Outputs   map[string]struct{ Value any }
}

// The two stages as they are when nothing is set, dev with its contract served, and prod with
// everything else that can be set. Each is synthesised once, which takes its time.
var (
	dev  = sync.OnceValue(func() template { return synthesise(nil) })
	prod = sync.OnceValue(func() template { return synthesise(map[string]any{"stage": "prod"}) })
	docs = sync.OnceValue(func() template { return synthesise(map[string]any{"docs": "true"}) })
	full = sync.OnceValue(func() template {
		return synthesise(map[string]any{
			"stage": "prod", "alarmEmail": "ops@example.com", "origins": "https://a.example,https://b.example",
			"issuers": "[" + fleet + "]", "copilotUrl": "https://assistant.example",
			"copilotSecret": "wavegate/copilot", "copilotSecretVersion": "v1",
		})
	})
)

// synthesise gives the template that a context leads to.
func synthesise(context map[string]any) template {
	stack := newStack(context)
	b, err := json.Marshal(assertions.Template_FromStack(stack, nil).ToJSON())
	if err != nil {
		panic(err)
	}
	var t template
	if err := json.Unmarshal(b, &t); err != nil {
		panic(err)
	}
	return t
}

func newStack(context map[string]any) awscdk.Stack {
	settings, err := ReadSettings(context)
	settings.Functions = dist
	if err != nil {
		panic(err)
	}
	flags := projectContext()
	app := awscdk.NewApp(&awscdk.AppProps{Context: &flags, AnalyticsReporting: jsii.Bool(false)})
	return NewStack(app, settings)
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
	return project.Context
}

// of gives the resources of a type by logical id.
func (t template) of(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// id gives the logical id of the resource of a type that a construct was made for.
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

// text writes intrinsic functions as the text that they stand for: a reference as ${id}, an
// attribute as ${id.attribute}, a join as its parts.
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
			return strings.Join(parts, join[0].(string))
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// list gives none, one or several values as texts.
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
