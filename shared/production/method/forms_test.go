package method

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[methodItem](t, dynamo.Methods, "method")
	golden.Kept[versionItem](t, dynamo.MethodVersions, "version")
	golden.Kept[contentItem](t, dynamo.MethodContents, "content")
	golden.Kept[onMachineItem](t, dynamo.MethodReports, "report of a machine")
	golden.Kept[place](t, dynamo.MethodPlaces, "place")
	golden.Kept[Recall](t, dynamo.Progress, "recall")
}
