package dynamolocal

import (
	"path/filepath"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestReference_WithADataDirectory_KeepsDataBetweenRuns(t *testing.T) {
	expect.Full(t)
	dir := filepath.Join(t.TempDir(), "made", "if", "absent")
	for run := range 2 {
		s := expect.Value(Reference(t.Context(), ReferenceOptions{DataDir: dir}))(t)
		expect.OK(t, CreateTables(t.Context(), s.Client()))
		if run == 0 {
			putFactory(t, s, "munich-1")
		} else if !has(t, s, "munich-1") {
			t.Error("the item was not kept")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
