package guard

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Cause is why a box has not lived on with the release for a soak.
type Cause string

// Causes. The first three concern the box and its factory.
const (
	Download     Cause = "download"     // it cannot fetch the release
	Space        Cause = "space"        // it has no room for it
	Power        Cause = "power"        // it lacks the power for it
	Bad          Cause = "bad"          // it failed to install the release, or fell back
	Deferred     Cause = "deferred"     // a person put it off
	NotInstalled Cause = "notInstalled" // it was told, still calls, and has not installed it within DecideWithin
	Unheard      Cause = "unheard"      // it was told, has not installed it, and has gone silent
	NotPolled    Cause = "notPolled"    // it was not told, since it has not polled since the rollout began
	Gone         Cause = "gone"         // it called after the rollout began, and went silent before it was told
	NotTold      Cause = "notTold"      // it calls and was not told, since the rollout tells nobody, or somebody has pinned it
	Waiting      Cause = "waiting"      // it was not told, since its plant takes no updates now
	Unrest       Cause = "restless"     // nobody can tell what it says
	Vanished     Cause = "vanished"     // it installed the release and was not seen a soak later
	Mislabelled  Cause = "mislabelled"  // it runs the release, and says so in other words
)

// Taken is how a stage's boxes, or a random sample of them, took the release.
type Taken struct {
	// Boxes is the size of the sample. All reports whether the sample holds all boxes of the stage.
	Boxes int  `json:"boxes"`
	All   bool `json:"all"`
	// Good boxes were seen running the release at least a soak after they installed it. Young ones can still become good
	// in time.
	Good  int `json:"good"`
	Young int `json:"young"`
	// Needed is how many boxes must be good.
	Needed int `json:"needed"`
	// Paused boxes were not told because their plants pause, and are not in Boxes, if at least half of the boxes remain.
	Paused int `json:"paused,omitempty"`
	// Dormant boxes were last seen long before the stage began, and were not told since. They are not in Boxes either, unless
	// they are most boxes of the stage.
	Dormant int `json:"dormant,omitempty"`
	// Causes counts the other boxes by cause.
	Causes map[Cause]int `json:"causes,omitempty"`
}

// causes words each cause.
var causes = map[Cause]string{
	Download:     "could not download it (download)",
	Space:        "have no space for it (space)",
	Power:        "lack the power for it (power)",
	Bad:          "failed with it or fell back",
	Deferred:     "were put off by a person (deferred)",
	NotInstalled: "were told it, still call and have not installed it",
	Unheard:      "were told it and have gone silent",
	NotPolled:    "have not polled since the rollout began, so were not told",
	Gone:         "went silent after the rollout began, before they were told",
	NotTold:      "call and were not told",
	Waiting:      "wait until their plants take updates",
	Unrest:       "poll far too often or name two versions in turns (restless)",
	Vanished:     "installed it and were not seen a soak later",
	Mislabelled:  "run it and say so in other words (mislabelled)",
}

// sentence says how many boxes have run the release for a soak.
func (t Taken) sentence() string {
	of := boxes(t.Boxes)
	if !t.All {
		of += " in a sample"
	}
	text := fmt.Sprintf("%d of %s have run the release for a soak", t.Good, of)
	if t.Dormant > 0 {
		text += fmt.Sprintf(" (without %d that were off long before)", t.Dormant)
	}
	return text
}

// innocent are the causes that cannot be the release.
var innocent = []Cause{Download, Space, Power, Deferred, NotPolled, NotTold, Waiting, Mislabelled}

// suspects counts the boxes whose cause may be the release.
func (t Taken) suspects() (n int) {
	for cause, boxes := range t.Causes {
		if !slices.Contains(innocent, cause) {
			n += boxes
		}
	}
	return n
}

// tooFew names the causes of the other boxes, the most frequent one first. It offers to go on without such boxes only if the
// release cannot be the cause for any of them.
func (t Taken) tooFew() string {
	order := slices.SortedFunc(maps.Keys(t.Causes), func(a, b Cause) int { return cmp.Or(t.Causes[b]-t.Causes[a], cmp.Compare(a, b)) })
	parts := make([]string, len(order))
	for i, cause := range order {
		parts[i] = fmt.Sprintf("%d %s", t.Causes[cause], causes[cause])
	}
	text := fmt.Sprintf("%s, and %d are needed: of the others, %s", t.sentence(), t.Needed, strings.Join(parts, ", "))
	switch n := t.suspects(); {
	case n > 0:
		return fmt.Sprintf("%s; the release may be the cause for %d of them, so look at these before you go on", text, n)
	case t.Causes[Mislabelled] > 0:
		return text + "; " + setForm
	}
	if t.Good == 0 { // nothing is known of the release
		return text
	}
	return text + "; to go on without such boxes, lower the policy's taken"
}

// setForm is what a person does about boxes that are mislabelled.
const setForm = "look at what these boxes say; if that is the release, set versionForm of their edge type"

// Needed is how many of a sample must be good: the share that the policy asks for, or all boxes of the stage but one.
// At least one box must be good, so that a release does not go on after the only box of a stage dies.
func (b Bounds) Needed(t Taken) int {
	const rounding = 1e-9
	needed := int(math.Ceil(b.Taken*float64(t.Boxes) - rounding))
	if t.All {
		needed = min(needed, max(t.Boxes-1, 1))
	}
	return needed
}
