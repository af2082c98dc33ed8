package main

import (
	"os"
	"path/filepath"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

func TestDocs_WithoutTheRenderer_AreNotDeployed(t *testing.T) {
	functions := t.TempDir()
	settings := Settings{Functions: functions, Docs: true}
	expect.Error(t, checkDocs(settings), "./scripts/contract docs", "it says")
	if err := checkDocs(Settings{Functions: functions}); err != nil {
		t.Errorf("without the setting docs: %v", err)
	}
	expect.OK(t, os.Mkdir(filepath.Join(functions, operations.Docs), 0o755))
	expect.OK(t, os.WriteFile(filepath.Join(functions, operations.Docs, "redoc.js"), nil, 0o600))
	if err := checkDocs(settings); err != nil {
		t.Error(err)
	}
	settings.Functions = t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(settings.Functions, operations.Docs+".zip"), zipped(t, "redoc.js", nil), 0o600))
	if err := checkDocs(settings); err != nil {
		t.Errorf("in a release: %v", err)
	}
}
