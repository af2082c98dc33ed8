package e2e

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestPublication_BoxesThatAreNotTold_AreNamedByTheLastCount: pinned ones, those of closed plants, and those on a way.
func TestPublication_BoxesThatAreNotTold_AreNamedByTheLastCount(t *testing.T) {
	t.Parallel()
	w, owner := published(t)
	warning := func(body string) string {
		return owner.Put(t, channel, body).Is(t, http.StatusNoContent).Header.Get("Wavegate-Warning")
	}
	next := described("1.1.0", digest("b"))
	expect.Equal(t, warning(next), "Not counted: how many boxes of the channel are not told 1.1.0 at their next poll. Read the channel's progress to count them.", "before a count")

	owner.Put(t, plantPath, updating(farAway())).Is(t, http.StatusCreated)
	for id, more := range map[string]string{
		"a": ``, "b": `,"factoryId":"munich-1"`, "c": `,"factoryId":"munich-1"`,
		"d": `,"factoryId":"munich-1","pin":{"version":"1.0.0","reason":"measured"}`, "e": `,"pin":{"version":"1.0.0","reason":"measured"}`,
	} {
		owner.Put(t, "/api/edges/"+id, strings.Replace(box, "}", more+"}", 1)).Is(t, http.StatusCreated)
	}
	w.Box(t, "a").Get(t, manifestPath("a")+"?installed=0.9.0").Is(t, http.StatusOK)
	progress := owner.Get(t, channel+"/progress?fresh=true").Is(t, http.StatusOK).Object(t)
	expect.Equal(t, progress["atClosedPlants"], any(2.0), "boxes at closed plants")

	counted := "By the count of " + progress["asOf"].(string) + ", up to "
	const groups = ". Not counted: boxes of groups that wait for their turn."
	expect.Equal(t, warning(next), counted+"4 of 5 boxes are not told 1.1.0 at their next poll: 2 pinned, 2 at plants that take no updates"+groups, "after a count")
	with := func(fields string) string { return strings.Replace(next, "}", ","+fields+"}", 1) }
	expect.Equal(t, warning(with(`"urgent":true,"reason":"a hole"`)), counted+"2 of 5 boxes are not told 1.1.0 at their next poll: 2 pinned"+groups, "urgently")
	beyond := strings.ReplaceAll(with(`"requires":"1.1.0"`), `"1.1.0","artifact`, `"1.2.0","artifact`)
	beyond = strings.Replace(beyond, digest("b"), digest("c"), 1)
	expect.Equal(t, warning(beyond), counted+"5 of 5 boxes are not told 1.2.0 at their next poll: 2 pinned, 2 at plants that take no updates, "+
		"5 that are told 1.1.0 first if they run an older release"+groups, "over a stone, with those that never said what they run")
}
