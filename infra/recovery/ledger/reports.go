package ledger

import (
	"slices"
	"strings"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
)

// retired reports whether a box's registration was removed.
func retired(box Item) bool { return Text(box, "organizationId") == "-" }

func pairOf(i Item) string { return Text(i, "edgeType") + "/" + Text(i, "channel") }

// auditReports checks the report rows. Every box has a row that agrees with its registration,
// because both are written together. Every row belongs to a box. An offer from a rollout has the
// rollout's target, or a release on the way to it. A box that failed or fell back has a failure code. The index finds each row.
func (b Books) auditReports(f *Findings) {
	boxes, rollouts, factories := map[string]Item{}, map[string]Item{}, map[string]string{}
	for _, box := range b[dynamo.Edges] {
		boxes[Text(box, "edgeId")] = box
	}
	for _, r := range b[dynamo.Rollouts] {
		rollouts[Text(r, "id")] = r
	}
	for _, i := range b[dynamo.Factories] {
		factories[Text(i, "factoryId")] = Text(i, "organizationId")
	}
	for id, box := range boxes {
		if factory := Text(box, "factoryId"); factory != "" && factories[factory] != Text(box, "organizationId") {
			f.Add("the box %s of %s is in a factory of %q", id, Text(box, "organizationId"), factories[factory])
		}
	}
	for _, row := range b[dynamo.Reports] {
		id := Text(row, "edgeId")
		if !report.IsBox(id) {
			continue
		}
		box := boxes[id]
		if box == nil {
			f.Add("reports: %v belongs to no box", row)
			continue
		}
		delete(boxes, id)
		if Text(row, "edgeAt") != Text(box, "updatedAt") || pairOf(row) != pairOf(box) || Text(row, "factoryId") != Text(box, "factoryId") ||
			!retired(box) && Text(row, "organizationId") != Text(box, "organizationId") ||
			(row["retired"] == true) != retired(box) {
			f.Add("reports: the row %v does not match the registration of the box %v", row, box)
		}
		offer := Object(row, "offer")
		if rollout := Text(offer, "rolloutId"); rollout != "" && !b.brings(rollouts[rollout], Text(offer, "version")) {
			f.Add("reports: %v was offered by the rollout %v", offer, rollouts[rollout])
		}
		f.auditCode(offer)
		place := pairOf(row)
		if retired(box) {
			place = "-"
		}
		if Text(row, "stateKey") != as[report.Row](row).Entry().StateKey() || !strings.HasPrefix(Text(row, "shard"), place+"#") || Text(row, "rolloutId") != Text(offer, "rolloutId") || Text(row, "code") != Text(offer, "code") {
			f.Add("reports: the index does not find %v", row)
		}
	}
	for id := range boxes {
		f.Add("reports: the box %s has no row", id)
	}
}

// brings reports whether a rollout brings a version: its target, or a release that boxes have to run before.
func (b Books) brings(rollout Item, version string) bool {
	target := Text(rollout, "targetVersion")
	return version == target || slices.ContainsFunc(b[dynamo.Releases], func(i Item) bool {
		return Text(i, "edgeType") == Text(rollout, "edgeType") && Text(i, "version") == target && as[release.Release](i).Way.Order(version) > 0
	})
}

func (f *Findings) auditCode(offer Item) {
	code, state := report.FailureCode(Text(offer, "code")), report.State(Text(offer, "state"))
	if code == "" && (state == report.Failed || state == report.Reverted) {
		f.Add("reports: %v failed without a failure code", offer)
	}
	if code != "" && code != report.CodeReverted && !slices.Contains(report.Codes, code) {
		f.Add("reports: %v has an unknown failure code", offer)
	}
}
