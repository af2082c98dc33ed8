package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// maxParameters is how many parameters a template may have.
const maxParameters = 200

// usedTemplate is how many bytes a template may have. CloudFormation takes a megabyte; the difference is a reserve.
const usedTemplate = 700_000

// metadata is how many bytes the CDK command adds to each resource for its origin.
const metadata = 150

// TestRoom_NinetyOperations_FitIntoTheLargestStack: with all settings. Copies of the existing operations represent
// future ones, half of them under existing paths and half in new areas.
func TestRoom_NinetyOperations_FitIntoTheLargestStack(t *testing.T) {
	table := ninety(t)
	for name, stacks := range map[string]stage{"90 operations": synthesiseTable(fullContext(), table), "all settings": full(), "dev": dev()} {
		for stack, template := range stacks.stacks {
			b := expect.Value(json.Marshal(template))(t)
			size := len(b) + metadata*len(template.Resources)
			t.Logf("%s: %s has %d resources, %d parameters, %d bytes", name, stack, len(template.Resources), len(template.Parameters), size)
			if len(template.Resources) >= maxResources || len(template.Parameters) > maxParameters || size >= usedTemplate {
				t.Errorf("%s: %s is too large", name, stack)
			}
		}
	}
}

// ninety is a table of 90 operations, each with its function.
func ninety(t *testing.T) []operations.Operation {
	t.Helper()
	rows := slices.Clone(table.All)
	for n := 0; len(rows) < 90; n++ {
		op := table.All[n%len(table.All)]
		if op.ID == "copilot" {
			continue // there is only one assistant
		}
		op.ID = fmt.Sprintf("%s-%d", op.ID, n)
		if n%2 == 0 {
			op.Path = fmt.Sprintf("%s/part-%d", op.Path, n)
		} else {
			op.Path = fmt.Sprintf("/api/area%d%s", n%3, op.Path[len("/api"):])
		}
		rows = append(rows, op)
		expect.OK(t, os.MkdirAll(filepath.Join(dist, op.ID), 0o755))
		expect.OK(t, os.WriteFile(filepath.Join(dist, op.ID, "bootstrap"), []byte(op.ID), 0o755))
	}
	return rows
}
