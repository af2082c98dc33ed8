package ratelimit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAttempt_LimitRaisedBeforeItsRoll_IsAdmitted: a clock is 75 s behind and finds the only place of an override taken
// far ahead of it. It moves that request to its own time. If the limit is higher by then, the move must not end in a
// rejection.
func TestAttempt_LimitRaisedBeforeItsRoll_IsAdmitted(t *testing.T) {
	const limit = 4 // without the override
	ends := epoch.Add(100 * time.Millisecond)
	clocks := map[string]time.Time{
		"fast": epoch, "fast later": ends, "slow": epoch.Add(-75 * time.Second), "slow, too": epoch.Add(-75 * time.Second),
	}
	for name, c := range map[string]struct {
		// steps are the requests whose next write is sent, or support's removal of the override.
		steps string
		want  string
	}{
		"the override stays": {
			"fast; slow; slow",
			"fast admitted, 1 of 1; slow rejected, 1 of 1",
		},
		"support removes the override": {
			"fast; slow; support; slow; slow",
			"fast admitted, 1 of 1; slow admitted, 2 of 4",
		},
		// The other two requests leave the base and the total as the slow one has read them.
		"a fast clock ends the override": {
			"fast; slow; slow, too; slow, too; fast later; fast later; slow; slow",
			"fast admitted, 1 of 1; slow, too rejected, 1 of 1; fast later admitted, 1 of 4; slow admitted, 2 of 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(slotLog)
			m.override(subjectKey, epoch, &counterOverride{Limit: 1, Ends: ends})
			open := map[string]*attempt{}
			var got []string
			for _, by := range strings.Split(c.steps, "; ") {
				if by == "support" {
					m.override(subjectKey, epoch, nil)
					continue
				}
				if open[by] == nil {
					open[by] = slotLog.begin(clocks[by], limit)
				}
				it, applied, _ := m.apply(t.Context(), subjectKey, open[by].next)
				if v, done := open[by].answered(it, applied); done {
					got = append(got, by+" "+outcome(v))
				}
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func outcome(v verdict) string {
	if v.admitted {
		return fmt.Sprintf("admitted, %d of %d", v.used, v.limit)
	}
	return fmt.Sprintf("rejected, %d of %d", v.used, v.limit)
}
