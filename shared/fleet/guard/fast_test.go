package guard_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/input"
)

func TestFor_TheSoakOfStage10_IsAWeekUnlessTheReleaseIsForSecurityOrItIsGiven(t *testing.T) {
	for name, c := range map[string]struct {
		policy   string
		security bool
		want     guard.Duration
		fast     bool
	}{
		"nothing given":                 {`{}`, false, "P7D", false},
		"other soaks given":             {`{"promote":{"soak":{"1":"P2D"}}}`, false, "P7D", false},
		"security":                      {`{}`, true, "P1D", true},
		"given":                         {`{"promote":{"soak":{"10":"P1D"}}}`, false, "P1D", true},
		"given, for security":           {`{"promote":{"soak":{"10":"P7D"}}}`, true, "P7D", false},
		"a week at stage 1":             {`{"promote":{"soak":{"1":"P7D","10":"P1D"}}}`, false, "P1D", false},
		"longer, by another time limit": {`{"guard":{"decideWithin":"P7D"},"promote":{"soak":{"10":"PT0S"}}}`, false, "PT0S", false},
	} {
		t.Run(name, func(t *testing.T) {
			read, faults := input.Parse([]byte(c.policy), func(o *input.Object) guard.Policy { return guard.Read(o, time.Minute) })
			p := read.For(c.security)
			if len(faults) > 0 || p.Promote.Soak.At10 != c.want {
				t.Errorf("soaks for %s, want %s; faults %v", p.Promote.Soak.At10, c.want, faults)
			}
			if fast := p.Fast(); (fast != "") != c.fast || c.fast && !strings.Contains(fast, "P1D instead of a week") {
				t.Errorf("fast: %q", fast)
			}
			if again := p.For(!c.security); again.Promote.Soak != p.Promote.Soak {
				t.Errorf("a settled policy changes to %v", again.Promote.Soak)
			}
		})
	}
}
