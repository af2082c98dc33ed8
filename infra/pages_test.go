package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// fills puts something into what a page leaves to the reader.
var fills = strings.NewReplacer("events:…:", "events:eu-central-1:111122223333:", "…", "12345678-1234-1234-1234-123456789012")

// shownStages are the deployments that pages show for cdk.json, by name, with what the text lets a reader fill in.
func shownStages(t *testing.T, pages map[string]string) map[string]any {
	t.Helper()
	fenced := regexp.MustCompile("(?s)```json\n(\"[a-z]+\": \\{.*?)```")
	inline := regexp.MustCompile("`(\"[a-z]+\": \\{[^`]*\\})`")
	all := map[string]any{}
	for name, text := range pages {
		for _, form := range []*regexp.Regexp{fenced, inline} {
			for _, shown := range form.FindAllStringSubmatch(text, -1) {
				one := map[string]any{}
				if err := json.Unmarshal([]byte("{"+fills.Replace(shown[1])+"}"), &one); err != nil {
					t.Errorf("%s shows %s: %v", name, shown[1], err)
				}
				maps.Copy(all, one)
			}
		}
	}
	return all
}

// TestPages_EachCDKCommand_HasSettingsThatAreAccepted: whoever types a line of a page, with the deployments that pages show, is not refused.
func TestPages_EachCDKCommand_HasSettingsThatAreAccepted(t *testing.T) {
	pages := map[string]string{}
	for _, path := range expect.Value(filepath.Glob("*.md"))(t) {
		pages[path] = strings.ReplaceAll(string(expect.Value(os.ReadFile(path))(t)), "\\\n", " ")
	}
	stages := shownStages(t, pages)
	for _, name := range []string{"prod", "second", "test", "staging"} {
		expect.That(t, stages[name] != nil, "no page shows the deployment %s", name)
	}
	command := regexp.MustCompile("\\./scripts/cdk (bootstrap|deploy|diff|indexes|destroy|synth)([^`#\n]*)")
	setting := regexp.MustCompile(`--context ([A-Za-z]+)=('[^']*'|\S+)`)
	lines, ofSecond := 0, 0
	for page, text := range pages {
		for _, line := range command.FindAllStringSubmatch(text, -1) {
			context := map[string]any{"stages": stages}
			for _, s := range setting.FindAllStringSubmatch(line[2], -1) {
				context[s[1]] = fills.Replace(strings.Trim(s[2], "'"))
			}
			_, err := ReadSettings(context)
			expect.That(t, err == nil, "%s: %s: %v", page, line[0], err)
			lines++
			if context["stage"] == "second" {
				ofSecond++
			}
		}
	}
	expect.That(t, lines >= 20 && ofSecond >= 3, "%d lines, %d of them of the second place", lines, ofSecond)
}

// TestPages_TheSecondPlace_IsADeploymentOfItsOwn, with and without its name, and with restored tables.
func TestPages_TheSecondPlace_IsADeploymentOfItsOwn(t *testing.T) {
	stages := shownStages(t, map[string]string{"elsewhere.md": string(expect.Value(os.ReadFile("elsewhere.md"))(t))})
	second, _ := stages["second"].(map[string]any)
	restored := map[string]string{}
	for id, name := range restoredNames() {
		restored[string(id)] = strings.ReplaceAll(name, "-prod-", "-second-")
	}
	second["domain"], second["hostedZone"], second["restoredTables"] = "api.wavegate.example", "Z0123456789", restored
	second["certificateArn"] = "arn:aws:acm:eu-west-1:111122223333:certificate/c-1"
	got := synthesise(map[string]any{"stage": "second", "stages": stages})
	for _, name := range []string{"wavegate-second", "wavegate-second-service", "wavegate-second-watch"} {
		_, made := got.stacks[name]
		expect.That(t, made, "there is no stack %s", name)
	}
	for id, r := range got.of("AWS::DynamoDB::Table") {
		name, _ := r.Properties["TableName"].(string)
		expect.That(t, !strings.Contains(name, "-prod-") && r.Properties["DeletionProtectionEnabled"] == true, "%s is %v", id, r.Properties)
	}
}
