package main

import (
	"os"
	"path/filepath"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestSource_KnowsOnlyTheSettingsThatItsAppReads(t *testing.T) {
	s := &source{root: t.TempDir()}
	for name, text := range map[string]string{
		"settings.go":      "package main\n\nvar keep = r.flag(\"keep\", false)\n// \"quoted\"Other\n",
		"settings_test.go": "package main\n\nvar later = \"later\"\n",
	} {
		file := filepath.Join(s.root, "infra", name)
		expect.OK(t, os.MkdirAll(filepath.Dir(file), 0o750))
		expect.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for setting, want := range map[string]bool{"keep=true": true, "kee=true": false, "later=1": false, "issuers=[]": false} {
		if known, err := s.knows(setting); err != nil || known != want {
			t.Errorf("%s: %t %v", setting, known, err)
		}
	}
}
