package release

import (
	"slices"

	"wavegate/shared/platform/dynamo"
)

// A Kept is a version that boxes of organizations keep, which were left out of a rollout that was adopted, until a
// publication or another rollout reaches them: the version that the channel had before, or one that they run by an
// earlier rollout.
type Kept struct {
	Organizations []string `json:"organizations"`
	RolloutTarget
}

const (
	// MostWithout limits the organizations that a rollout leaves out, and so the size of a poll's read.
	MostWithout = 16
	// mostKept limits what is kept: what each organization is told, and what boxes may run.
	mostKept = MostWithout + MostEarlier + 2
)

// KeptFor is what a box of an organization keeps, which was left out of the rollout that gave the channel its version:
// what it runs, or else the version that the channel had before.
func (r ChannelRow) KeptFor(organizationID, runs string) (kept RolloutTarget, is bool) {
	for _, k := range r.Kept {
		if slices.Contains(k.Organizations, organizationID) && (!is || k.Version == runs) {
			kept, is = k.RolloutTarget, true
		}
	}
	return kept, is
}

// keeping lists what boxes of organizations keep that the row's rollout left out, once its target is adopted: first what
// each organization is told, and then what boxes may run, the newest first.
func (r ChannelRow) keeping(target string) (list []Kept) {
	keep := func(ids []string, t RolloutTarget) {
		next := Kept{ids, t}
		if len(ids) > 0 && !slices.ContainsFunc(list, func(k Kept) bool { return dynamo.Same(k, next) }) {
			list = append(list, next)
		}
	}
	without := r.Rollout.Without
	had := RolloutTarget{Version: r.CurrentVersion, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256}
	for _, id := range without {
		if kept, was := r.KeptFor(id, ""); was { // an earlier rollout left it out, too
			keep([]string{id}, kept)
		} else {
			keep([]string{id}, had)
		}
	}
	for _, t := range append([]RolloutTarget{had}, r.Remembered()...) {
		if t.Version != target {
			keep(without, t)
		}
	}
	for _, k := range r.Kept {
		keep(slices.DeleteFunc(slices.Clone(k.Organizations), func(id string) bool { return !slices.Contains(without, id) }), k.RolloutTarget)
	}
	return list[:min(len(list), mostKept)]
}
