package ratelimit

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"wavegate/shared/testing/expect"
)

// TestAttempt_LimitChangedBeforeItsRoll_CountsWithTheNewOne plays requests whose roll is planned on a limit that no
// longer holds when the roll is sent. The slow clocks are 75 s behind. They find the only place of an override taken far
// ahead of them and move that request to their own time.
func TestAttempt_LimitChangedBeforeItsRoll_CountsWithTheNewOne(t *testing.T) {
	const limit = 4 // without an override
	ends := epoch.Add(100 * time.Millisecond)
	clocks := map[string]time.Time{
		"fast": epoch, "fast 2": ends, "slow": epoch.Add(-75 * time.Second), "slow 2": epoch.Add(-75 * time.Second), "late": epoch.Add(time.Hour),
	}
	support := map[string]*counterOverride{"remove": nil, "cut": {Limit: 0}}
	for name, c := range map[string]struct {
		// steps are the requests whose next write is sent, and what support does in between.
		steps string
		want  string
	}{
		"the override stays": {
			"fast; slow; slow",
			"fast admitted, 1 of 1; slow rejected, 1 of 1",
		},
		"support removes the override": {
			"fast; slow; remove; slow; slow",
			"fast admitted, 1 of 1; slow admitted, 2 of 4",
		},
		// The requests in between leave the base and the total as the slow one has read them.
		"a fast clock ends the override": {
			"fast; slow; slow 2; slow 2; fast 2; fast 2; slow; slow",
			"fast admitted, 1 of 1; slow 2 rejected, 1 of 1; fast 2 admitted, 1 of 4; slow admitted, 2 of 4",
		},
		"support cuts the limit": {
			"remove; fast; late; cut; late",
			"fast admitted, 1 of 4; late rejected, 0 of 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(slotLog)
			m.override(subjectKey, epoch, &counterOverride{Limit: 1, Ends: ends})
			open := map[string]*attempt{}
			var got []string
			for step := range strings.SplitSeq(c.steps, "; ") {
				if o, ok := support[step]; ok {
					m.override(subjectKey, epoch, o)
					continue
				}
				if open[step] == nil {
					open[step] = slotLog.begin(clocks[step], limit)
				}
				it, applied, _ := m.apply(t.Context(), subjectKey, open[step].next)
				if v, done := open[step].answered(it, applied); done {
					ruling := map[bool]string{true: "admitted", false: "rejected"}[v.admitted]
					got = append(got, fmt.Sprintf("%s %s, %d of %d", step, ruling, v.used, v.limit))
				}
			}
			expect.Equal(t, strings.Join(got, "; "), c.want, "got")
		})
	}
}
