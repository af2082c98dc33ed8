package answers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
)

func pairOf(i ledger.Item) string {
	return ledger.Text(i, "edgeType") + "/" + ledger.Text(i, "channel")
}

// CountBoxes counts the boxes of a rollout by the status in their rows, and in the traces of those whose registration
// changed. A box that failed counts as failed, also if it came back.
func CountBoxes(b ledger.Books, rollout ledger.Item) map[string]int {
	type state struct{ name, code, since string }
	here, left := map[string]state{}, map[string]state{}
	for _, row := range b[dynamo.Reports] {
		key := strings.Split(ledger.Text(row, "stateKey")+"#", "#") // a box on a stone counts as told
		switch trace := strings.HasPrefix(ledger.Text(row, "edgeId"), report.TracePrefix); {
		case row["retired"] == true || pairOf(row) != pairOf(rollout) || ledger.Text(row, "rolloutId") != ledger.Text(rollout, "id"):
		case trace:
			s := state{key[1], ledger.Text(row, "code"), ledger.Text(row, "since")}
			box := ledger.Text(row, "box")
			was, known := left[box]
			if !known || !blames(was.code) && (blames(s.code) || s.since > was.since) {
				left[box] = s
			}
		default:
			here[ledger.Text(row, "edgeId")] = state{name: key[1]}
		}
	}
	for box, s := range left {
		if _, back := here[box]; !back || blames(s.code) {
			here[box] = s
		}
	}
	n := map[string]int{}
	for _, s := range here {
		n[s.name]++
	}
	return n
}

func blames(code string) bool { return report.FailureCode(code).BlamesRelease() }

// Carried lists the rollouts in the rows of channels. Their boxes are still counted.
func Carried(b ledger.Books) []ledger.Item {
	var list []ledger.Item
	for _, r := range b[dynamo.Rollouts] {
		if slices.ContainsFunc(b[dynamo.Channels], func(row ledger.Item) bool {
			return ledger.Text(ledger.Object(row, "rollout"), "id") == ledger.Text(r, "id")
		}) {
			list = append(list, r)
		}
	}
	return list
}

// report checks an accepted report against the box's polls: one of them must have offered the version. A poll by DDI that
// names a deployment may have, because its answer does not show the version. A report that nobody can read is accepted, too, and is
// about nothing.
func (x *explainer) report(c Call, calls []Call) {
	if !c.done() || ledger.Text(c.fields(), "version") == "" {
		return
	}
	offers := func(poll Call) bool {
		box := c.Parameter["edgeId"]
		switch {
		case !poll.Began.Before(c.Ended):
			return false
		case poll.Operation == "get-manifest" && poll.Parameter["edgeId"] == box:
			return poll.unknown() || poll.Status == http.StatusOK && ledger.Text(poll.answered(), "version") == ledger.Text(c.fields(), "version")
		case poll.Operation == "get-ddi-base" && poll.controller() == box:
			return poll.unknown() || strings.Contains(string(poll.Answer), "deploymentBase")
		}
		return false
	}
	if slices.ContainsFunc(calls, offers) {
		return
	}
	var about []string
	for _, other := range calls {
		if box := c.Parameter["edgeId"]; (other.Parameter["edgeId"] == box || other.controller() == box) && other.Began.Before(c.Ended) {
			about = append(about, fmt.Sprintf("%s %s: %d %s", other, other.Body, other.Status, other.Answer))
		}
	}
	x.Add("%s was accepted, but no poll offered that version to the box, whose calls were\n%s", c, strings.Join(about, "\n"))
}
