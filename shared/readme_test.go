// Package shared has the test of its README.
package shared

import (
	"os"
	"regexp"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestREADME_NamesTheRules: each name of the table is declared in its file.
func TestREADME_NamesTheRules(t *testing.T) {
	page := expect.Value(os.ReadFile("README.md"))(t)
	rows := regexp.MustCompile("(?m)^\\| .* \\| \\[[a-z_]+\\.go\\]\\((\\S+)\\) \\| `(\\w+)` \\|$").FindAllSubmatch(page, -1)
	expect.Must(t, len(rows) >= 8, "the table has %d rows", len(rows))
	for _, row := range rows {
		text, err := os.ReadFile(string(row[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		name := string(row[2])
		if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |\t|var |const )` + name + `\b`).Match(text) {
			t.Errorf("%s declares no %s", row[1], name)
		}
	}
}
