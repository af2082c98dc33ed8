package census

import (
	"maps"
	"strings"
	"testing"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	// A count by factory has neither work nor a judgement.
	whole := golden.Most{
		"answer.stages[]": len(cohort.Stages), "answer.failures": len(report.Codes) + 1, "answer.silent.edgeIds[]": MostSilentNamed, "answer.silent.edgeIds": 128,
		"answer.silent.dark[]": mostDark, "answer.waiting.closed[]": mostClosed, "answer.waiting.closed[].for": 16,
		"answer.factories[]": 0, "answer.factories[].waits": 8, "answer.factories[].timeZone": 32, "answer.work[]": mostWork * guard.MostNumbers, "answer.work[].name": 32,
		"answer.guard.reasons[]": 32, "answer.guard.reasons": 32, "answer.guard.sentence": 16 << 10, "answer.guard.health[]": guard.MostNumbers,
		"answer.guard.looks[]": len(cohort.Stages), "answer.guard.surveys[]": len(cohort.Stages), "answer.guard.surveys[].absent[]": 10, "answer.guard.surveys[].absent[].name": 32, "answer.guard.surveys[].absent[].value": 256,
		"answer.guard.taken.causes": 16, "answer.guard.youngStop[]": 16, "answer.guard.youngStop": 64}
	byFactory := maps.Clone(whole)
	maps.DeleteFunc(byFactory, func(path string, _ int) bool { return strings.HasPrefix(path, "answer.guard.") })
	byFactory["answer.factories[]"], byFactory["answer.work[]"], byFactory["answer.guard"] = mostFactories, 0, 0
	golden.Kept[head[Progress]](t, dynamo.Progress, "census of a rollout", whole, byFactory)
	golden.Kept[head[ChannelVersions]](t, dynamo.Progress, "census of a channel", golden.Most{"answer.versions[]": MostVersions})
	golden.Kept[head[string]](t, dynamo.Progress, "census of an organization", golden.Most{"answer": mostOwnText})
	golden.Kept[head[report.Ran]](t, dynamo.Progress, "census of a release")
	golden.Kept[Hour](t, dynamo.Progress, "hour", golden.Most{"moments[]": 60})
	golden.Kept[warningsItem](t, dynamo.Progress, "warnings", golden.Most{"given[]": 5 * 32 * len(cohort.Stages), "given[].event": 24, "given[].reason": 24})
}
