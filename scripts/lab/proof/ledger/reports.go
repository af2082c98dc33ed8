package ledger

import (
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
)

// retired reports whether a box's registration was removed.
func retired(box Item) bool { return text(box, "organizationId") == "-" }

func pairOf(i Item) string { return text(i, "edgeType") + "/" + text(i, "channel") }

// auditReports checks the report rows. Every box has a row that agrees with its registration,
// because both are written together. Every row belongs to a box. An offer from a rollout has the
// rollout's target. A box that failed or fell back has a failure code. The index finds each row.
func (b Books) auditReports(f *findings) {
	boxes, rollouts, factories := map[string]Item{}, map[string]Item{}, map[string]string{}
	for _, box := range b[dynamo.Edges] {
		boxes[text(box, "edgeId")] = box
	}
	for _, r := range b[dynamo.Rollouts] {
		rollouts[text(r, "id")] = r
	}
	for _, i := range b[dynamo.Factories] {
		factories[text(i, "factoryId")] = text(i, "organizationId")
	}
	for id, box := range boxes {
		if factory := text(box, "factoryId"); factory != "" && factories[factory] != text(box, "organizationId") {
			f.add("the box %s of %s is in a factory of %q", id, text(box, "organizationId"), factories[factory])
		}
	}
	for _, row := range b[dynamo.Reports] {
		id := text(row, "edgeId")
		box := boxes[id]
		if box == nil {
			f.add("reports: %v belongs to no box", row)
			continue
		}
		delete(boxes, id)
		if text(row, "edgeAt") != text(box, "updatedAt") || pairOf(row) != pairOf(box) || text(row, "factoryId") != text(box, "factoryId") ||
			!retired(box) && text(row, "organizationId") != text(box, "organizationId") ||
			(row["retired"] == true) != retired(box) {
			f.add("reports: the row %v does not match the registration of the box %v", row, box)
		}
		offer, key := object(row, "offer"), "-#-#0#"
		if offer != nil {
			key = text(offer, "version") + "#" + text(offer, "state") + "#"
		}
		if rollout := text(offer, "rolloutId"); rollout != "" && text(rollouts[rollout], "targetVersion") != text(offer, "version") {
			f.add("reports: %v was offered by the rollout %v", offer, rollouts[rollout])
		}
		f.auditCode(offer)
		place := pairOf(row)
		if retired(box) {
			place = "-"
		}
		if stateKey := text(row, "stateKey"); !strings.HasPrefix(stateKey, key) || !strings.HasSuffix(stateKey, "#"+id) ||
			!strings.HasPrefix(text(row, "shard"), place+"#") || text(row, "rolloutId") != text(offer, "rolloutId") || text(row, "code") != text(offer, "code") {
			f.add("reports: the index does not find %v", row)
		}
	}
	for id := range boxes {
		f.add("reports: the box %s has no row", id)
	}
}

func (f *findings) auditCode(offer Item) {
	code, state := report.FailureCode(text(offer, "code")), report.State(text(offer, "state"))
	if code == "" && (state == report.Failed || state == report.Reverted) {
		f.add("reports: %v failed without a failure code", offer)
	}
	if code != "" && code != report.CodeReverted && !slices.Contains(report.Codes, code) {
		f.add("reports: %v has an unknown failure code", offer)
	}
}

// CountBoxes counts the boxes of a rollout by the status in their rows.
func (b Books) CountBoxes(rollout Item) map[string]int {
	n := map[string]int{}
	for _, row := range b[dynamo.Reports] {
		offer := object(row, "offer")
		if row["retired"] != true && pairOf(row) == pairOf(rollout) && text(offer, "rolloutId") == text(rollout, "id") {
			n[text(offer, "state")]++
		}
	}
	return n
}

// Carried lists the rollouts in the rows of channels. Their boxes are still counted.
func (b Books) Carried() []Item {
	var list []Item
	for _, r := range b[dynamo.Rollouts] {
		if slices.ContainsFunc(b[dynamo.Channels], func(row Item) bool { return text(object(row, "rollout"), "id") == text(r, "id") }) {
			list = append(list, r)
		}
	}
	return list
}

// report checks an accepted report against the box's polls: one of them must have offered the version. A poll by DDI that
// names a deployment may have, because its answer does not show the version.
func (x *explainer) report(c Call, calls []Call) {
	if !c.done() {
		return
	}
	offers := func(poll Call) bool {
		box := c.Parameter["edgeId"]
		switch {
		case !poll.Began.Before(c.Ended):
			return false
		case poll.Operation == "get-manifest" && poll.Parameter["edgeId"] == box:
			return poll.unknown() || poll.Status == http.StatusOK && text(poll.answered(), "version") == text(c.fields(), "version")
		case poll.Operation == "get-ddi-base" && poll.controller() == box:
			return poll.unknown() || strings.Contains(string(poll.Answer), "deploymentBase")
		}
		return false
	}
	if !slices.ContainsFunc(calls, offers) {
		x.add("%s was accepted, but no poll offered that version to the box", c)
	}
}
