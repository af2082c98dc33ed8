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
	for name, s := range stages() {
		for route := range s.api(t).routes() {
			if strings.HasSuffix(route, "/docs") || strings.HasSuffix(route, "/openapi.yaml") {
				t.Errorf("%s has %s", name, route)
			}
		}
		for id := range s.of("AWS::Lambda::Function") {
			if strings.HasPrefix(id, operations.Docs) {
				t.Errorf("%s has %s", name, id)
			}
		}
	}
}

// TestDocs_AskedFor_OpenTheirPathsAndNothingElse: the pages are open to anyone and may read nothing; every
// other method still requires the authorizer.
func TestDocs_AskedFor_OpenTheirPathsAndNothingElse(t *testing.T) {
	template := pages().template
	function := template.id(t, "AWS::Lambda::Function", operations.Docs)
	var open []string
	for route, m := range template.api(t).routes() {
		if m["security"] != nil || mocked(m) {
			continue
		}
		method, path, _ := strings.Cut(route, " ")
		if slices.Contains(operations.ConsolePaths, path) {
			continue
		}
		open = append(open, path)
		if got := functionOf(value(m, "x-amazon-apigateway-integration", "uri")); method != "GET" || got != function {
			t.Errorf("%s is open, and invokes %s", route, got)
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
}

func TestDocs_WithoutTheRenderer_AreNotDeployed(t *testing.T) {
	functions := t.TempDir()
	settings := Settings{Functions: functions, Docs: true}
	if err := checkDocs(settings); err == nil || !strings.Contains(err.Error(), "./scripts/contract docs") {
		t.Errorf("got %v", err)
	}
	if err := checkDocs(Settings{Functions: functions}); err != nil {
		t.Errorf("without the setting docs: %v", err)
	}
	if err := os.Mkdir(filepath.Join(functions, operations.Docs), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(functions, operations.Docs, "redoc.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkDocs(settings); err != nil {
		t.Error(err)
	}
}
