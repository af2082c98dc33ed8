package release

import (
	"slices"
	"strings"
)

// A Kept is a version that boxes of organizations keep, which were left out of a rollout that was adopted, until a
// publication or another rollout reaches them: the version that the channel had before, or one that they run by an
// earlier rollout. It is stored as one text, since an earlier release of the service erases fields of nested values that
// it does not know.
type Kept struct {
	Organizations []string
	RolloutTarget
}

// text is the stored form. None of its parts has a space.
func (k Kept) text() string {
	return strings.Join([]string{strings.Join(k.Organizations, ","), k.Version, k.SHA256, k.ArtifactURL}, " ")
}

// mostKept limits what is kept. It is far more than the organizations that one rollout leaves out.
const mostKept = 3 * MostEarlier

// KeptFor is what a box of an organization keeps, which was left out of the rollout that gave the channel its version:
// what it runs, or else the version that the channel had before.
func (r ChannelRow) KeptFor(organizationID, runs string) (kept RolloutTarget, is bool) {
	for _, k := range r.leftOut() {
		if slices.Contains(k.Organizations, organizationID) && (!is || k.Version == runs) {
			kept, is = k.RolloutTarget, true
		}
	}
	return kept, is
}

// leftOut parses Kept. Texts of another form are skipped.
func (r ChannelRow) leftOut() (list []Kept) {
	for _, text := range r.Kept {
		if p := strings.Split(text, " "); len(p) == 4 {
			list = append(list, Kept{strings.Split(p[0], ","), RolloutTarget{Version: p[1], SHA256: p[2], ArtifactURL: p[3]}})
		}
	}
	return list
}

// keeping lists what boxes of organizations keep that the adopted rollout left out: first what each organization is told,
// and then what boxes may run, the newest first.
func (r ChannelRow) keeping(c Carried) (list []string) {
	if r.TellingID != c.ID {
		return nil
	}
	keep := func(ids []string, t RolloutTarget) {
		if text := (Kept{ids, t}).text(); len(ids) > 0 && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	had := RolloutTarget{Version: r.CurrentVersion, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256}
	for _, id := range r.Without {
		if kept, was := r.KeptFor(id, ""); was { // an earlier rollout left it out, too
			keep([]string{id}, kept)
		} else {
			keep([]string{id}, had)
		}
	}
	for _, t := range append([]RolloutTarget{had}, r.Remembered()...) {
		if t.Version != c.TargetVersion {
			keep(r.Without, t)
		}
	}
	for _, k := range r.leftOut() {
		keep(slices.DeleteFunc(k.Organizations, func(id string) bool { return !slices.Contains(r.Without, id) }), k.RolloutTarget)
	}
	return list[:min(len(list), mostKept)]
}
