package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wavegate/shared/operations"
)

// Bounds of CloudFormation: a template has 1 MB at the most and 200 parameters.
const (
	maxTemplate   = 1_000_000
	maxParameters = 200
)

// TestRoom_NinetyOperations_FitIntoTheLargestStack: with everything set that can be set. The operations that
// there are stand for those to come, under paths of their own.
func TestRoom_NinetyOperations_FitIntoTheLargestStack(t *testing.T) {
	table := ninety(t)
	for name, stacks := range map[string]stage{"90 operations": synthesiseTable(fullContext(), table), "all settings": full(), "dev": dev()} {
		for stack, template := range stacks.stacks {
			b, err := json.Marshal(template)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s has %d resources, %d parameters, %d bytes", name, stack, len(template.Resources), len(template.Parameters), len(b))
			if len(template.Resources) >= maxResources || len(template.Parameters) > maxParameters || len(b) > maxTemplate {
				t.Errorf("%s: %s has %d resources, %d parameters, %d bytes", name, stack, len(template.Resources), len(template.Parameters), len(b))
			}
		}
	}
}

// ninety is a table of 90 operations, each with its function.
func ninety(t *testing.T) []operations.Operation {
	t.Helper()
	table := slices.Clone(operations.Table)
	for n := 0; len(table) < 90; n++ {
		op := operations.Table[n%len(operations.Table)]
		if op.ID == "copilot" {
			continue // there is one assistant
		}
		op.ID = fmt.Sprintf("%s-%d", op.ID, n)
		op.Path = fmt.Sprintf("/api/part%d%s", n%7, op.Path[len("/api"):])
		table = append(table, op)
		if err := os.MkdirAll(filepath.Join(dist, op.ID), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dist, op.ID, "bootstrap"), []byte(op.ID), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return table
}
