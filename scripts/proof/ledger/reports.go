package ledger

import (
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// retired tells whether a box's registration was taken back.
func retired(box Item) bool { return text(box, "organizationId") == "-" }

func pairOf(i Item) string { return text(i, "edgeType") + "/" + text(i, "channel") }

// auditReports: every box has a report row that places it where its registration does, since both are written
// together, and every row is of a box. What a row was offered by a rollout, that rollout brings. The index finds
// the row by what it holds.
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
			f.add("the box %s of %s stands in a factory of %q", id, text(box, "organizationId"), factories[factory])
		}
	}
	for _, row := range b[dynamo.Reports] {
		id := text(row, "edgeId")
		box := boxes[id]
		if box == nil {
			f.add("reports: %v is of no box", row)
			continue
		}
		delete(boxes, id)
		if text(row, "edgeAt") != text(box, "updatedAt") || pairOf(row) != pairOf(box) || text(row, "factoryId") != text(box, "factoryId") ||
			!retired(box) && text(row, "organizationId") != text(box, "organizationId") ||
			(row["retired"] == true) != retired(box) {
			f.add("reports: the row %v does not place the box %v", row, box)
		}
		offer, key := object(row, "offer"), "-#-#0#"
		if offer != nil {
			key = text(offer, "version") + "#" + text(offer, "stand") + "#"
		}
		if rollout := text(offer, "rolloutId"); rollout != "" && text(rollouts[rollout], "targetVersion") != text(offer, "version") {
			f.add("reports: %v was offered by the rollout %v", offer, rollouts[rollout])
		}
		if (text(offer, "code") != "") != (text(offer, "stand") == "failed") {
			f.add("reports: %v tells of a failure and is none, or the other way", offer)
		}
		place := pairOf(row)
		if retired(box) {
			place = "-"
		}
		if standing := text(row, "standing"); !strings.HasPrefix(standing, key) || !strings.HasSuffix(standing, "#"+id) ||
			!strings.HasPrefix(text(row, "shard"), place+"#") || text(row, "rolloutId") != text(offer, "rolloutId") || text(row, "code") != text(offer, "code") {
			f.add("reports: the index does not find %v", row)
		}
	}
	for id := range boxes {
		f.add("reports: the box %s has no row", id)
	}
}

// Standing counts the boxes of a rollout by how they got on, as their rows say.
func (b Books) Standing(rollout Item) map[string]int {
	n := map[string]int{}
	for _, row := range b[dynamo.Reports] {
		offer := object(row, "offer")
		if row["retired"] != true && pairOf(row) == pairOf(rollout) && text(offer, "rolloutId") == text(rollout, "id") {
			n[text(offer, "stand")]++
		}
	}
	return n
}

// Carried are the rollouts that channels carry: the ones whose boxes are still counted.
func (b Books) Carried() []Item {
	var list []Item
	for _, r := range b[dynamo.Rollouts] {
		if slices.ContainsFunc(b[dynamo.Channels], func(row Item) bool { return text(object(row, "wave"), "id") == text(r, "id") }) {
			list = append(list, r)
		}
	}
	return list
}

// report holds a box's report that was taken against its polls: it is about a version that one of them can have
// told it.
func (x *explainer) report(c Call, calls []Call) {
	if !c.done() {
		return
	}
	for _, poll := range calls {
		if poll.Operation != "get-manifest" || poll.Parameter["edgeId"] != c.Parameter["edgeId"] || !poll.Began.Before(c.Ended) {
			continue
		}
		if poll.unknown() || poll.Status == http.StatusOK && text(poll.answered(), "version") == text(c.fields(), "version") {
			return
		}
	}
	x.add("%s was taken, and no poll told the box of that version", c)
}
