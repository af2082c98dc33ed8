package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations"
)

func TestDocs_UnlessAskedFor_AreInNoStack(t *testing.T) {
	for name, template := range map[string]template{"dev": dev(), "prod": prod()} {
		for id, r := range template.Resources {
			if part := r.Properties["PathPart"]; strings.HasPrefix(id, operations.Docs) || part == "docs" || part == "openapi.yaml" {
				t.Errorf("%s has %s", name, id)
			}
		}
	}
}

// TestDocs_AskedFor_OpenTheirPathsAndNothingElse: what is added is open to anyone, may read nothing and
// is throttled by itself; every other method asks the authorizer as before.
func TestDocs_AskedFor_OpenTheirPathsAndNothingElse(t *testing.T) {
	template := docs()
	function := template.id(t, "AWS::Lambda::Function", operations.Docs)
	var open []string
	for id, m := range template.of("AWS::ApiGateway::Method") {
		if m.Properties["AuthorizationType"] == "CUSTOM" || mocked(m) {
			continue
		}
		open = append(open, path(template, m))
		if m.Properties["HttpMethod"] != "GET" || m.Properties["AuthorizationType"] != "NONE" {
			t.Errorf("%s is open to %v (%v)", id, m.Properties["HttpMethod"], m.Properties["AuthorizationType"])
		}
		if uri := text(value(m.Properties, "Integration", "Uri")); !strings.Contains(uri, "${"+function+".Arn}/invocations") {
			t.Errorf("%s invokes %s", id, uri)
		}
	}
	slices.Sort(open)
	if !slices.Equal(open, operations.DocsPaths) {
		t.Errorf("open are %v, want %v", open, operations.DocsPaths)
	}

	role := strings.TrimSuffix(strings.Trim(text(template.Resources[function].Properties["Role"]), "${}"), ".Arn")
	if got, want := allowances(template.Resources[role]), rowAllowances(t, template, operations.Docs, nil); !slices.Equal(got, want) {
		t.Errorf("the function may %v, want %v", got, want)
	}
	for _, s := range template.of("AWS::ApiGateway::Stage") {
		throttled := 0
		for i := range list(s.Properties["MethodSettings"]) {
			setting := value(s.Properties, "MethodSettings", i).(map[string]any)
			if setting["ResourcePath"] == "/*" {
				continue
			}
			throttled++
			resource := strings.ReplaceAll(setting["ResourcePath"].(string)[1:], "~1", "/")
			if !slices.Contains(operations.DocsPaths, resource) || setting["HttpMethod"] != "GET" || setting["ThrottlingRateLimit"] != 2.0 || setting["ThrottlingBurstLimit"] != 6.0 ||
				setting["LoggingLevel"] != "ERROR" || setting["DataTraceEnabled"] != false {
				t.Errorf("the settings of a method are %v", setting)
			}
		}
		if throttled != len(operations.DocsPaths) {
			t.Errorf("%d paths have a bound of their own", throttled)
		}
	}
}

func TestDocs_WithoutTheRenderer_AreNotDeployed(t *testing.T) {
	functions := t.TempDir()
	settings := Settings{Functions: functions, Docs: true}
	if err := guardDocs(settings); err == nil || !strings.Contains(err.Error(), "./scripts/contract docs") {
		t.Errorf("got %v", err)
	}
	if err := guardDocs(Settings{Functions: functions}); err != nil {
		t.Errorf("nobody asked for docs: %v", err)
	}
	if err := os.Mkdir(filepath.Join(functions, operations.Docs), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(functions, operations.Docs, "redoc.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := guardDocs(settings); err != nil {
		t.Error(err)
	}
}
