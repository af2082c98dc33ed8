package golden_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/golden"
)

// TestKinds_EachIsRecorded_AndReadByATest: the package that stores a kind reads its items in forms_test.go.
func TestKinds_EachIsRecorded_AndReadByATest(t *testing.T) {
	reads := regexp.MustCompile(`golden\.(?:Kept\[.+\]|Of)\(t, (dynamo\.\w+), "([^"]+)"`)
	read := map[string]bool{}
	expect.OK(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "forms_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range reads.FindAllStringSubmatch(string(text), -1) {
			table := strings.ToLower(strings.TrimPrefix(m[1], "dynamo."))
			if table == "methods" {
				table = string(dynamo.Methods) // the table kept its first name
			}
			read[table+": "+m[2]] = true
		}
		return err
	}))
	tables := map[dynamo.TableID]bool{}
	for _, k := range golden.Kinds {
		tables[k.Table] = true
		golden.Of(t, k.Table, k.Name)
		name := strings.ReplaceAll(string(k.Table), "-", "") + ": " + k.Name
		expect.That(t, read[name], "no forms_test.go reads the golden items of %s", k)
	}
	for _, table := range dynamo.Tables {
		expect.That(t, tables[table.ID], "the table %s has no kind", table.ID)
	}
}
