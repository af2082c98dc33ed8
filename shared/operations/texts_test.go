package operations_test

import (
	"slices"
	"testing"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

// TestTexts_ThatPeopleSend_AreVisible: no field of a body is stored with characters that hide, or change the order of
// others. What boxes say is stored without them.
func TestTexts_ThatPeopleSend_AreVisible(t *testing.T) {
	cleaned := []string{"put-method-report /order", "put-method-report /detail", "put-ddi-config-data /data/installed"}
	for _, op := range table.All {
		if op.Takes.Body == nil {
			continue
		}
		var hidden []string
		eachText("", op.Takes.Body, func(pointer string, is *input.Text) {
			for _, text := range []string{"gpj\u202e", "a\u200bb", "a\u202eb"} {
				if name := op.ID + " " + pointer; is.Accepts(text) && !slices.Contains(cleaned, name) && !slices.Contains(hidden, name) {
					hidden = append(hidden, name)
				}
			}
		})
		expect.Equal(t, len(hidden), 0, "fields that take hidden characters: %v", hidden)
	}
}

// eachText calls a function with each rule of a text in a rule.
func eachText(pointer string, is input.Rule, each func(pointer string, is *input.Text)) {
	switch is := is.(type) {
	case *input.Text:
		each(pointer, is)
	case *input.List:
		if is.Of != nil {
			eachText(pointer+"/0", is.Of, each)
		}
	case *input.Shape:
		for _, f := range is.Fields {
			eachText(pointer+"/"+f.Name, f.Is, each)
		}
		if is.Names != nil {
			each(pointer+"/*", is.Names)
			eachText(pointer+"/*", is.Values, each)
		}
	}
}
