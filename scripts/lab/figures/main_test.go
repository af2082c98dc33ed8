package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write puts a template where the CDK would, and returns its path.
func write(t *testing.T, settings, stack, template string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), settings, stack+".template.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRun_CountsEachTemplateAndAllSuppressions(t *testing.T) {
	const rule = `{"cdk_nag":{"rules_to_suppress":[{"id":"R1","reason":"Because."}]}}`
	data := write(t, "dev", "data", `{"Metadata":`+rule+`,"Parameters":{"P":{}},"Resources":{"A":{"Metadata":`+rule+`},"B":{}}}`)
	service := write(t, "prod", "service", `{"Resources":{"C":{}}}`)
	var out strings.Builder
	if err := run(&out, []string{data, service}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| dev | data | 2 | 1 | 208 | 2 |\n", "| prod | service | 1 | 0 | 22 | 0 |\n", "- 2 × R1: Because.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func TestRun_FileThatIsNoTemplate_IsNamed(t *testing.T) {
	file := write(t, "dev", "data", "{")
	var out strings.Builder
	if err := run(&out, []string{file}); err == nil || !strings.Contains(err.Error(), file) || out.Len() > 0 {
		t.Errorf("said %v, and wrote %q", err, &out)
	}
}
