package method

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/content"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[methodItem](t, dynamo.Methods, "method", golden.Most{"": mostBytes})
	golden.Kept[versionItem](t, dynamo.MethodVersions, "version", golden.Most{
		"authors[]": maxAuthors, "signatures[]": mostSigned, "signatures[].meaning": 16, "decisions[]": mostSigned, "decisions[].rule": 16, "decisions[].machines[]": maxTrialMachines,
		"equipment.classes[]": 20, "equipment.machines[]": 20})
	golden.Kept[contentItem](t, dynamo.MethodContents, "content", golden.Most{"bytes": content.MaxBytes})
	golden.Kept[onMachineItem](t, dynamo.MethodReports, "report of a machine", golden.Most{
		"versions[]": maxHad, "versions[].order": 256, "orders[]": mostOrders, "orders[].order": 256, "unlisted[]": maxVersions / 2, "unlisted": 4, "gone[]": maxVersions / 2, "gone": 4,
		"deviations[]": maxHad, "deviations[].order": 256, "otherBytes[]": mostOthers, "otherBytes[].order": 256, "confirmed[]": maxConfirmed})
	golden.Kept[place](t, dynamo.MethodPlaces, "place")
	golden.Kept[Recall](t, dynamo.Progress, "recall")
}
