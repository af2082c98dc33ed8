package report

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[item](t, dynamo.Reports, "report", golden.Most{
		"attributes": MostAttributes, "attributes.*": 256, "said": MostAttributes, "said.*": 256, "saidBefore.said": MostAttributes, "saidBefore.said.*": 256,
		"bannedSha256[]": mostRemembered, "endedSha256[]": mostRemembered, "heard[]": mostHeard, "health.before": mostSaid, "health.now": mostSaid})
	golden.Kept[trace](t, dynamo.Reports, "trace", golden.Most{"attributes": MostAttributes, "attributes.*": 256})
	golden.Kept[Group](t, dynamo.Reports, "group", golden.Most{"members[]": MostInGroup, "members": 128})
	golden.Kept[Past](t, dynamo.Stays, "stay")
}
